/* headers.c - for each header name that a read file asks for, the search is walked in the order the
 * compiler walks it: folders before the one where the file was found must stay without it. A unit of
 * torch asks some 60,000 times, so names are tried in a scratch arena and only those that end in the
 * trace are kept. */
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
	struct ws_map asked;  /* "<vector": walked already, and the same from wherever it is asked */
	struct ws_map looked; /* name -> one of those below */
	struct ws_arena *scratch;
	const char *folder; /* of the file being scanned */
};

/* What is known about a name that was tried. */
static const char there[] = "there", absent[] = "absent", present[] = "present and noted";

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

/* Asks the disk once for each name. One that does not exist is noted with that: whoever asks needs
 * it to stay so. @a name may be scratch. */
static const char *
look(struct walk *w, const char *name)
{
	const char *known = ws_map_get(&w->looked, name);
	if (known) {
		return known;
	}
	struct stat status;
	const char *place = ws_path_join(w->scratch, w->work, name, NULL);
	known = stat(place, &status) == 0 && S_ISREG(status.st_mode) ? there : absent;
	name = ws_arena_strdup(w->a, name);
	ws_map_put(&w->looked, name, (void *)(uintptr_t)known, w->a);
	if (known == absent) {
		*ws_vec_push(&w->trace->absent, w->a) = name;
	} else {
		*ws_vec_push(&w->trace->passed, w->a) = name;
	}
	return known;
}

static void
note_present(struct walk *w, const char *name)
{
	if (look(w, name) == there) {
		name = ws_arena_strdup(w->a, name);
		ws_map_put(&w->looked, name, (void *)(uintptr_t)present, w->a);
		*ws_vec_push(&w->trace->present, w->a) = name;
	}
}

/* Candidate number @a i for a header name, scratch; NULL after the last. */
static const char *
candidate(const struct walk *w, struct ws_ask ask, size_t i)
{
	bool quote = ask.kind == WS_ASK_QUOTE || ask.kind == WS_ASK_QUOTE_EXISTS;
	const char *name = ws_str_copy(ask.name, w->scratch);
	if (name[0] == '/') {
		return i == 0 ? ws_path_normal(w->scratch, name) : NULL;
	}
	const char *folder = w->folder;
	if (!quote || i > 0) {
		size_t at = i - quote;
		folder = at < w->action->search_count ? w->action->search[at] : NULL;
	}
	return folder ? ws_path_normal(w->scratch, ws_path_join(w->scratch, folder, name, NULL)) : NULL;
}

static void
walk_ask(struct walk *w, struct ws_ask ask)
{
	bool question = ask.kind == WS_ASK_QUOTE_EXISTS || ask.kind == WS_ASK_ANGLE_EXISTS;
	size_t found = 0;
	const char *name;
	for (; (name = candidate(w, ask, found)); found++) {
		if (question ? look(w, name) != absent : ws_map_get(&w->read, name) != NULL) {
			break;
		}
	}
	if (!name && !question && !ws_map_get(&w->tails, ws_str_copy(ask.name, w->scratch))) {
		return; /* a directive that was not taken, or names what nobody has */
	}
	if (question && name) {
		note_present(w, name);
	}
	for (size_t i = 0; i < found; i++) {
		look(w, candidate(w, ask, i));
	}
}

/* True for the second <vector> of a unit: most of what is asked. */
static bool
was_asked(struct walk *w, struct ws_ask ask)
{
	if (ask.kind != WS_ASK_ANGLE && ask.kind != WS_ASK_ANGLE_EXISTS) {
		return false;
	}
	const char *kind = ask.kind == WS_ASK_ANGLE ? "<" : "?";
	const char *key = ws_arena_printf(w->scratch, "%s%.*s", kind, WS_STR_ARGS(ask.name));
	return ws_map_get(&w->asked, key) || !ws_map_add(&w->asked, ws_arena_strdup(w->a, key), w->a);
}

static void
take_ask(void *self, struct ws_ask ask)
{
	struct walk *w = self;
	struct ws_arena_mark mark = ws_arena_mark(w->scratch);
	if (!was_asked(w, ask)) {
		walk_ask(w, ask);
	}
	ws_arena_rewind(w->scratch, mark);
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
			const char *earlier =
				ws_path_join(w->scratch, w->action->search[j], file + len + 1, NULL);
			look(w, ws_path_normal(w->scratch, earlier));
		}
	}
}

static bool
scan_file(struct walk *w, const char *file, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	w->scratch = scratch;
	w->folder = ws_path_dir(scratch, file);
	if (!ws_fs_read(ws_path_join(scratch, w->work, file, NULL), &text, err)) {
		return false;
	}
	if (!ws_scan(ws_buf_str(&text), take_ask, w)) {
		w->trace->opaque = file;
	}
	note_computed(w, file);
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
		if (!ws_depfile_is_input(w->action, name) && ws_map_add(&w->read, name, w->a)) {
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
	}
	look_for_dates(log, trace);
	return true;
}
