/* cmd_recipe_check.c - `wheelsmith recipe check`: brings the sources where it may, prints what
 * draft/recipe_check.h found. Problems go to stderr as they are found, results to stdout. */
#include "base/fs.h"
#include "base/json.h"
#include "cli/cmd_recipe.h"
#include "config/document.h"
#include "config/recipe.h"
#include "draft/recipe_check.h"
#include "fetch/source.h"
#include "report/format.h"

#include <limits.h>
#include <string.h>

#define MARKED_SHOWN 20 /* lines */

/* One FILE of the command line. */
struct subject {
	const char *path;
	struct ws_recipe recipe;
	struct ws_recipe_checked checked; /* recipe NULL: the text has a mistake */
	struct ws_source_found source;
	const char *why_no_sources; /* NULL: they were looked at */
	uint64_t source_bytes;
	struct ws_problems problems;
};

struct checking {
	struct ws_session *s;
	bool fetch;
	struct ws_fetch means; /* store NULL: there are none, why_no_means says why */
	const char *why_no_means;
	struct subject *subjects;
	size_t count;
};

/* Without --fetch nothing is downloaded, and no event says that a download was left out. */
static bool
open_means(struct checking *c, struct ws_err *err)
{
	struct ws_session *s = c->s;
	if (!ws_session_open_store(s, false, err) || !ws_session_open_net(s, NULL, 0, !c->fetch, err)) {
		return false;
	}
	c->means = s->fetch;
	c->means.events = c->fetch ? s->fetch.events : NULL;
	return true;
}

/* With the patches that always apply and, unless it is NULL, the one @a extra. */
static bool
fetch_patched(const struct checking *c, const struct ws_recipe *recipe,
	const struct ws_patch *extra, struct ws_source_found *found, struct ws_err *err)
{
	struct ws_arena *a = c->s->a;
	const struct ws_patch **patches = WS_NEW_N(a, const struct ws_patch *, recipe->patch_count);
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
		.patches = patches,
	};
	for (size_t i = 0; i < recipe->patch_count; i++) {
		if (&recipe->patches[i] == extra || ws_condition_is_empty(&recipe->patches[i].when)) {
			patches[wish.patch_count++] = &recipe->patches[i];
		}
	}
	return ws_source_bring(&c->means, &wish, a, found, err);
}

static bool
add_size(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	*(uint64_t *)self += S_ISREG(entry->status.st_mode) ? (uint64_t)entry->status.st_size : 0;
	return true;
}

/* False with err empty: nothing is wrong, they are only not at hand. */
static bool
fetch_all(struct checking *c, struct subject *x, struct ws_err *err)
{
	struct ws_arena *a = c->s->a;
	struct ws_tree *trees = WS_NEW_N(a, struct ws_tree, x->recipe.patch_count + 1);
	if (x->recipe.prebuilt_only) {
		x->why_no_sources = "it has none";
		*err = (struct ws_err){0};
		return false;
	}
	if (!c->means.store) {
		x->why_no_sources = c->why_no_means;
		*err = (struct ws_err){0};
		return false;
	}
	if (!fetch_patched(c, &x->recipe, NULL, &x->source, err)) {
		if (!c->fetch && err->kind == WS_ERR_FETCH) {
			x->why_no_sources = "not in the store; --fetch brings them";
			*err = (struct ws_err){0};
		}
		return false;
	}
	trees[0] = x->source.tree;
	size_t count = 1;
	for (size_t i = 0; i < x->recipe.patch_count; i++) {
		const struct ws_patch *patch = &x->recipe.patches[i];
		struct ws_source_found patched;
		if (ws_condition_is_empty(&patch->when)) {
			continue;
		}
		if (fetch_patched(c, &x->recipe, patch, &patched, err)) {
			trees[count++] = patched.tree;
		} else if (ws_err_is_stop(err)) {
			return false;
		} else {
			ws_problems_add(&x->problems, err);
		}
	}
	x->checked.trees = trees;
	x->checked.tree_count = count;
	return ws_fs_walk(x->source.tree.path, add_size, &x->source_bytes, err);
}

static void
report(void *self, const struct ws_err *err)
{
	ws_problems_add(self, err);
}

/* False with err empty: the mistakes are among the problems. */
static bool
read_subject(struct subject *x, struct ws_arena *a, struct ws_err *err)
{
	struct ws_document document;
	if (!ws_document_read(x->path, "recipe", a, &document, err)) {
		return ws_ends_with(x->path, ".json")
			? false
			: ws_err_cure(err, "name its file: recipes/PACKAGE/VERSION.json");
	}
	x->checked.doc = document.doc;
	if (!ws_recipe_parse_all(document.doc, document.folder, a, &x->recipe, report, &x->problems)) {
		*err = (struct ws_err){0};
		return false;
	}
	x->checked.recipe = &x->recipe;
	x->checked.folder = document.folder;
	return true;
}

/* False when the run was asked to stop. */
static bool
check_subject(struct checking *c, struct subject *x, struct ws_err *err)
{
	struct ws_err one = {0};
	if (!x->checked.recipe) {
		return true;
	}
	ws_recipe_check_place(&x->checked, &x->problems);
	if (fetch_all(c, x, &one)) {
		ws_recipe_check_sources(&x->checked, &x->problems);
	} else if (ws_err_is_stop(&one)) {
		*err = one;
		return false;
	} else if (one.kind != WS_ERR_NONE) {
		x->why_no_sources = "they could not be had";
		ws_problems_add(&x->problems, &one);
	}
	return true;
}

static void
print_modules(const struct subject *x, const struct ws_out *out)
{
	for (size_t i = 0; i < x->recipe.extension_count; i++) {
		const struct ws_extension *extension = &x->recipe.extensions[i];
		const struct ws_recipe_module *module = &x->checked.view.modules[i];
		size_t cuda = 0;
		for (size_t j = 0; j < module->unit_count; j++) {
			cuda += module->units[j].kind >= WS_UNIT_CUDA;
		}
		ws_out_result(out, "  module   %s (%s): %zu unit%s, %zu of them CUDA\n", extension->module,
			ws_binding_name(extension->binding), module->unit_count,
			module->unit_count == 1 ? "" : "s", cuda);
	}
}

static void
print_python(const struct subject *x, const struct ws_out *out)
{
	const struct ws_python_part *part = &x->recipe.python;
	size_t count = part->package_count + part->module_count;
	if (x->checked.view.files.len == 0) {
		return;
	}
	ws_out_result(out, "  python   ");
	for (size_t i = 0; i < count; i++) {
		ws_out_result(out, "%s%s", i > 0 ? ", " : "",
			i < part->package_count ? part->packages[i] : part->modules[i - part->package_count]);
	}
	ws_out_result(out, ": %zu files\n", x->checked.view.files.len);
}

/* The lines of comments that a draft leaves for a person. */
static size_t
marked_lines(const struct subject *x, unsigned *lines, size_t most)
{
	size_t count = 0;
	unsigned line = 1;
	const char *text = x->checked.doc ? x->checked.doc->text : "";
	for (const char *end; *text; text = end + (*end == '\n'), line++) {
		end = text + strcspn(text, "\n");
		const char *comment = memmem(text, (size_t)(end - text), "// check:", 9);
		if (comment && count++ < most) {
			lines[count - 1] = line;
		}
	}
	return count;
}

static void
print_marked(const struct subject *x, const struct ws_out *out)
{
	unsigned lines[MARKED_SHOWN];
	size_t count = marked_lines(x, lines, MARKED_SHOWN);
	for (size_t i = 0; i < count && i < MARKED_SHOWN; i++) {
		ws_out_result(out, i == 0 ? "  marked   line%s " : ", ", count == 1 ? "" : "s");
		ws_out_result(out, "%u", lines[i]);
	}
	if (count > 0) {
		ws_out_result(out, "%s: still to check by hand\n", count > MARKED_SHOWN ? " and more" : "");
	}
}

static void
print_subject(const struct subject *x, const struct ws_out *out)
{
	size_t problems = x->problems.list.len + x->problems.more;
	ws_out_result(out, "%s\n", x->path);
	if (x->checked.recipe) {
		ws_out_result(out, "  recipe   %s %s\n", x->recipe.name, x->recipe.version.text);
	}
	if (x->checked.trees) {
		char size[WS_FORMAT_BYTES];
		ws_out_result(out, "  sources  %s: %zu files, %s\n",
			ws_path_base(x->source.spec->file ? x->source.spec->file
					: x->source.spec->url     ? x->source.spec->url
											  : x->source.spec->path),
			x->source.tree.count, ws_format_size(x->source_bytes, size));
		print_modules(x, out);
		print_python(x, out);
	} else if (x->why_no_sources) {
		ws_out_result(out, "  sources  not looked at: %s\n", x->why_no_sources);
	}
	for (size_t i = 0; i < x->recipe.prebuilt_count; i++) {
		size_t names = ws_prebuilt_count(&x->recipe.prebuilt[i]);
		ws_out_result(out, "  prebuilt %s: %zu name%s\n", x->recipe.prebuilt[i].from, names,
			names == 1 ? "" : "s");
	}
	print_marked(x, out);
	size_t idle = x->checked.view.idle_cuda;
	if (idle > 0) {
		ws_out_result(out, "  warning  %zu .cu file%s in the sources, and no module compiles one\n",
			idle, idle == 1 ? "" : "s");
	}
	if (problems > 0) {
		ws_out_result(out, "  %zu problem%s\n", problems, problems == 1 ? "" : "s");
	} else {
		ws_out_result(out, "  %s\n",
			x->checked.trees ? "all that it names is there"
							 : "the text is right; what it names was not looked for");
	}
}

static void
write_subject(struct ws_json_writer *w, const struct subject *x)
{
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "path", x->path);
	ws_json_add_text(w, "name", x->recipe.name);
	ws_json_add_text(w, "version", x->recipe.version.text);
	ws_json_add_bool(w, "sources_checked", x->checked.trees != NULL);
	ws_json_add_text(w, "why_not", x->why_no_sources);
	if (x->checked.trees) {
		ws_json_add_u64(w, "source_files", x->source.tree.count);
		ws_json_add_u64(w, "source_bytes", x->source_bytes);
		ws_json_add_text(w, "source_digest", x->source.tree.digest.hex);
		ws_json_add_u64(w, "python_files", x->checked.view.files.len);
	}
	unsigned lines[MARKED_SHOWN];
	size_t marked = marked_lines(x, lines, MARKED_SHOWN);
	ws_json_open_list(w, "marked_lines");
	for (size_t i = 0; i < marked && i < MARKED_SHOWN; i++) {
		ws_json_add_u64(w, NULL, lines[i]);
	}
	ws_json_close(w);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; x->checked.trees && i < x->recipe.extension_count; i++) {
		const struct ws_recipe_module *module = &x->checked.view.modules[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "module", x->recipe.extensions[i].module);
		ws_json_add_text(w, "binding", ws_binding_name(x->recipe.extensions[i].binding));
		ws_json_open_list(w, "units");
		for (size_t j = 0; j < module->unit_count; j++) {
			ws_json_add_text(w, NULL, module->units[j].path);
		}
		ws_json_close(w);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "prebuilt");
	for (size_t i = 0; i < x->recipe.prebuilt_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "from", x->recipe.prebuilt[i].from);
		ws_json_add_u64(w, "names", ws_prebuilt_count(&x->recipe.prebuilt[i]));
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "problems");
	for (size_t i = 0; i < x->problems.list.len; i++) {
		const struct ws_err *problem = x->problems.list.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "place", problem->place);
		ws_json_add_text(w, "text", problem->text);
		ws_json_add_text(w, "cure", problem->cure);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_close(w);
}

static void
print_json(const struct checking *c)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.recipe-check/1");
	ws_json_open_list(w, "recipes");
	for (size_t i = 0; i < c->count; i++) {
		write_subject(w, &c->subjects[i]);
	}
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&c->s->out, "%s", ws_buf_text(&text));
}

/* Tells the problems. Exit code: their kind, when all are of one. */
static bool
conclude(const struct checking *c, struct ws_err *err)
{
	enum ws_err_kind kind = WS_ERR_NONE;
	for (size_t i = 0; i < c->count; i++) {
		const struct ws_problems *problems = &c->subjects[i].problems;
		for (size_t j = 0; j < problems->list.len; j++) {
			enum ws_err_kind one = problems->list.at[j]->kind;
			kind = kind == WS_ERR_NONE || kind == one ? one : WS_ERR_NEGATIVE;
		}
	}
	*err = (struct ws_err){.kind = kind};
	return kind == WS_ERR_NONE;
}

static void
print_checked(const struct checking *c, const struct subject *x)
{
	for (size_t i = 0; i < x->problems.list.len; i++) {
		ws_out_error(&c->s->out, x->problems.list.at[i]);
	}
	if (x->problems.more > 0) {
		ws_out_warn(&c->s->out, "%s: %zu more problems", x->path, x->problems.more);
	}
	if (!c->s->globals.json) {
		print_subject(x, &c->s->out);
	}
}

static bool
check_all(struct checking *c, const ws_words *files, struct ws_err *err)
{
	struct ws_arena *a = c->s->a;
	c->subjects = WS_NEW_N(a, struct subject, files->len);
	c->count = files->len;
	for (size_t i = 0; i < files->len; i++) {
		struct subject *x = &c->subjects[i];
		struct ws_err one = {0};
		x->path = files->at[i];
		x->problems.a = a;
		if (!read_subject(x, a, &one) && one.kind != WS_ERR_NONE) {
			ws_problems_add(&x->problems, &one);
		}
	}
	struct ws_err means = {0};
	if (!open_means(c, &means)) {
		c->means.store = NULL;
		c->why_no_means = ws_arena_strdup(a, means.text);
		if (c->fetch || means.kind == WS_ERR_USAGE) {
			*err = means;
			return false;
		}
	}
	for (size_t i = 0; i < c->count; i++) {
		if (!check_subject(c, &c->subjects[i], err)) {
			return false;
		}
		print_checked(c, &c->subjects[i]);
	}
	if (c->s->globals.json) {
		print_json(c);
	}
	return conclude(c, err);
}

bool
ws_cmd_recipe_check(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct checking c = {.s = s};
	const struct ws_option options[] = {
		{"fetch", 0, WS_OPTION_FLAG, &c.fetch, NULL, "bring the sources that are not in the store"},
	};
	struct ws_usage usage = {
		.command = "recipe check",
		.synopsis = "[--fetch] FILE...",
		.summary =
			"Reads recipes and holds them against their sources, as far as those are in the\n"
			"store: every path, pattern, folder and package that a recipe names is looked\n"
			"for, patches are applied. Nothing is compiled. All problems are reported.",
		.options = options,
		.option_count = WS_LEN(options),
		.least = 1,
		.most = UINT_MAX,
	};
	ws_words files = {0};
	if (!ws_command_options(s, &usage, argc, argv, &files, err)) {
		return false;
	}
	return check_all(&c, &files, err);
}
