/* header_reads.c - searches each header name of the read files in the order of the compiler:
 * folders before the one with the file must not get such a file. A unit of torch has some 60,000
 * names, so names are built in a scratch arena and only those that become reads are kept.
 *
 * Dependencies that cannot be listed make the unit opaque if they are in trees, and uncacheable
 * if they may be outside. */
#include "compile/header_reads.h"

#include "base/fs.h"
#include "compile/asks.h"
#include "engine/names.h"

#include <limits.h>

/* The search for one action. All names are canonical, except those with "..". */
struct walk {
	struct ws_asks_taker taker;
	const struct ws_action *action;
	const char *work;
	struct ws_arena *a;
	struct ws_reads *reads;
	struct ws_search search;
	struct ws_asks asks;
	struct ws_map read; /* files that were read */
	struct ws_map
		tails; /* "sys/types.h", "types.h": endings of files that were read outside the search folders */
	struct ws_map asked;   /* "<vector": searched already, with the same result everywhere */
	struct ws_map looked;  /* name -> one of the states below */
	struct ws_map folders; /* folders followed by "..": name -> one of the states below */
	struct ws_map sizes;   /* of read files: "1234" -> struct read_file */
	struct ws_arena *scratch;
	bool assembled;     /* the assembler wrote a dependency file */
	bool silent;        /* reads of the assembler are not listed */
	const char *file;   /* the file with the directive */
	const char *folder; /* its folder */
};

/* Read files of one size. */
struct read_file {
	const char *name;
	struct read_file *next;
};

/* States of a name. */
static const char there[] = "there", absent[] = "absent", present[] = "present and noted";
/* States of a folder followed by "..". */
static const char folder[] = "folder", noted[] = "folder and noted", missing[] = "missing",
				  linked[] = "link";

/* ---- names ---- */

/* True for a name in the private folder and in no mount: no file can appear there. */
static bool
is_private(const struct walk *w, const char *name)
{
	size_t len = strcspn(name, "/");
	for (size_t i = 0; i < w->action->mount_count && name[0] != '/'; i++) {
		const char *mount = w->action->mounts[i].name;
		if (name[len] == '/' && strlen(mount) == len && memcmp(mount, name, len) == 0) {
			return false;
		}
	}
	return name[0] != '/' && w->action->mount_count > 0;
}

/* Notes an unlistable dependency on @a name or its neighbours. */
static void
note_unknown(struct walk *w, const char *name, const char *why)
{
	if (!ws_names_is_outside(w->action, name)) {
		w->reads->opaque = ws_arena_strdup(w->a, name);
	} else if (!w->reads->uncacheable) {
		w->reads->uncacheable = why;
	}
}

/* Maps an absolute path below a mount's folder to the mount: compilers sometimes resolve links. */
static const char *
below_mount(const struct walk *w, const char *name)
{
	for (size_t i = 0; name[0] == '/' && i < w->action->mount_count; i++) {
		const struct ws_mount *mount = &w->action->mounts[i];
		size_t len = strlen(mount->path);
		if (strncmp(name, mount->path, len) == 0 && name[len] == '/') {
			return ws_path_join(w->a, mount->name, name + len + 1, NULL);
		}
	}
	return name;
}

/* The state of a folder that is followed by "..". */
static const char *
look_at_folder(struct walk *w, const char *name)
{
	const char *known = ws_map_get(&w->folders, name);
	if (known) {
		return known;
	}
	struct stat status;
	if (lstat(ws_path_join(w->scratch, w->work, name, NULL), &status) < 0) {
		known = missing;
	} else {
		known = S_ISDIR(status.st_mode) ? folder : linked;
	}
	ws_map_put(&w->folders, ws_arena_strdup(w->a, name), known, w->a);
	return known;
}

/* The worst state of folders followed by ".." in @a raw; @a at gets its name. `folder`: the text
 * alone determines the file. With @a note these folders are noted. */
static const char *
look_at_parents(struct walk *w, const char *raw, bool note, const char **at)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	const char *worst = folder;
	ws_buf_puts(&name, raw[0] == '/' ? "/" : "");
	for (struct ws_str rest = ws_str_of(raw); rest.s;) {
		struct ws_str part = ws_str_cut(&rest, '/');
		if (part.n == 0 || ws_str_is(part, ".")) {
			continue;
		}
		if (!ws_str_is(part, "..")) {
			const char *slash = name.len > 0 && ws_buf_text(&name)[name.len - 1] != '/' ? "/" : "";
			ws_buf_printf(&name, "%s%.*s", slash, WS_STR_ARGS(part));
			continue;
		}
		const char *left = ws_path_normal(w->scratch, ws_buf_text(&name));
		if (strcmp(left, "/") == 0) {
			continue;
		}
		const char *kind = strcmp(left, ".") == 0 ? linked : look_at_folder(w, left);
		if (kind == folder || kind == noted) {
			/* If the folder became a link, the name would mean another file. */
			if (note && kind == folder && !is_private(w, left)) {
				left = ws_arena_strdup(w->a, left);
				ws_map_put(&w->folders, left, noted, w->a);
				*ws_vec_push(&w->reads->folders, w->a) = left;
			}
		} else if (worst != linked) {
			worst = kind;
			*at = left;
		}
		const char *up = ws_path_dir(w->scratch, left);
		ws_buf_clear(&name);
		ws_buf_puts(&name, strcmp(up, ".") == 0 ? "" : up);
	}
	return worst;
}

/* ---- files ---- */

/* Looks for a file, once for each name. A missing name is noted as absent. @a name may be
 * scratch. */
static const char *
find_file(struct walk *w, const char *name)
{
	const char *known = ws_map_get(&w->looked, name);
	if (known) {
		return known;
	}
	struct stat status;
	const char *place = ws_path_join(w->scratch, w->work, name, NULL);
	known = stat(place, &status) == 0 && S_ISREG(status.st_mode) ? there : absent;
	name = ws_arena_strdup(w->a, name);
	ws_map_put(&w->looked, name, known, w->a);
	if (!is_private(w, name)) {
		*ws_vec_push(known == absent ? &w->reads->absent : &w->reads->passed, w->a) = name;
	}
	return known;
}

static void
note_file(struct walk *w, const char *name)
{
	if (ws_map_add(&w->read, name, w->a)) {
		*ws_vec_push(&w->reads->files, w->a) = name;
	}
}

/* A path that the compiler tries for a header name. */
struct candidate {
	const char *raw;
	const char *name; /* canonical; NULL: no file is possible */
	const char *kind; /* worst state of a folder followed by ".." */
	const char *at;   /* name of this folder */
};

/* Path number @a i for a header name, scratch; false after the last. */
static bool
next_candidate(struct walk *w, struct ws_ask ask, size_t i, struct candidate *c)
{
	const char *name = ws_str_copy(ask.name, w->scratch);
	*c = (struct candidate){.raw = name, .kind = folder};
	if (name[0] != '/') {
		const char *in = w->folder;
		if (ask.angle || i > 0) {
			size_t at = ask.angle ? i + w->search.quote_count : i - 1;
			in = at < w->search.folders.len ? w->search.folders.at[at] : NULL;
		}
		if (!in) {
			return false;
		}
		c->raw = ws_path_join(w->scratch, in, name, NULL);
	} else if (i > 0) {
		return false;
	}
	if (strstr(c->raw, "..")) {
		c->kind = look_at_parents(w, c->raw, false, &c->at);
	}
	bool leaves = c->kind == linked && is_private(w, c->at);
	c->name = leaves || c->kind == missing ? NULL : ws_path_normal(w->scratch, c->raw);
	return true;
}

/* Notes the folders that determine a name with "..". */
static void
note_parents(struct walk *w, const struct candidate *c)
{
	static const char leaves[] = "it includes a file by a path that leaves its sources ('..')";
	static const char through[] = "it includes a file through '..' after a symbolic link";
	const char *at;
	if (c->kind == folder) {
		look_at_parents(w, c->raw, true, &at);
	} else if (c->kind == linked && !c->name) {
		if (ws_fs_exists(ws_path_join(w->scratch, w->work, c->raw, NULL))) {
			w->reads->uncacheable = leaves;
		}
	} else if (c->kind == linked || find_file(w, ws_path_normal(w->scratch, c->raw)) != absent) {
		note_unknown(w, c->at, through); /* a missing folder may appear */
	}
}

/* ---- directives ---- */

/* #pragma once silently skips a file with the same bytes as one that was read: it counts as
 * read. False: the file does not exist. */
static bool
note_same_bytes(struct walk *w, const char *name)
{
	struct stat status;
	WS_AUTO_BUF struct ws_buf mine = {0};
	const char *place = ws_path_join(w->scratch, w->work, name, NULL);
	if (stat(place, &status) < 0 || !S_ISREG(status.st_mode)) {
		return false;
	}
	const char *size = ws_arena_printf(w->scratch, "%lld", (long long)status.st_size);
	for (const struct read_file *r = ws_map_get(&w->sizes, size); r; r = r->next) {
		WS_AUTO_BUF struct ws_buf other = {0};
		if ((mine.len > 0 || ws_fs_read(place, &mine, NULL))
			&& ws_fs_read(ws_path_join(w->scratch, w->work, r->name, NULL), &other, NULL)
			&& ws_str_eq(ws_buf_str(&mine), ws_buf_str(&other))) {
			note_file(w, ws_arena_strdup(w->a, name));
			break;
		}
	}
	return true;
}

static void
walk_include(struct walk *w, struct ws_ask ask)
{
	size_t count = 0, found = 0;
	struct candidate c;
	for (; next_candidate(w, ask, count, &c); count++) {
		if (c.name && ws_map_get(&w->read, c.name)) {
			found = count + 1;
			if (ask.kind == WS_ASK_INCLUDE) {
				break;
			}
		}
	}
	for (size_t i = 0; found == 0 && next_candidate(w, ask, i, &c); i++) {
		if (c.name && note_same_bytes(w, c.name)) {
			found = ws_map_get(&w->read, c.name) ? i + 1 : 0;
			break;
		}
	}
	if (found == 0) {
		if (!ws_map_get(&w->tails, ws_str_copy(ask.name, w->scratch))) {
			return; /* an inactive directive, or a name that does not exist */
		}
		found = count;
	}
	bool own = !w->file;
	for (size_t i = 0; i < w->action->seed_count && !own; i++) {
		own = strcmp(w->action->seeds[i], w->file) == 0;
	}
	for (size_t i = 0; i < found && next_candidate(w, ask, i, &c); i++) {
		note_parents(w, &c);
		if (!c.name) {
			continue;
		}
		if (own) { /* a matching precompiled header is used for an include of the unit itself */
			find_file(w, ws_arena_printf(w->scratch, "%s.gch", c.name));
		}
		if (!ws_map_get(&w->read, c.name) && find_file(w, c.name) != absent) {
			note_same_bytes(w, c.name);
		}
	}
}

static void
walk_from(struct walk *w, const char *file, struct ws_ask ask)
{
	if (file && file != w->file) {
		w->file = file;
		w->folder = ws_path_dir(w->a, file);
	}
	struct ws_arena_mark mark = ws_arena_mark(w->scratch);
	if (ask.kind == WS_ASK_INCLUDE || ask.kind == WS_ASK_INCLUDE_NEXT) {
		walk_include(w, ask);
	} else {
		struct candidate c;
		bool ends = false;
		for (size_t i = 0; !ends && next_candidate(w, ask, i, &c); i++) {
			note_parents(w, &c);
			const char *state = c.name ? find_file(w, c.name) : absent;
			if (state == there) {
				const char *name = ws_arena_strdup(w->a, c.name);
				ws_map_put(&w->looked, name, present, w->a);
				*ws_vec_push(&w->reads->present, w->a) = name;
			}
			ends = state != absent && ask.kind == WS_ASK_EXISTS;
		}
	}
	ws_arena_rewind(w->scratch, mark);
}

static void
read_ask(struct ws_asks_taker *taker, struct ws_ask ask)
{
	struct walk *w = (struct walk *)taker;
	if (ask.angle) { /* most names are repeated: the second <vector> of a unit */
		struct ws_arena_mark mark = ws_arena_mark(w->scratch);
		const char *key =
			ws_arena_printf(w->scratch, "%d%.*s", (int)ask.kind, WS_STR_ARGS(ask.name));
		bool done =
			ws_map_get(&w->asked, key) || !ws_map_add(&w->asked, ws_arena_strdup(w->a, key), w->a);
		ws_arena_rewind(w->scratch, mark);
		if (done) {
			return;
		}
	}
	if (ask.file || ask.angle) {
		walk_from(w, ask.file, ask);
		return;
	}
	/* A macro with a quoted name: the folder is that of the file that uses it. */
	struct ws_map folders = {0};
	size_t count = w->reads->files.len;
	for (size_t i = 0; i < count; i++) {
		if (ws_map_add(&folders, ws_path_dir(w->a, w->reads->files.at[i]), w->a)) {
			walk_from(w, w->reads->files.at[i], ask);
		}
	}
}

static void
read_unknown(struct ws_asks_taker *taker, enum ws_unknown kind, const char *file, const char *what)
{
	struct walk *w = (struct walk *)taker;
	if (kind == WS_UNKNOWN_INCLUDE && file && !ws_names_is_outside(w->action, file)) {
		w->reads->opaque = file;
	} else if (!w->reads->uncacheable) {
		w->reads->uncacheable =
			ws_arena_printf(w->a, "'%s' holds %s", file ? file : "one of its headers", what);
	}
}

/* ---- reads ---- */

/* True if a text has ".incbin", or ".include" of the assembler. */
static bool
mentions_assembler(struct ws_str text)
{
	static const char include[] = ".include";
	if (text.n > 0 && memmem(text.s, text.n, "incbin", strlen("incbin"))) {
		return true;
	}
	const char *end = text.s + text.n;
	for (const char *p = text.s;
		 p && (p = memmem(p, (size_t)(end - p), include, strlen(include)));) {
		p += strlen(include);
		if (p < end && strchr(" \t\\\"", *p)) {
			return true;
		}
	}
	return false;
}

static bool
scan_file(struct walk *w, const char *file, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_arena_mark mark = ws_arena_mark(w->scratch);
	if (!ws_fs_read(ws_path_join(w->scratch, w->work, file, NULL), &text, err)) {
		return false;
	}
	ws_asks_scan(&w->asks, file, ws_buf_str(&text));
	if (w->silent && mentions_assembler(ws_buf_str(&text))) {
		w->reads->uncacheable = ws_arena_printf(
			w->a, "'%s' has the assembler read files (.incbin, .include), unseen", file);
	}
	/* `#include MACRO` has no name in the text. So for every read file, its name relative to each
	 * search folder must stay absent from earlier search folders. */
	for (size_t i = 0; i < w->search.folders.len; i++) {
		const char *in = ws_path_normal(w->scratch, w->search.folders.at[i]);
		size_t len = strlen(in);
		bool inside = strncmp(file, in, len) == 0 && file[len] == '/';
		for (size_t k = 0; k < i && inside; k++) {
			const char *earlier = w->search.folders.at[k];
			const char *name = ws_path_join(w->scratch, earlier, file + len + 1, NULL);
			find_file(w, ws_path_normal(w->scratch, name));
		}
	}
	ws_arena_rewind(w->scratch, mark);
	return true;
}

/* The canonical name of a read file. After a link, the text alone does not determine "..". */
static const char *
canonical_name(struct walk *w, const char *raw)
{
	static const char why[] = "it reads a file through '..' after a symbolic link";
	const char *at = NULL, *normal = below_mount(w, ws_path_normal(w->a, raw));
	if (!strstr(raw, "..") || look_at_parents(w, raw, true, &at) == folder) {
		return normal;
	}
	char real[PATH_MAX];
	if (ws_search_is_same(w->work, raw, normal, w->scratch)) {
		if (normal[0] == '/' || !ws_names_is_outside(w->action, normal)) {
			note_unknown(w, normal, why);
		}
	} else if (realpath(ws_path_join(w->scratch, w->work, raw, NULL), real)) {
		normal = below_mount(w, ws_arena_strdup(w->a, real));
		note_unknown(w, normal, why);
	}
	return normal;
}

/* Adds a read file. Files that are not regular are never opened: a read could block. */
static void
add_read(struct walk *w, const char *raw)
{
	const char *name = canonical_name(w, raw);
	struct stat status;
	if (ws_depfile_is_input(w->action, name) || ws_map_get(&w->read, name)) {
		return;
	}
	if (strcmp(name, "/dev/null") == 0) {
		return;
	}
	bool found = stat(ws_path_join(w->scratch, w->work, name, NULL), &status) == 0;
	bool own =
		ws_starts_with(name, "/dev/") || ws_starts_with(name, "/proc/") || is_private(w, name);
	if (own || (found && !S_ISREG(status.st_mode))) {
		w->reads->uncacheable = ws_arena_printf(
			w->a, "it reads '%s', which is not a regular file of its sources", name);
		return;
	}
	if (ws_ends_with(name, ".gch")) {
		w->reads->uncacheable = ws_arena_printf(w->a, "it reads the precompiled '%s'", name);
		return;
	}
	note_file(w, name);
	bool is_searched = false;
	for (size_t i = 0; i < w->search.folders.len && !is_searched; i++) {
		const char *in = ws_path_normal(w->scratch, w->search.folders.at[i]);
		is_searched = ws_starts_with(name, in) && name[strlen(in)] == '/';
	}
	/* A file outside of all search folders is in a built-in folder of the compiler, searched
	 * last. */
	for (const char *tail = name; !is_searched && (tail = strchr(tail, '/'));) {
		ws_map_add(&w->tails, ++tail, w->a);
	}
	if (found) {
		const char *key = ws_arena_printf(w->a, "%lld", (long long)status.st_size);
		struct read_file *file = WS_NEW(w->a, struct read_file);
		*file = (struct read_file){name, ws_map_get(&w->sizes, key)};
		ws_map_put(&w->sizes, key, file, w->a);
	}
}

/* The prerequisites in a dependency file of the work folder. */
static bool
read_names(struct walk *w, const char *file, ws_name_list *names, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	return (ws_fs_read(ws_path_join(w->a, w->work, file, NULL), &text, err)
			   && ws_depfile_parse(ws_buf_text(&text), w->a, names, err))
		|| ws_err_wrap(err, "'%s'", w->action->subject);
}

/* Adds files read by .incbin and .include of the assembler. Their search folders are not
 * followed. */
static bool
read_assembled(struct walk *w, struct ws_err *err)
{
	ws_name_list names = {0};
	if (!w->assembled) {
		return true; /* clang has an internal assembler */
	}
	if (!read_names(w, WS_COMPILE_ASSEMBLED, &names, err)) {
		return false;
	}
	const char *temporary = ws_path_join(w->scratch, w->work, "tmp/", NULL);
	for (size_t i = 0; i < names.len; i++) {
		/* Skips the assembler's input, and the name that the compiler wrote into it. */
		if (ws_starts_with(names.at[i], temporary) || ws_starts_with(names.at[i], "tmp/")
			|| !ws_fs_exists(ws_path_join(w->scratch, w->work, names.at[i], NULL))) {
			continue;
		}
		const char *name = canonical_name(w, names.at[i]);
		add_read(w, names.at[i]);
		note_unknown(
			w, name, ws_arena_printf(w->a, "the assembler reads '%s' (.incbin, .include)", name));
	}
	return true;
}

bool
ws_headers_reads(const struct ws_action *action, const char *work, const char *log,
	struct ws_arena *a, struct ws_reads *reads, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	ws_arena_alloc(scratch, 1); /* so that rewinding keeps the first block */
	struct walk w = {.taker = {read_ask, read_unknown},
		.action = action,
		.work = work,
		.a = a,
		.scratch = scratch,
		.reads = reads,
		.search = ws_search_read(action, work, a)};
	w.asks = (struct ws_asks){.taker = &w.taker, .a = a};
	/* The assembler writes no dependency file with clang, or -flto. Another action assembles the
	 * output of a command that only preprocesses. */
	w.assembled = ws_fs_exists(ws_path_join(a, work, WS_COMPILE_ASSEMBLED, NULL));
	w.silent = !w.assembled;
	for (const char *const *word = action->argv; word && *word; word++) {
		if (ws_same(*word, "-E") || ws_starts_with(*word, "-flto")) {
			w.silent = !ws_same(*word, "-E");
			break;
		}
	}
	ws_name_list names = {0};
	if (!read_names(&w, WS_COMPILE_DEPFILE, &names, err)) {
		return false;
	}
	for (size_t i = 0; i < names.len; i++) {
		add_read(&w, names.at[i]);
	}
	for (size_t i = 0; i < w.search.defines.len; i++) {
		ws_asks_define(&w.asks, w.search.defines.at[i]);
	}
	size_t count = reads->files.len;
	for (size_t i = 0; i < count + action->input_count; i++) {
		const char *file = i < count ? reads->files.at[i] : action->inputs[i - count].name;
		if (!scan_file(&w, file, err)) {
			return false;
		}
	}
	ws_asks_finish(&w.asks);
	/* The search for a file of -include begins in the work folder. */
	w.file = NULL;
	w.folder = ".";
	for (size_t i = 0; i < w.search.forced.len; i++) {
		struct ws_str name = ws_str_of(w.search.forced.at[i]);
		walk_from(&w, NULL, (struct ws_ask){WS_ASK_INCLUDE, false, name, NULL});
	}
	/* gcc and clang warn where __DATE__, __TIME__ or __TIMESTAMP__ is expanded. */
	WS_AUTO_BUF struct ws_buf text = {0};
	if (ws_fs_read(log, &text, NULL) && strstr(ws_buf_text(&text), "Wdate-time]")) {
		reads->uncacheable = "it compiles the time of the build in (__DATE__, __TIME__)";
	}
	return read_assembled(&w, err);
}
