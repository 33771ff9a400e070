/* headers.c - for each header name that a read file asks for, the search is walked in the order the
 * compiler walks it: folders before the one where the file was found must stay without it. */
#include "compile/headers.h"

#include "base/buf.h"
#include "base/fs.h"
#include "base/map.h"
#include "base/str.h"
#include "compile/depfile.h"
#include "compile/scan.h"

#include <string.h>
#include <sys/stat.h>

/* The walk for one action. Names are canonical throughout. */
struct walk {
	const struct ws_action *action;
	const char *work;
	struct ws_arena *a;
	struct ws_trace *trace;
	struct ws_map read;   /* what was read */
	struct ws_map tails;  /* "sys/types.h", "types.h": ends of what was read outside the search */
	struct ws_map looked; /* candidate -> "y" when it exists, "n" when not */
	struct ws_map noted;  /* absent or present names noted already */
	const char *folder;   /* of the file being scanned */
};

/* An absolute path below a mount's folder is that mount's: compilers follow links now and then. */
static const char *
canonical(const struct ws_action *action, const char *name, struct ws_arena *a)
{
	const char *normal = ws_path_normal(a, name);
	for (size_t i = 0; normal[0] == '/' && i < action->mount_count; i++) {
		const struct ws_mount *mount = &action->mounts[i];
		size_t len = strlen(mount->path);
		if (strncmp(normal, mount->path, len) == 0 && normal[len] == '/') {
			return ws_path_join(a, mount->name, normal + len + 1, NULL);
		}
	}
	return normal;
}

static bool
is_input(const struct ws_action *action, const char *name)
{
	for (size_t i = 0; i < action->input_count; i++) {
		if (strcmp(action->inputs[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}

static bool
exists(struct walk *w, const char *name)
{
	const char *known = ws_map_get(&w->looked, name);
	if (!known) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		struct stat status;
		bool found =
			stat(ws_path_join(a, w->work, name, NULL), &status) == 0 && S_ISREG(status.st_mode);
		known = found ? "y" : "n";
		ws_map_put(&w->looked, name, (void *)(uintptr_t)known, w->a);
	}
	return known[0] == 'y';
}

static void
note(struct walk *w, ws_name_list *list, const char *name)
{
	if (ws_map_add(&w->noted, name, w->a)) {
		*ws_vec_push(list, w->a) = name;
	}
}

/* Candidate number @a i for a header name; NULL after the last. */
static const char *
candidate(struct walk *w, struct ws_ask ask, size_t i)
{
	bool quote = ask.kind == WS_ASK_QUOTE || ask.kind == WS_ASK_QUOTE_EXISTS;
	const char *name = ws_str_copy(ask.name, w->a);
	if (name[0] == '/') {
		return i == 0 ? ws_path_normal(w->a, name) : NULL;
	}
	const char *folder = w->folder;
	if (!quote || i > 0) {
		size_t at = i - quote;
		folder = at < w->action->search_count ? w->action->search[at] : NULL;
	}
	return folder ? ws_path_normal(w->a, ws_path_join(w->a, folder, name, NULL)) : NULL;
}

static void
take_ask(void *self, struct ws_ask ask)
{
	struct walk *w = self;
	bool question = ask.kind == WS_ASK_QUOTE_EXISTS || ask.kind == WS_ASK_ANGLE_EXISTS;
	size_t found = 0;
	const char *name;
	for (; (name = candidate(w, ask, found)); found++) {
		if (question ? exists(w, name) : ws_map_get(&w->read, name) != NULL) {
			break;
		}
	}
	if (!name && !question && !ws_map_get(&w->tails, ws_str_copy(ask.name, w->a))) {
		return; /* a directive that was not taken, or names what nobody has */
	}
	if (question && name) {
		note(w, &w->trace->present, name);
	}
	for (size_t i = 0; i < found; i++) {
		const char *earlier = candidate(w, ask, i);
		if (!exists(w, earlier)) {
			note(w, &w->trace->absent, earlier);
		}
	}
}

/* `#include MACRO` names nothing in the text: for every file that was read, its name relative to
 * each search folder that holds it must stay absent from the folders before. */
static void
note_computed(struct walk *w, const char *file)
{
	for (size_t i = 0; i < w->action->search_count; i++) {
		const char *folder = w->action->search[i];
		size_t len = strlen(folder);
		if (strncmp(file, folder, len) != 0 || file[len] != '/') {
			continue;
		}
		for (size_t j = 0; j < i; j++) {
			const char *earlier = ws_path_normal(
				w->a, ws_path_join(w->a, w->action->search[j], file + len + 1, NULL));
			if (!exists(w, earlier)) {
				note(w, &w->trace->absent, earlier);
			}
		}
	}
}

static bool
scan_file(struct walk *w, const char *file, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	if (!ws_fs_read(ws_path_join(scratch, w->work, file, NULL), &text, err)) {
		return false;
	}
	w->folder = ws_path_dir(w->a, file);
	if (!ws_scan(ws_buf_str(&text), take_ask, w)) {
		w->trace->opaque = file;
	}
	return true;
}

/* A file below no search folder was found in one that only the compiler knows, after all others. */
static void
note_tails(struct walk *w, const char *name)
{
	for (size_t i = 0; i < w->action->search_count; i++) {
		const char *folder = w->action->search[i];
		if (ws_starts_with(name, folder) && name[strlen(folder)] == '/') {
			return;
		}
	}
	for (const char *tail = name; (tail = strchr(tail, '/'));) {
		ws_map_add(&w->tails, ++tail, w->a);
	}
}

static bool
read_depfile(struct walk *w, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_name_list names = {0};
	const char *path = ws_path_join(w->a, w->work, WS_COMPILE_DEPFILE, NULL);
	if (!ws_fs_read(path, &text, err) || !ws_depfile_parse(ws_buf_text(&text), w->a, &names, err)) {
		return ws_err_wrap(err, "'%s'", w->action->subject);
	}
	for (size_t i = 0; i < names.len; i++) {
		const char *name = canonical(w->action, names.at[i], w->a);
		if (!is_input(w->action, name) && ws_map_add(&w->read, name, w->a)) {
			*ws_vec_push(&w->trace->files, w->a) = name;
			note_tails(w, name);
		}
	}
	return true;
}

/* gcc and clang warn where __DATE__, __TIME__ or __TIMESTAMP__ is really expanded. */
static void
look_for_dates(const char *log, struct ws_trace *trace)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (ws_fs_read(log, &text, NULL) && strstr(ws_buf_text(&text), "Wdate-time]")) {
		trace->uncacheable = "it compiles the time of the build in (__DATE__, __TIME__)";
	}
}

bool
ws_headers_trace(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_trace *trace, struct ws_err *err)
{
	struct walk w = {.action = action, .work = work, .a = a, .trace = trace};
	if (!read_depfile(&w, err)) {
		return false;
	}
	size_t count = trace->files.len;
	for (size_t i = 0; i < count; i++) {
		if (!scan_file(&w, trace->files.at[i], err)) {
			return false;
		}
		note_computed(&w, trace->files.at[i]);
	}
	look_for_dates(log, trace);
	return true;
}
