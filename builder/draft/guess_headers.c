/* guess_headers.c - follows #include lines as they stand. Those that no compiler would take are followed
 * as well, so a folder too many may be named; what a macro includes is not seen. */
#include "draft/guess_headers.h"

#include "base/fs.h"
#include "base/map.h"

#include <stdlib.h>
#include <string.h>

#define MOST_FILES 3000
#define MOST_MISSING 8
#define LONGEST_NAME 300

/* Headers of the tree by their last name; several may share one. */
struct twin {
	const char *path;
	const struct twin *next;
};

struct search {
	const struct ws_tree *tree;
	struct ws_arena *a;
	const ws_texts *given;
	struct ws_guess_headers *found;
	struct ws_map by_name; /* base name -> struct twin */
	struct ws_map seen;    /* files that were, or will be, read */
	ws_texts queue;
	const char *file; /* being read */
	bool python, torch, beyond_stable, library;
};

static bool
is_header(const char *path)
{
	static const char *const endings[] = {
		".h", ".hpp", ".cuh", ".hh", ".hxx", ".inl", ".inc", ".ipp"};
	for (size_t i = 0; i < WS_LEN(endings); i++) {
		if (ws_ends_with(path, endings[i])) {
			return true;
		}
	}
	return false;
}

static void
gather_headers(struct search *s)
{
	for (size_t i = 0; i < s->tree->count; i++) {
		const char *path = s->tree->entries[i].path;
		if (is_header(path) && !ws_guess_is_aside(path)) {
			struct twin *twin = WS_NEW(s->a, struct twin);
			*twin = (struct twin){path, ws_map_get(&s->by_name, ws_path_base(path))};
			ws_map_put(&s->by_name, ws_path_base(path), twin, s->a);
		}
	}
}

/* What a header that is not in the sources says about the module. */
static void
judge(struct search *s, const char *name)
{
	/* torch.h does with TORCH_API_INCLUDE_EXTENSION_H, which every extension is compiled with. */
	static const char *const python[] = {"torch/extension.h", "torch/torch.h", "torch/python.h",
		"Python.h", "pybind11/", "torch/csrc/utils/pybind.h"};
	static const char *const torch[] = {"torch/", "ATen/", "c10/"};
	static const char *const stable[] = {
		"torch/csrc/stable/", "torch/headeronly/", "torch/csrc/inductor/aoti_torch/c/"};
	bool of_stable = false;
	for (size_t i = 0; i < WS_LEN(python); i++) {
		s->python = s->python || ws_starts_with(name, python[i]);
	}
	for (size_t i = 0; i < WS_LEN(stable); i++) {
		of_stable = of_stable || ws_starts_with(name, stable[i]);
	}
	for (size_t i = 0; i < WS_LEN(torch); i++) {
		bool of_torch = ws_starts_with(name, torch[i]);
		s->torch = s->torch || of_torch;
		s->beyond_stable = s->beyond_stable || (of_torch && !of_stable);
	}
}

static void
enqueue(struct search *s, const char *path)
{
	if (s->queue.len < MOST_FILES && ws_map_add(&s->seen, path, s->a)) {
		*ws_vec_push(&s->queue, s->a) = path;
	}
}

/* The file that @a name means below @a folder; NULL when it is not there. */
static const char *
look_below(const struct search *s, const char *folder, const char *name)
{
	bool top = strcmp(folder, ".") == 0;
	const char *path = ws_path_normal(s->a, top ? name : ws_path_join(s->a, folder, name, NULL));
	return ws_tree_lookup(s->tree, path) ? path : NULL;
}

static const char *
look_in(const struct search *s, const ws_texts *folders, const char *name)
{
	for (size_t i = 0; i < folders->len; i++) {
		const char *path = look_below(s, folders->at[i], name);
		if (path) {
			return path;
		}
	}
	return NULL;
}

/* The header that ends in "/name" and lies least deep; its folder is needed then. */
static const char *
look_anywhere(const struct search *s, const char *name)
{
	const char *best = NULL;
	const struct twin *twin = ws_map_get(&s->by_name, ws_path_base(name));
	size_t len = strlen(name);
	for (size_t tried = 0; twin && tried < 100; twin = twin->next, tried++) {
		size_t full = strlen(twin->path);
		bool ends = full > len && twin->path[full - len - 1] == '/'
			&& strcmp(twin->path + full - len, name) == 0;
		bool better =
			!best || full < strlen(best) || (full == strlen(best) && strcmp(twin->path, best) < 0);
		if (ends && better) {
			best = twin->path;
		}
	}
	return best;
}

static void
take(struct search *s, const char *name, bool quoted)
{
	judge(s, name);
	const char *path = quoted ? look_below(s, ws_path_dir(s->a, s->file), name) : NULL;
	path = path ? path : look_in(s, s->given, name);
	path = path ? path : look_in(s, &s->found->include, name);
	/* <vector> and <cuda_runtime.h> are the system's, whatever lies around. */
	if (!path && (quoted || strchr(name, '/'))) {
		path = look_anywhere(s, name);
		if (path) {
			size_t len = strlen(path) - strlen(name) - 1;
			ws_texts_add(&s->found->include, ws_arena_copy(s->a, path, len), s->a);
		} else if (quoted && !strchr(name, '/') && ws_guess_is_own(s->file)
			&& s->found->missing.len < MOST_MISSING) {
			ws_texts_add(&s->found->missing, name, s->a);
		}
	}
	if (path) {
		enqueue(s, path);
	}
}

/* Takes each `#include "x"` and `#include <x>` at the start of a line. */
static void
take_includes(struct search *s, const char *text)
{
	static const char word[] = "include";
	for (const char *line = text; *line; line += strcspn(line, "\n"), line += *line == '\n') {
		const char *at = line + strspn(line, " \t");
		at += *at == '#' ? 1 + strspn(at + 1, " \t") : 0;
		if (at == line || !ws_starts_with(at, word)) {
			continue;
		}
		at += strlen(word) + strspn(at + strlen(word), " \t");
		bool quoted = *at == '"';
		size_t len = quoted || *at == '<' ? strcspn(at + 1, quoted ? "\"\n" : ">\n") : 0;
		if (len > 0 && len <= LONGEST_NAME && at[1 + len] == (quoted ? '"' : '>')) {
			take(s, ws_arena_copy(s->a, at + 1, len), quoted);
		}
	}
}

static void
bind(struct search *s)
{
	struct ws_guess_headers *found = s->found;
	if (s->python) {
		found->binding = WS_BINDING_PYBIND;
		found->why = "its sources include headers of Python or pybind11";
	} else if (s->torch && !s->beyond_stable) {
		found->binding = WS_BINDING_STABLE_ABI;
		found->why = "of torch its sources include the stable headers alone";
	} else if (s->torch) {
		found->binding = WS_BINDING_TORCH_LIBRARY;
		found->why = s->library ? "it has TORCH_LIBRARY and includes nothing of Python"
								: "it includes torch and nothing of Python";
	} else {
		found->binding = WS_BINDING_C_ABI;
		found->why = "its sources include nothing of torch or Python";
	}
}

void
ws_guess_headers(const struct ws_tree *tree, const ws_texts *sources, const ws_texts *given,
	struct ws_arena *a, struct ws_guess_headers *found)
{
	struct search s = {.tree = tree, .a = a, .given = given, .found = found};
	*found = (struct ws_guess_headers){0};
	gather_headers(&s);
	for (size_t i = 0; i < sources->len; i++) {
		enqueue(&s, sources->at[i]);
	}
	for (size_t i = 0; i < s.queue.len; i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		s.file = s.queue.at[i];
		if (ws_guess_read(tree, s.file, &text) && text.len > 0) {
			take_includes(&s, text.data);
			s.python = s.python || strstr(text.data, "PYBIND11_MODULE") != NULL;
			s.library = s.library || strstr(text.data, "TORCH_LIBRARY") != NULL;
		}
	}
	bind(&s);
}
