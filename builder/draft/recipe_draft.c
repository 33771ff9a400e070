/* recipe_draft.c - the text of a draft. base/json_write.h writes no comments, so the lines are made
 * here; strings are still quoted by it. */
#include "draft/recipe_draft.h"

#include "base/json_write.h"
#include "base/str.h"

#include <stdarg.h>
#include <string.h>

#define WIDEST 110 /* columns of a list on one line */

struct writer {
	struct ws_buf *out;
	const struct ws_recipe_draft *draft;
	unsigned depth;
	bool fresh;                 /* nothing stands yet in the object or list that is open */
	struct ws_extension shared; /* what 'every_extension' says; all zero: nothing */
	bool has_shared;
	struct ws_buf waiting; /* comments about keys that are left out: they go before the next line */
};

void
ws_draft_note(struct ws_recipe_draft *draft, const char *key, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	char *text = ws_arena_vprintf(draft->a, format, values);
	va_end(values);
	for (char *c = text; *c; c++) {
		if ((unsigned char)*c < ' ' || *c == 0x7f) {
			*c = '?';
		}
	}
	*ws_vec_push(&draft->notes, draft->a) = (struct ws_draft_note){key, text};
}

static void
quote(struct ws_buf *out, const char *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_add_text(w, NULL, text);
	ws_json_finish(w, WS_JSON_COMPACT, out);
}

static void
indent(struct writer *w)
{
	for (unsigned i = 0; i < w->depth; i++) {
		ws_buf_puts(w->out, "  ");
	}
}

/* A comment at the current depth, broken at blanks. */
static void
comment(struct writer *w, const char *text)
{
	struct ws_str rest = ws_str_of(text);
	const char *lead = "// ";
	while (rest.s) {
		size_t room = WIDEST - 2 * w->depth;
		struct ws_str line = rest;
		if (rest.n > room) {
			const char *blank = memrchr(rest.s, ' ', room);
			line.n = blank ? (size_t)(blank - rest.s) : strcspn(rest.s, " ");
		}
		indent(w);
		ws_buf_printf(w->out, "%s%.*s\n", lead, WS_STR_ARGS(line));
		bool more = line.n < rest.n;
		rest = more ? (struct ws_str){rest.s + line.n + 1, rest.n - line.n - 1}
					: (struct ws_str){NULL, 0};
		lead = "//    ";
	}
}

/* The note of an extension, like "0.include", is one of all of them, about a key that they can share. */
static bool
is_shared(const struct writer *w, const struct ws_draft_note *note)
{
	const char *key = strchr(note->key, '.');
	if (!w->has_shared || !key || note->key[0] > '9' || strcmp(key, ".sources") == 0
		|| strcmp(key, ".module") == 0) {
		return false;
	}
	size_t count = 0;
	for (size_t i = 0; i < w->draft->notes.len; i++) {
		const struct ws_draft_note *other = &w->draft->notes.at[i];
		const char *its = strchr(other->key, '.');
		count += its && other->key[0] <= '9' && strcmp(its, key) == 0
			&& strcmp(other->text, note->text) == 0;
	}
	return count == w->draft->recipe.extension_count;
}

/* Gathers the notes of @a name, each as a comment at the current depth; "every.include" gets what the
 * first extension shares with all others. */
static void
gather_notes(struct writer *w, const char *name)
{
	struct ws_buf *out = w->out;
	bool every = ws_starts_with(name, "every.");
	w->out = &w->waiting;
	for (size_t i = 0; i < w->draft->notes.len; i++) {
		const struct ws_draft_note *note = &w->draft->notes.at[i];
		bool meant = every ? note->key[0] == '0'
				&& strcmp(strchr(note->key, '.') ? note->key + 2 : "", name + 6) == 0
						   : strcmp(note->key, name) == 0;
		if (meant && is_shared(w, note) == every) {
			comment(w, ws_arena_printf(w->draft->a, "check: %s", w->draft->notes.at[i].text));
		}
	}
	w->out = out;
}

static void
flush_notes(struct writer *w)
{
	ws_buf_puts(w->out, ws_buf_text(&w->waiting));
	ws_buf_clear(&w->waiting);
}

/* Ends what stood before with a comma, writes the notes of @a name, and begins the line of @a key. */
static void
begin(struct writer *w, const char *key, const char *name)
{
	ws_buf_puts(w->out, w->fresh ? "\n" : ",\n");
	w->fresh = false;
	gather_notes(w, name);
	flush_notes(w);
	indent(w);
	if (key) {
		quote(w->out, key);
		ws_buf_puts(w->out, ": ");
	}
}

static void
open(struct writer *w, const char *key, const char *name, char bracket)
{
	begin(w, key, name);
	ws_buf_putc(w->out, bracket);
	w->depth++;
	w->fresh = true;
}

static void
close_with(struct writer *w, char bracket)
{
	w->depth--;
	ws_buf_putc(w->out, '\n');
	flush_notes(w);
	indent(w);
	ws_buf_putc(w->out, bracket);
	w->fresh = false;
}

static void
add_text(struct writer *w, const char *key, const char *name, const char *text)
{
	if (text) {
		begin(w, key, name);
		quote(w->out, text);
	}
}

/* Values that stand in a list; on one line when they fit. */
static void
add_values(struct writer *w, const struct ws_buf *values, size_t count, size_t longest)
{
	bool one_line = longest + 2 * w->depth < WIDEST;
	const char *value = ws_buf_text(values);
	ws_buf_putc(w->out, '[');
	w->depth++;
	for (size_t i = 0; i < count; i++) {
		if (one_line) {
			ws_buf_puts(w->out, i > 0 ? ", " : "");
		} else {
			ws_buf_puts(w->out, i > 0 ? ",\n" : "\n");
			indent(w);
		}
		ws_buf_puts(w->out, value);
		value += strlen(value) + 1;
	}
	w->depth--;
	if (!one_line) {
		ws_buf_putc(w->out, '\n');
		indent(w);
	}
	ws_buf_putc(w->out, ']');
}

static void
add_texts(
	struct writer *w, const char *key, const char *name, const char *const *texts, size_t count)
{
	WS_AUTO_BUF struct ws_buf values = {0};
	if (count == 0) {
		gather_notes(w, name);
		return;
	}
	for (size_t i = 0; i < count; i++) {
		quote(&values, texts[i]);
		ws_buf_putc(&values, '\0');
	}
	begin(w, key, name);
	add_values(w, &values, count, strlen(key) + values.len + count);
}

/* {"import": ["demo"]} */
static void
add_object(
	struct writer *w, const char *key, const char *inner, const char *const *texts, size_t count)
{
	WS_AUTO_BUF struct ws_buf values = {0};
	if (count == 0) {
		return;
	}
	for (size_t i = 0; i < count; i++) {
		quote(&values, texts[i]);
		ws_buf_putc(&values, '\0');
	}
	begin(w, key, key);
	ws_buf_printf(w->out, "{\"%s\": ", inner);
	add_values(w, &values, count, strlen(key) + strlen(inner) + values.len + count);
	ws_buf_putc(w->out, '}');
}

static void
add_sources(struct writer *w, const struct ws_extension *extension, const char *name)
{
	WS_AUTO_BUF struct ws_buf values = {0};
	for (size_t i = 0; i < extension->source_list_count; i++) {
		const struct ws_source_list *list = &extension->sources[i];
		if (list->glob) {
			ws_buf_puts(&values, "{\"glob\": ");
			quote(&values, list->glob);
			ws_buf_printf(&values, ", \"count\": %u}", list->expected);
		} else {
			quote(&values, list->paths[0]);
		}
		ws_buf_putc(&values, '\0');
	}
	begin(w, "sources", name);
	add_values(w, &values, extension->source_list_count,
		values.len + extension->source_list_count + strlen("sources"));
}

/* Flags, folders and the rest of an extension; @a skip holds how much of each list is said elsewhere. */
static void
add_rest(struct writer *w, const char *name, const struct ws_extension *e,
	const struct ws_extension *skip)
{
	const struct {
		const char *key;
		const char *const *texts;
		size_t count, skip;
	} lists[] = {
		{"include", e->include, e->include_count, skip->include_count},
		{"c_flags", e->flags.c, e->flags.c_count, skip->flags.c_count},
		{"cxx_flags", e->flags.cxx, e->flags.cxx_count, skip->flags.cxx_count},
		{"nvcc_flags", e->flags.nvcc, e->flags.nvcc_count, skip->flags.nvcc_count},
		{"link_flags", e->flags.link, e->flags.link_count, skip->flags.link_count},
	};
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		size_t gone = lists[i].skip < lists[i].count ? lists[i].skip : lists[i].count;
		add_texts(w, lists[i].key, ws_arena_printf(w->draft->a, "%s.%s", name, lists[i].key),
			lists[i].texts ? lists[i].texts + gone : NULL, lists[i].count - gone);
	}
}

static void
add_extension(struct writer *w, size_t index)
{
	const struct ws_extension *e = &w->draft->recipe.extensions[index];
	struct ws_arena *a = w->draft->a;
	const char *name = ws_arena_printf(a, "%zu", index);
	open(w, NULL, name, '{');
	add_text(w, "module", ws_arena_printf(a, "%zu.module", index), e->module);
	if (!w->has_shared || w->shared.binding != e->binding) {
		add_text(
			w, "binding", ws_arena_printf(a, "%zu.binding", index), ws_binding_name(e->binding));
	}
	add_text(
		w, "suffix", ws_arena_printf(a, "%zu.suffix", index), w->shared.suffix ? NULL : e->suffix);
	add_sources(w, e, ws_arena_printf(a, "%zu.sources", index));
	add_rest(w, name, e, &w->shared);
	close_with(w, '}');
}

/* How many texts at the front of one list are at the front of another. */
static size_t
common(const char *const *one, size_t one_count, const char *const *two, size_t two_count)
{
	size_t count = 0;
	while (count < one_count && count < two_count && strcmp(one[count], two[count]) == 0) {
		count++;
	}
	return count;
}

/* The sources have a file for nvcc, or one for the C++ compiler. */
static bool
has_kind(const struct ws_extension *e, bool cuda)
{
	for (size_t i = 0; i < e->source_list_count; i++) {
		const char *path = e->sources[i].glob ? e->sources[i].glob : e->sources[i].paths[0];
		if (ws_ends_with(path, ".cu") == cuda) {
			return true;
		}
	}
	return false;
}

/* The longest common front of the flags, of the extensions that have files for them. */
static void
share_flags(const struct ws_recipe *recipe, bool cuda, const char *const **flags, size_t *count)
{
	bool any = false;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_flags *own = &recipe->extensions[i].flags;
		const char *const *list = cuda ? own->nvcc : own->cxx;
		size_t len = cuda ? own->nvcc_count : own->cxx_count;
		if (has_kind(&recipe->extensions[i], cuda)) {
			*count = any ? common(*flags, *count, list, len) : len;
			*flags = any ? *flags : list;
			any = true;
		}
	}
}

/* What all extensions begin with, where there are several. */
static void
find_shared(struct writer *w)
{
	const struct ws_recipe *recipe = &w->draft->recipe;
	if (recipe->extension_count < 2) {
		return;
	}
	struct ws_extension shared = recipe->extensions[0];
	for (size_t i = 1; i < recipe->extension_count; i++) {
		const struct ws_extension *e = &recipe->extensions[i];
		if (shared.binding != e->binding) {
			return;
		}
		shared.suffix = ws_same(shared.suffix, e->suffix) ? shared.suffix : NULL;
		shared.include_count =
			common(shared.include, shared.include_count, e->include, e->include_count);
		shared.flags.link_count =
			common(shared.flags.link, shared.flags.link_count, e->flags.link, e->flags.link_count);
	}
	shared.flags.cxx_count = shared.flags.nvcc_count = 0;
	share_flags(recipe, false, &shared.flags.cxx, &shared.flags.cxx_count);
	share_flags(recipe, true, &shared.flags.nvcc, &shared.flags.nvcc_count);
	w->shared = shared;
	w->has_shared = true;
}

static void
add_shared(struct writer *w)
{
	static const struct ws_extension nothing = {0};
	if (w->has_shared) {
		open(w, "every_extension", "every_extension", '{');
		add_text(w, "binding", "every.binding", ws_binding_name(w->shared.binding));
		add_text(w, "suffix", "every.suffix", w->shared.suffix);
		add_rest(w, "every", &w->shared, &nothing);
		close_with(w, '}');
	}
}

static void
add_source(struct writer *w)
{
	const struct ws_source_spec *spec = &w->draft->recipe.sources[0];
	open(w, "source", "source", '[');
	open(w, NULL, "", '{');
	add_text(w, "sdist", "", spec->file);
	add_text(w, "folder", "", spec->path);
	add_text(w, "git", "", spec->url);
	add_text(w, "commit", "", spec->commit);
	add_texts(w, "submodules", "", spec->submodules, spec->submodule_count);
	add_text(w, "sha256", "", spec->sha256);
	close_with(w, '}');
	if (w->draft->repository && spec->kind == WS_SOURCE_SDIST) {
		WS_AUTO_BUF struct ws_buf url = {0};
		quote(&url, w->draft->repository);
		ws_buf_putc(w->out, '\n');
		comment(w, "check: the same from its repository, where no index has the sdist:");
		indent(w);
		ws_buf_printf(
			w->out, "// {\"git\": %s, \"commit\": \"...40 digits...\"}", ws_buf_text(&url));
	}
	close_with(w, ']');
}

static void
add_python(struct writer *w)
{
	const struct ws_python_part *python = &w->draft->recipe.python;
	if (python->package_count + python->module_count == 0) {
		return;
	}
	if (python->module_count + python->data_count == 0 && !(python->root && python->root[0])) {
		add_object(w, "python", "packages", python->packages, python->package_count);
		return;
	}
	open(w, "python", "python", '{');
	add_text(w, "root", "", python->root && python->root[0] ? python->root : NULL);
	add_texts(w, "packages", "", python->packages, python->package_count);
	add_texts(w, "modules", "", python->modules, python->module_count);
	add_texts(w, "data", "python.data", python->data, python->data_count);
	close_with(w, '}');
}

/* {"dev": ["pytest"]}: pairs of one name stand together. */
static void
add_extras(struct writer *w, const struct ws_metadata *m)
{
	if (m->extra_count == 0) {
		return;
	}
	open(w, "extras", "metadata.extras", '{');
	for (size_t i = 0; i + 1 < m->extra_count; i += 2) {
		const char **of = WS_NEW_N(w->draft->a, const char *, m->extra_count / 2);
		size_t count = 0;
		bool written = false;
		for (size_t j = 0; j + 1 < m->extra_count; j += 2) {
			bool same = strcmp(m->extras[j], m->extras[i]) == 0;
			written = written || (same && j < i);
			if (same) {
				of[count++] = m->extras[j + 1];
			}
		}
		if (!written) {
			add_texts(w, m->extras[i], "", of, count);
		}
	}
	close_with(w, '}');
}

static void
add_metadata(struct writer *w)
{
	const struct ws_metadata *m = &w->draft->recipe.metadata;
	open(w, "metadata", "metadata", '{');
	add_text(w, "summary", "metadata.summary", m->summary ? m->summary : "...");
	add_text(w, "home_page", "metadata.home_page", m->home_page);
	if (m->project_url_count > 0) {
		open(w, "project_urls", "metadata.project_urls", '{');
		for (size_t i = 0; i + 1 < m->project_url_count; i += 2) {
			add_text(w, m->project_urls[i], "", m->project_urls[i + 1]);
		}
		close_with(w, '}');
	}
	add_text(w, "author", "metadata.author", m->author);
	add_text(w, "author_email", "metadata.author_email", m->author_email);
	add_text(w, "license", "metadata.license", m->license);
	add_text(w, "license_expression", "metadata.license_expression", m->license_expression);
	add_texts(
		w, "license_files", "metadata.license_files", m->license_files, m->license_file_count);
	add_texts(w, "classifiers", "metadata.classifiers", m->classifiers, m->classifier_count);
	add_texts(w, "keywords", "metadata.keywords", m->keywords, m->keyword_count);
	add_texts(w, "requires", "metadata.requires", m->requires, m->require_count);
	add_extras(w, m);
	add_text(w, "description_file", "metadata.description_file", m->description_file);
	close_with(w, '}');
}

void
ws_recipe_draft_write(const struct ws_recipe_draft *draft, struct ws_buf *out)
{
	const struct ws_recipe *recipe = &draft->recipe;
	struct writer w = {.out = out, .draft = draft, .depth = 1, .fresh = true};
	if (draft->from) {
		ws_buf_printf(out,
			"// A draft from %s\n"
			"// and the setup.py in it, which was read and not run. What is marked \"check:\" is a "
			"guess;\n",
			draft->from);
	} else {
		ws_buf_puts(out,
			"// A form: nothing of it was read off sources. Fill in what is marked "
			"\"check:\";\n");
	}
	ws_buf_puts(out, "// recipes/README.md says what each key means.\n{");
	add_text(&w, "name", "name", recipe->distribution);
	add_text(&w, "version", "version", recipe->version.text);
	add_source(&w);
	find_shared(&w);
	add_shared(&w);
	if (recipe->extension_count > 0) {
		open(&w, "extensions", "extensions", '[');
		for (size_t i = 0; i < recipe->extension_count; i++) {
			add_extension(&w, i);
		}
		close_with(&w, ']');
	}
	add_python(&w);
	add_metadata(&w);
	if (recipe->metadata.requires_python) {
		begin(&w, "requires", "requires");
		ws_buf_puts(out, "{\"python\": ");
		quote(out, recipe->metadata.requires_python);
		ws_buf_putc(out, '}');
	}
	add_texts(&w, "archs", "archs", draft->archs, draft->arch_count);
	if (recipe->cxx_std > 0) {
		begin(&w, "cxx_std", "cxx_std");
		ws_buf_printf(out, "%u", recipe->cxx_std);
	}
	add_object(&w, "check", "import", recipe->check.imports, recipe->check.import_count);
	ws_buf_puts(out, "\n}\n");
	ws_buf_release(&w.waiting);
}
