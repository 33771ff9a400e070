/* setup_py.c - the calls. What their arguments give is setup_value.c's. */
#include "draft/setup_py.h"

#include "base/buf.h"
#include "draft/setup_value.h"

#include <string.h>

#define MOST 64 /* calls that are read */

/* A call whose words go from the name to behind the closing bracket. */
struct call {
	struct ws_setup *setup;
	size_t callee;
	struct ws_setup_range arguments;
};

/* The argument of this name, or the one at this place. */
static bool
argument(const struct call *c, const char *name, size_t place, struct ws_setup_range *value)
{
	struct ws_setup_range rest = c->arguments, part;
	for (size_t i = 0; ws_setup_cut(c->setup, &rest, ",", &part); i++) {
		bool named = ws_python_is(&c->setup->text, part.from + 1, "=");
		if (named && ws_python_is(&c->setup->text, part.from, name)) {
			*value = (struct ws_setup_range){part.from + 2, part.to};
			return true;
		}
		if (!named && i == place) {
			*value = part;
			return true;
		}
	}
	return false;
}

#define NO_PLACE SIZE_MAX

/* Paths count from the top, whatever stands before. */
static void
take_paths(const struct call *c, const char *name, size_t place, ws_setup_words *paths)
{
	struct ws_setup_range value;
	if (!argument(c, name, place, &value)) {
		return;
	}
	ws_setup_value(c->setup, value, paths);
	for (size_t i = 0; i < paths->len; i++) {
		const char *text = paths->at[i].text;
		text += text[0] == WS_SETUP_UNKNOWN;
		paths->at[i].text = text + strspn(text, "/");
	}
}

static void
push_flag(const struct call *c, ws_setup_words *flags, const char *text, bool conditional)
{
	*ws_vec_push(flags, c->setup->a) = (struct ws_setup_word){text, conditional};
}

/* [("A", "1"), ("B", None)] as -DA=1, -DB. */
static void
take_macros(const struct call *c, ws_setup_words *flags)
{
	struct ws_setup_range value;
	ws_setup_words words = {0};
	if (!argument(c, "define_macros", NO_PLACE, &value)) {
		return;
	}
	if (!ws_python_is(&c->setup->text, value.from, "[")) { /* which is a name and which a value? */
		ws_setup_value(c->setup, value, &words);
		for (size_t i = 0; i < words.len; i++) {
			push_flag(c, flags, ws_arena_printf(c->setup->a, "-D%s", words.at[i].text), true);
		}
		return;
	}
	struct ws_setup_range inside = {value.from + 1, value.to - 1}, part;
	while (ws_setup_cut(c->setup, &inside, ",", &part)) {
		words.len = 0;
		ws_setup_value(c->setup, part, &words);
		if (words.len > 0) {
			const char *name = words.at[0].text;
			const char *flag = words.len > 1
				? ws_arena_printf(c->setup->a, "-D%s=%s", name, words.at[1].text)
				: ws_arena_printf(c->setup->a, "-D%s", name);
			push_flag(c, flags, flag, false);
		}
	}
}

static void
take_flags(const struct call *c, const char *key, ws_setup_words *flags)
{
	struct ws_setup_range value;
	if (argument(c, "extra_compile_args", NO_PLACE, &value)) {
		ws_setup_value_of(c->setup, value, key, flags);
	}
	take_macros(c, flags);
}

static void
take_links(const struct call *c, ws_setup_words *flags)
{
	struct ws_setup_range value;
	ws_setup_words libraries = {0};
	if (argument(c, "extra_link_args", NO_PLACE, &value)) {
		ws_setup_value(c->setup, value, flags);
	}
	if (argument(c, "libraries", NO_PLACE, &value)) {
		ws_setup_value(c->setup, value, &libraries);
	}
	for (size_t i = 0; i < libraries.len; i++) {
		*ws_vec_push(flags, c->setup->a) =
			(struct ws_setup_word){ws_arena_printf(c->setup->a, "-l%s", libraries.at[i].text),
				libraries.at[i].conditional};
	}
}

/* A name, or what is known of one that a loop or a variable makes. */
static void
take_name(const struct call *c, struct ws_setup_extension *found)
{
	struct ws_setup_range value;
	ws_setup_words name = {0};
	if (argument(c, "name", 0, &value)) {
		ws_setup_value(c->setup, value, &name);
	}
	if (name.len == 0) {
		return;
	}
	if (!strchr(name.at[0].text, WS_SETUP_UNKNOWN)) {
		found->module = name.at[0].text;
		return;
	}
	char *like = ws_arena_strdup(c->setup->a, name.at[0].text);
	for (char *at = like; (at = strchr(at, WS_SETUP_UNKNOWN)); at++) {
		*at = '*';
	}
	found->module_like = strcmp(like, "*") == 0 ? NULL : like;
}

static struct ws_setup_extension
read_call(const struct call *c)
{
	struct ws_setup_extension found = {.callee = c->setup->text.words[c->callee].text};
	take_name(c, &found);
	take_paths(c, "sources", 1, &found.sources);
	take_paths(c, "include_dirs", NO_PLACE, &found.include);
	take_flags(c, "cxx", &found.cxx);
	take_flags(c, "nvcc", &found.nvcc);
	take_links(c, &found.link);
	return found;
}

static void
add_extension(ws_setup_extensions *all, const struct ws_setup_extension *found, struct ws_arena *a)
{
	for (size_t i = 0; i < all->len; i++) {
		if (!ws_same(all->at[i].module, found->module)) {
			continue;
		}
		if (strcmp(all->at[i].callee, "CUDAExtension") != 0
			&& strcmp(found->callee, "CUDAExtension") == 0) {
			all->at[i] = *found;
		}
		return;
	}
	*ws_vec_push(all, a) = *found;
}

/* The name before the bracket: "CUDAExtension", also one that stands for it. */
static bool
is_extension_call(const struct ws_python_text *text, size_t i)
{
	const struct ws_python_word *word = &text->words[i];
	return word->kind == WS_PYTHON_NAME && ws_ends_with(word->text, "Extension")
		&& strcmp(word->text, "BuildExtension") != 0 && ws_python_is(text, i + 1, "(");
}

void
ws_setup_py_read(struct ws_str source, struct ws_arena *a, ws_setup_extensions *found)
{
	struct ws_setup setup = {.text = ws_python_text_read(source, a), .a = a};
	setup.lines = ws_setup_lines_read(&setup.text, a);
	for (size_t k = 0; k < setup.lines.count; k++) {
		const struct ws_setup_line *line = &setup.lines.at[k];
		bool defines = ws_python_is(&setup.text, line->from, "class")
			|| ws_python_is(&setup.text, line->from, "def");
		for (size_t i = line->from;
			 i < line->to && !line->elsewhere && !defines && found->len < MOST; i++) {
			if (!is_extension_call(&setup.text, i)) {
				continue;
			}
			struct call call = {&setup, i, {i + 2, ws_python_skip(&setup.text, i + 1) - 1}};
			struct ws_setup_extension extension = read_call(&call);
			add_extension(found, &extension, a);
		}
	}
}
