/* changed_since.c - checks each path part by part and follows links. */
#include "engine/changed_since.h"

#include "base/fs.h"

#define MOST_LINKS 16

/* Cached answers for paths: "/usr/include" is checked a thousand times. */
static const char changed[] = "changed", unchanged[] = "unchanged";

struct walk {
	const struct ws_since *since;
	struct ws_map known;
	struct ws_arena *a;
};

static int64_t
nanoseconds(struct timespec t)
{
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static bool way_has_changed(struct walk *w, const char *path, unsigned links);

static bool
check_path(struct walk *w, const char *path, unsigned links)
{
	struct stat status;
	char target[4096] = "";
	const char *folder = ws_path_dir(w->a, path);
	if (way_has_changed(w, folder, links) || lstat(path, &status) < 0) {
		return way_has_changed(w, folder, links);
	}
	/* New entries change mtime and ctime of a folder together; a renamed or replaced folder has a
	 * ctime alone. */
	int64_t ctime_ns = nanoseconds(status.st_ctim);
	bool gained = S_ISDIR(status.st_mode) && nanoseconds(status.st_mtim) == ctime_ns;
	if (ctime_ns >= w->since->run_ns && !gained) {
		return true;
	}
	return S_ISLNK(status.st_mode) && readlink(path, target, sizeof(target) - 1) > 0
		&& way_has_changed(w, ws_path_join(w->a, folder, target, NULL), links + 1);
}

/* True if @a path or something on the way to it changed since the run began. */
static bool
way_has_changed(struct walk *w, const char *path, unsigned links)
{
	if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0 || links > MOST_LINKS) {
		return links > MOST_LINKS;
	}
	const char *known = ws_map_get(&w->known, path);
	if (!known) {
		known = check_path(w, path, links) ? changed : unchanged;
		ws_map_put(&w->known, path, known, w->a);
	}
	return known == changed;
}

/* True if an entry of the folder that lacks @a path changed while the command ran. */
static bool
absence_has_changed(struct walk *w, const char *path)
{
	struct stat status;
	do {
		path = ws_path_dir(w->a, path);
	} while (stat(path, &status) < 0 && path[1]);
	return nanoseconds(status.st_mtim) >= w->since->command_ns || way_has_changed(w, path, 0);
}

static const char *
find_changed(struct walk *w, const struct ws_action *action, const ws_name_list *names, bool absent)
{
	for (size_t i = 0; i < names->len; i++) {
		if (ws_names_is_outside(action, names->at[i])) {
			const char *path = ws_names_path(action, names->at[i], w->a);
			if (absent ? absence_has_changed(w, path) : way_has_changed(w, path, 0)) {
				return names->at[i];
			}
		}
	}
	return NULL;
}

const char *
ws_changed_since(const struct ws_action *action, const struct ws_reads *reads,
	const struct ws_since *since, struct ws_arena *a)
{
	const ws_name_list *const there[] = {&reads->files, &reads->present, &reads->passed};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	struct walk w = {.since = since, .a = scratch};
	const char *found = NULL;
	for (size_t i = 0; since->run_ns && i < WS_LEN(there) && !found; i++) {
		found = find_changed(&w, action, there[i], false);
	}
	if (since->command_ns && !found) {
		found = find_changed(&w, action, &reads->absent, true);
	}
	return ws_arena_strdup(a, found);
}
