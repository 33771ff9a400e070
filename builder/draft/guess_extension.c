/* guess_extension.c - modules: from the calls in setup.py, else one module of everything that can be
 * compiled. */
#include "draft/guess_extension.h"

#include "base/fs.h"
#include "config/values.h"
#include "draft/guess_flags.h"
#include "draft/guess_headers.h"
#include "recipe/units.h"

#include <fnmatch.h>
#include <stdlib.h>
#include <string.h>

#define MANY 12   /* sources of one kind in one folder become a pattern */
#define MOST 1000 /* sources of a module */

struct guessing {
	const struct ws_tree *tree;
	struct ws_recipe_draft *draft;
	struct ws_arena *a;
	ws_texts archs;
};

/* One module in the making. */
struct module {
	size_t index;
	const char *name, *like; /* see struct ws_setup_extension */
	ws_texts sources, missing, include, lost_folders;
	ws_texts unsure; /* of sources: named under a condition */
};

static bool
is_compiled(const struct ws_tree_entry *entry)
{
	enum ws_unit_kind kind;
	return entry->kind != WS_TREE_LINK && ws_unit_kind_of(entry->path, &kind)
		&& !strstr(ws_path_base(entry->path), "_hip.");
}

static bool
in_tree(const struct ws_tree *tree, const char *path)
{
	return ws_tree_lookup(tree, path) != NULL;
}

/* The only file that ends in "/path": for names that setup.py joins to what it found out running. */
static const char *
only_ending(const struct ws_tree *tree, const char *path)
{
	const char *found = NULL;
	const char *tail = ws_path_base(path);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		if (is_compiled(entry) && ws_guess_is_own(entry->path)
			&& strcmp(ws_path_base(entry->path), tail) == 0) {
			if (found) {
				return NULL;
			}
			found = entry->path;
		}
	}
	return found;
}

static void
take_sources(const struct guessing *g, struct module *m, const ws_setup_words *words)
{
	for (size_t i = 0; i < words->len && m->sources.len < MOST; i++) {
		const char *path = ws_path_normal(g->a, words->at[i].text);
		enum ws_unit_kind kind;
		bool known =
			ws_unit_kind_of(path, &kind) && ws_path_is_inside(path) && !strpbrk(path, "*?");
		const char *there = !known || in_tree(g->tree, path) ? path : only_ending(g->tree, path);
		if (known && there) {
			ws_texts_add(&m->sources, there, g->a);
			if (words->at[i].conditional) {
				ws_texts_add(&m->unsure, there, g->a);
			}
		} else if (known && !words->at[i].conditional) {
			ws_texts_add(&m->missing, path, g->a);
		}
	}
}

static void
take_folders(const struct guessing *g, struct module *m, const ws_setup_words *words)
{
	for (size_t i = 0; i < words->len && i < MOST; i++) {
		const char *path = ws_path_normal(g->a, words->at[i].text);
		if (ws_guess_has_folder(g->tree, path)) {
			ws_texts_add(&m->include, path, g->a);
		} else if (ws_path_is_inside(path) && !words->at[i].conditional) {
			ws_texts_add(&m->lost_folders, path, g->a);
		}
	}
}

/* "csrc/kernels/x.cu" as "csrc/kernels/" and "*.cu". */
static const char *
pattern_of(const char *path, struct ws_arena *a)
{
	const char *base = ws_path_base(path);
	return ws_arena_printf(a, "%.*s*%s", (int)(base - path), path, strrchr(base, '.'));
}

/* How many of @a sources the pattern stands for; 0 when it matches a file that is none of them. */
static unsigned
pattern_count(const struct guessing *g, const ws_texts *sources, const char *glob)
{
	unsigned ours = 0, all = 0;
	for (size_t i = 0; i < sources->len; i++) {
		ours += fnmatch(glob, sources->at[i], FNM_PATHNAME) == 0;
	}
	for (size_t i = 0; i < g->tree->count; i++) {
		const struct ws_tree_entry *entry = &g->tree->entries[i];
		all += entry->kind != WS_TREE_LINK && fnmatch(glob, entry->path, FNM_PATHNAME) == 0;
	}
	return ours == all ? ours : 0;
}

/* A pattern that was counted. */
struct pattern {
	const char *glob;
	unsigned count; /* 0: it stands for something else */
	bool written;
};

typedef WS_VEC(struct pattern) pattern_list;

static struct pattern *
pattern_for(
	const struct guessing *g, const ws_texts *sources, const char *path, pattern_list *patterns)
{
	const char *glob = pattern_of(path, g->a);
	for (size_t i = 0; i < patterns->len; i++) {
		if (strcmp(patterns->at[i].glob, glob) == 0) {
			return &patterns->at[i];
		}
	}
	struct pattern *pattern = ws_vec_push(patterns, g->a);
	bool special = strpbrk(path, "*?[\\") != NULL;
	*pattern = (struct pattern){glob, special ? 0 : pattern_count(g, sources, glob), false};
	return pattern;
}

static void
fill_sources(const struct guessing *g, const struct module *m, struct ws_extension *extension)
{
	WS_VEC(struct ws_source_list) lists = {0};
	pattern_list patterns = {0};
	for (size_t i = 0; i < m->sources.len; i++) {
		struct pattern *pattern = pattern_for(g, &m->sources, m->sources.at[i], &patterns);
		if (pattern->count < MANY) {
			*ws_vec_push(&lists, g->a) =
				(struct ws_source_list){.paths = &m->sources.at[i], .path_count = 1};
		} else if (!pattern->written) {
			pattern->written = true;
			*ws_vec_push(&lists, g->a) =
				(struct ws_source_list){.glob = pattern->glob, .expected = pattern->count};
		}
	}
	for (size_t i = 0; i < m->missing.len; i++) {
		*ws_vec_push(&lists, g->a) =
			(struct ws_source_list){.paths = &m->missing.at[i], .path_count = 1};
	}
	extension->sources = lists.at;
	extension->source_list_count = lists.len;
}

static const char *
key_of(const struct guessing *g, const struct module *m, const char *name)
{
	return ws_arena_printf(g->a, "%zu.%s", m->index, name);
}

static void
note_list(const struct guessing *g, const struct module *m, const char *key, const char *what,
	const ws_texts *list)
{
	if (list->len > 0) {
		ws_draft_note(g->draft, key_of(g, m, key), "%s: %s", what, ws_texts_list(list, 6, g->a));
	}
}

static void
fill_headers(const struct guessing *g, struct module *m, struct ws_extension *extension)
{
	struct ws_guess_headers headers;
	ws_guess_headers(g->tree, &m->sources, &m->include, g->a, &headers);
	if (m->sources.len == 0) {
		headers.binding = WS_BINDING_PYBIND;
		headers.why = "the usual kind; none of its sources is there to be looked at";
	}
	extension->binding = headers.binding;
	ws_draft_note(g->draft, key_of(g, m, "binding"), "%s", headers.why);
	note_list(g, m, "include", "not said by setup.py, needed by #include lines", &headers.include);
	note_list(g, m, "include", "setup.py names folders that do not exist", &m->lost_folders);
	note_list(g, m, "sources", "headers in quotes that are not in the sources", &headers.missing);
	for (size_t i = 0; i < headers.include.len; i++) {
		ws_texts_add(&m->include, headers.include.at[i], g->a);
	}
	extension->include = m->include.at;
	extension->include_count = m->include.len;
}

static void
fill_flags(struct guessing *g, const struct module *m, const char *key, const ws_setup_words *words,
	const char *const **flags, size_t *count)
{
	struct ws_guess_flags sorted = {0};
	ws_guess_flags(words, g->a, &sorted);
	note_list(g, m, key, ws_arena_printf(g->a, "setup.py adds to %s under a condition", key),
		&sorted.conditional);
	note_list(g, m, key, "words of setup.py that are not flags, left out", &sorted.strays);
	*flags = sorted.flags.at;
	*count = sorted.flags.len;
	for (size_t i = 0; i < sorted.archs.len; i++) {
		ws_texts_add(&g->archs, sorted.archs.at[i], g->a);
	}
	if (sorted.cxx_std > g->draft->recipe.cxx_std) {
		g->draft->recipe.cxx_std = sorted.cxx_std;
	}
}

/* The file name that pip gives the module, where that is not the one of its binding. */
static void
fill_suffix(const struct guessing *g, const struct module *m, const struct ws_setup_extension *call,
	struct ws_extension *extension)
{
	const char *usual = extension->binding == WS_BINDING_PYBIND ? NULL : ".so";
	extension->suffix = ws_same(call->suffix, usual) ? NULL : call->suffix;
	if (extension->suffix && strcmp(extension->suffix, ".so") != 0) {
		ws_draft_note(g->draft, key_of(g, m, "suffix"), "setup.py asks for the limited API");
	}
}

/* A source for nvcc, or one for the C++ compiler; without any source both are possible. */
static bool
has_kind(const struct module *m, bool cuda)
{
	for (size_t i = 0; i < m->sources.len; i++) {
		if (ws_ends_with(m->sources.at[i], ".cu") == cuda) {
			return true;
		}
	}
	return m->sources.len == 0;
}

/* The name in PYBIND11_MODULE(name, m) of some source; NULL when it is a macro or not there. */
static const char *
name_in_sources(const struct guessing *g, const ws_texts *sources)
{
	for (size_t i = 0; i < sources->len; i++) {
		WS_AUTO_BUF struct ws_buf text = {0};
		const char *at = ws_guess_read(g->tree, sources->at[i], &text) && text.len > 0
			? strstr(text.data, "PYBIND11_MODULE(")
			: NULL;
		if (at) {
			at += strlen("PYBIND11_MODULE(");
			at += strspn(at, " \t\n");
			const char *name = ws_arena_copy(g->a, at, strcspn(at, " ,)\n"));
			if (ws_is_module_name(name) && strcmp(name, "TORCH_EXTENSION_NAME") != 0) {
				return name;
			}
		}
	}
	return NULL;
}

static void
name_module(const struct guessing *g, struct module *m)
{
	if (m->name && ws_is_module_name(m->name)) {
		return;
	}
	m->name = name_in_sources(g, &m->sources);
	if (m->name) {
		ws_draft_note(
			g->draft, key_of(g, m, "module"), "PYBIND11_MODULE says so, setup.py does not");
		return;
	}
	char *package = ws_arena_strdup(g->a, g->draft->recipe.distribution);
	for (char *c = package; *c; c++) {
		*c = *c == '-' || *c == '.' ? '_' : *c;
	}
	bool digit = package[0] >= '0' && package[0] <= '9';
	m->name = ws_arena_printf(g->a, "%s%s._C", digit ? "_" : "", package);
	if (m->like) {
		ws_draft_note(g->draft, key_of(g, m, "module"),
			"setup.py calls it %s; where a loop makes several, each is an extension here", m->like);
	} else {
		ws_draft_note(g->draft, key_of(g, m, "module"), "nothing says what it is called");
	}
}

static void
add_module(struct guessing *g, struct module *m, const struct ws_setup_extension *call,
	struct ws_extension *extension)
{
	take_sources(g, m, &call->sources);
	take_folders(g, m, &call->include);
	if (m->sources.len + m->missing.len == 0) {
		for (size_t i = 0; i < g->tree->count && m->sources.len < MOST; i++) {
			const struct ws_tree_entry *entry = &g->tree->entries[i];
			if (is_compiled(entry) && ws_guess_is_own(entry->path)) {
				ws_texts_add(&m->sources, entry->path, g->a);
			}
		}
		if (call->callee[0]) {
			ws_draft_note(g->draft, key_of(g, m, "sources"),
				"everything that can be compiled; which of it is meant only running setup.py "
				"tells");
		}
	}
	name_module(g, m);
	g->draft->missing_sources += m->missing.len;
	note_list(g, m, "sources", "named by setup.py, not in these sources", &m->missing);
	note_list(g, m, "sources", "only under a condition of setup.py", &m->unsure);
	if (call->conditional) {
		ws_draft_note(g->draft, ws_arena_printf(g->a, "%zu", m->index),
			"setup.py makes this module only under a condition");
	}
	extension->module = m->name;
	fill_sources(g, m, extension);
	fill_headers(g, m, extension);
	fill_suffix(g, m, call, extension);
	if (has_kind(m, false)) {
		fill_flags(
			g, m, "cxx_flags", &call->cxx, &extension->flags.cxx, &extension->flags.cxx_count);
	}
	if (has_kind(m, true)) {
		fill_flags(
			g, m, "nvcc_flags", &call->nvcc, &extension->flags.nvcc, &extension->flags.nvcc_count);
	}
	fill_flags(
		g, m, "link_flags", &call->link, &extension->flags.link, &extension->flags.link_count);
}

static int
cmp_archs(const void *x, const void *y)
{
	double one = strtod(*(const char *const *)x, NULL), two = strtod(*(const char *const *)y, NULL);
	return (one > two) - (one < two);
}

static void
fill_archs(struct guessing *g)
{
	if (g->archs.len == 0) {
		return;
	}
	qsort(g->archs.at, g->archs.len, sizeof(*g->archs.at), cmp_archs);
	g->draft->archs = g->archs.at;
	g->draft->arch_count = g->archs.len;
	ws_draft_note(g->draft, "archs",
		"those that setup.py names; it may be that the sources compile for more");
}

static bool
has_sources(const struct ws_tree *tree)
{
	for (size_t i = 0; i < tree->count; i++) {
		if (is_compiled(&tree->entries[i]) && ws_guess_is_own(tree->entries[i].path)) {
			return true;
		}
	}
	return false;
}

static void
note_unmatched(struct guessing *g, const ws_setup_words *patterns)
{
	ws_texts list = {0};
	for (size_t i = 0; i < patterns->len; i++) {
		ws_texts_add(&list, patterns->at[i].text, g->a);
	}
	if (list.len > 0) {
		ws_draft_note(g->draft, "extensions", "setup.py looks for files that do not exist: %s",
			ws_texts_list(&list, 6, g->a));
	}
}

void
ws_guess_extensions(
	const struct ws_tree *tree, const struct ws_setup_py *setup, struct ws_recipe_draft *draft)
{
	struct guessing g = {.tree = tree, .draft = draft, .a = draft->a};
	ws_setup_extensions calls = setup->extensions;
	note_unmatched(&g, &setup->unmatched);
	if (calls.len == 0 && has_sources(tree)) {
		*ws_vec_push(&calls, g.a) = (struct ws_setup_extension){.callee = ""};
	}
	struct ws_extension *extensions = WS_NEW_N(g.a, struct ws_extension, calls.len);
	size_t count = 0;
	for (size_t i = 0; i < calls.len; i++) {
		struct module m = {
			.index = count, .name = calls.at[i].module, .like = calls.at[i].module_like};
		bool any = calls.at[i].sources.len > 0 || has_sources(tree);
		if (any) {
			add_module(&g, &m, &calls.at[i], &extensions[count]);
			count += extensions[count].source_list_count > 0;
		}
	}
	if (count > 0) {
		ws_draft_note(draft, "extensions",
			calls.at[0].callee[0] ? "read off setup.py"
								  : "setup.py names no module: this is what can be compiled");
	}
	draft->recipe.extensions = extensions;
	draft->recipe.extension_count = count;
	fill_archs(&g);
}
