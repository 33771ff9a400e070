/* changed_since.c - a walk along each name, part by part, links followed. */
#include "engine/changed_since.h"

#include "base/fs.h"
#include "base/map.h"

#include <string.h>
#include <sys/stat.h>

#define MOST_LINKS 16

/* What is known about a path: the walk asks for "/usr/include" a thousand times. */
static const char young[] = "young", old[] = "old";

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

/* A folder's own times change with its entries: mtime and ctime together. Renamed or replaced, it
 * has a ctime of its own. */
static bool
is_young(const struct stat *status, int64_t since_ns)
{
	int64_t mtime_ns = nanoseconds(status->st_mtim);
	int64_t ctime_ns = nanoseconds(status->st_ctim);
	return ctime_ns >= since_ns && !(S_ISDIR(status->st_mode) && mtime_ns == ctime_ns);
}

static bool way_is_young(struct walk *w, const char *path, unsigned links);

static bool
look(struct walk *w, const char *path, unsigned links)
{
	struct stat status;
	char target[4096] = "";
	const char *folder = ws_path_dir(w->a, path);
	if (way_is_young(w, folder, links) || lstat(path, &status) < 0) {
		return way_is_young(w, folder, links);
	}
	if (is_young(&status, w->since->run_ns)) {
		return true;
	}
	return S_ISLNK(status.st_mode) && readlink(path, target, sizeof(target) - 1) > 0
		&& way_is_young(w, ws_path_join(w->a, folder, target, NULL), links + 1);
}

/* True when @a path, or anything that leads there, changed since the run began. */
static bool
way_is_young(struct walk *w, const char *path, unsigned links)
{
	if (strcmp(path, "/") == 0 || strcmp(path, ".") == 0 || links > MOST_LINKS) {
		return links > MOST_LINKS;
	}
	const char *known = ws_map_get(&w->known, path);
	if (!known) {
		known = look(w, path, links) ? young : old;
		ws_map_put(&w->known, path, known, w->a);
	}
	return known == young;
}

/* An entry came or went in the folder where @a path is not, while the command ran. */
static bool
absence_is_young(struct walk *w, const char *path)
{
	struct stat status;
	do {
		path = ws_path_dir(w->a, path);
	} while (stat(path, &status) < 0 && path[1]);
	return nanoseconds(status.st_mtim) >= w->since->command_ns || way_is_young(w, path, 0);
}

static const char *
find(struct walk *w, const struct ws_action *action, const ws_name_list *names, bool absent)
{
	for (size_t i = 0; i < names->len; i++) {
		if (ws_names_is_outside(action, names->at[i])) {
			const char *path = ws_names_path(action, names->at[i], w->a);
			if (absent ? absence_is_young(w, path) : way_is_young(w, path, 0)) {
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
		found = find(&w, action, there[i], false);
	}
	if (since->command_ns && !found) {
		found = find(&w, action, &reads->absent, true);
	}
	return ws_arena_strdup(a, found);
}
