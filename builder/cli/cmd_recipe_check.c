/* cmd_recipe_check.c - `wheelsmith recipe check`: compares recipes with their sources. Problems go
 * to stderr when they are found, results to stdout. */
#include "base/fs.h"
#include "cli/session.h"
#include "config/recipe.h"
#include "fetch/source.h"
#include "recipe/recipe_view.h"
#include "report/format.h"

#include <limits.h>

#define MARKED_SHOWN 20 /* lines */
#define PROBLEMS_KEPT 50

struct problem {
	const struct ws_err *err;
	const char *place, *text, *cure; /* its texts */
};

/* Problems of one recipe, in the order in which they were found. */
struct problems {
	WS_VEC(struct problem) list;
	size_t more; /* found beyond PROBLEMS_KEPT */
	struct ws_arena *a;
};

/* A compared module, and templates of published wheels, as they are printed. */
struct module {
	const char *name, *binding;
	const char *const *units;
	size_t unit_count, cuda_count;
};

struct prebuilt {
	const char *from;
	uint64_t names;
};

/* One FILE of the command line. */
struct subject {
	const char *path;
	const struct ws_json_doc *doc; /* NULL: it cannot be read */
	const char *folder;            /* absolute: the folder of the file */
	struct ws_recipe recipe;
	bool is_read; /* the text has no mistake */
	/* The sources with the patches that always apply, then once for each conditional patch. */
	const struct ws_tree *trees;
	size_t tree_count;
	struct ws_recipe_view view;
	struct ws_source_found source;
	const char *why_no_sources; /* NULL: they were compared */
	uint64_t source_bytes;
	struct problems problems;
	/* For the output. */
	bool is_compared;
	unsigned marked[MARKED_SHOWN]; /* lines with comments that a draft leaves for a person */
	const unsigned *marked_lines;
	size_t marked_count, marked_more; /* more: beyond MARKED_SHOWN */
	struct module *modules;
	struct prebuilt *prebuilt;
	size_t module_count;
};

struct checking {
	struct ws_session *s;
	bool fetch;
	struct ws_fetch means; /* store NULL: there are none, why_no_means says why */
	const char *why_no_means;
	struct subject *subjects;
	size_t count;
};

/* ---- problems ---- */

static void
add_problem(struct problems *problems, const struct ws_err *err)
{
	for (size_t i = 0; i < problems->list.len; i++) { /* a mistake in every_extension is one */
		const struct ws_err *other = problems->list.at[i].err;
		if (err->place[0] && strcmp(other->place, err->place) == 0
			&& strcmp(other->text, err->text) == 0) {
			return;
		}
	}
	if (problems->list.len == PROBLEMS_KEPT) {
		problems->more++;
		return;
	}
	struct ws_err *kept = WS_NEW(problems->a, struct ws_err);
	*kept = *err;
	*ws_vec_push(&problems->list, problems->a) =
		(struct problem){kept, kept->place, kept->text, kept->cure};
}

static void
add_problem_at(struct subject *x, const struct ws_json *value, const char *text, const char *cure)
{
	struct ws_err err;
	ws_err_set(&err, WS_ERR_CONFIG, "%s", text);
	if (value) {
		ws_err_at(&err, x->doc->name, x->doc->text, value->offset, value->len);
	}
	if (cure) {
		ws_err_cure(&err, "%s", cure);
	}
	add_problem(&x->problems, &err);
}

/* A recipe is looked up as <package>/<version>.json. */
static void
check_place(struct subject *x)
{
	struct ws_arena *a = x->problems.a;
	const char *folder = ws_path_base(x->folder), *file = ws_path_base(x->doc->name);
	size_t len = strlen(file);
	struct ws_version version;
	if (strcmp(ws_package_normal(folder, a), x->recipe.name) != 0) {
		add_problem_at(x, ws_json_find(x->doc->root, "name"),
			ws_arena_printf(a, "the file is in the folder '%s', but '%s' is searched for it",
				folder, x->recipe.name),
			NULL);
	}
	if (!ws_ends_with(file, ".json")
		|| !ws_version_parse(ws_arena_copy(a, file, len - 5), a, &version)
		|| ws_version_cmp(&version, &x->recipe.version) != 0) {
		add_problem_at(x, ws_json_find(x->doc->root, "version"),
			ws_arena_printf(
				a, "the file is '%s', but '%s.json' is opened", file, x->recipe.version.text),
			NULL);
	}
}

/* Without --fetch nothing is downloaded, and no event says that a download was left out. */
static bool
open_means(struct checking *c, struct ws_err *err)
{
	struct ws_session *s = c->s;
	if (!ws_session_open_net(s, NULL, !c->fetch, err)) {
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

/* False with an empty err: the sources are not in the store. */
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
			add_problem(&x->problems, err);
		}
	}
	x->trees = trees;
	x->tree_count = count;
	return ws_fs_walk(x->source.tree.path, add_size, &x->source_bytes, err);
}

static void
report(void *self, const struct ws_err *err)
{
	add_problem(self, err);
}

/* False with an empty err: problems lists the mistakes. */
static bool
read_subject(struct subject *x, struct ws_arena *a, struct ws_err *err)
{
	struct ws_document document;
	if (!ws_document_read(x->path, "recipe", a, &document, err)) {
		return ws_ends_with(x->path, ".json")
			? false
			: ws_err_cure(err, "name its file: recipes/PACKAGE/VERSION.json");
	}
	x->doc = document.doc;
	if (!ws_recipe_parse_all(document.doc, document.folder, a, &x->recipe, report, &x->problems)) {
		*err = (struct ws_err){0};
		return false;
	}
	x->is_read = true;
	x->folder = document.folder;
	return true;
}

/* False when the run was asked to stop. */
static bool
check_subject(struct checking *c, struct subject *x, struct ws_err *err)
{
	struct ws_err one = {0};
	if (!x->is_read) {
		return true;
	}
	check_place(x);
	if (fetch_all(c, x, &one)) {
		struct ws_arena *a = x->problems.a;
		struct ws_listing *listings = WS_NEW_N(a, struct ws_listing, x->tree_count);
		for (size_t i = 0; i < x->tree_count; i++) {
			listings[i] = ws_tree_listing(&x->trees[i]);
		}
		ws_recipe_check(&x->recipe, listings, x->tree_count, a, &x->view);
		for (size_t i = 0; i < x->view.problems.list.len; i++) {
			const struct ws_recipe_problem *problem = &x->view.problems.list.at[i];
			add_problem_at(x, ws_recipe_value_at(x->doc->root, problem->where, a), problem->text,
				problem->cure);
		}
	} else if (ws_err_is_stop(&one)) {
		*err = one;
		return false;
	} else if (one.kind != WS_ERR_NONE) {
		x->why_no_sources = "they cannot be fetched";
		add_problem(&x->problems, &one);
	}
	return true;
}

static void
print_subject(const struct subject *x, const struct ws_out *out)
{
	size_t problems = x->problems.list.len + x->problems.more;
	ws_out_result(out, "%s\n", x->path);
	if (x->is_read) {
		ws_out_result(out, "  recipe   %s %s\n", x->recipe.name, x->recipe.version.text);
	}
	if (x->trees) {
		char size[WS_FORMAT_BYTES];
		ws_out_result(out, "  sources  %s: %zu files, %s\n",
			ws_path_base(x->source.spec->file ? x->source.spec->file
					: x->source.spec->url     ? x->source.spec->url
											  : x->source.spec->path),
			x->source.tree.count, ws_format_size(x->source_bytes, size));
		for (size_t i = 0; i < x->module_count; i++) {
			const struct module *module = &x->modules[i];
			ws_out_result(out, "  module   %s (%s): %zu unit%s, %zu of them CUDA\n", module->name,
				module->binding, module->unit_count, module->unit_count == 1 ? "" : "s",
				module->cuda_count);
		}
		const struct ws_python_part *part = &x->recipe.python;
		size_t packages = part->package_count, count = packages + part->module_count;
		ws_out_result(out, "%s", x->view.files.len > 0 ? "  python   " : "");
		for (size_t i = 0; x->view.files.len > 0 && i < count; i++) {
			ws_out_result(out, "%s%s", i > 0 ? ", " : "",
				i < packages ? part->packages[i] : part->modules[i - packages]);
		}
		if (x->view.files.len > 0) {
			ws_out_result(out, ": %zu files\n", x->view.files.len);
		}
	} else if (x->why_no_sources) {
		ws_out_result(out, "  sources  not looked at: %s\n", x->why_no_sources);
	}
	for (size_t i = 0; i < x->recipe.prebuilt_count; i++) {
		ws_out_result(out, "  prebuilt %s: %ju name%s\n", x->prebuilt[i].from,
			(uintmax_t)x->prebuilt[i].names, x->prebuilt[i].names == 1 ? "" : "s");
	}
	for (size_t i = 0; i < x->marked_count; i++) {
		ws_out_result(out, i == 0 ? "  marked   line%s " : ", ", x->marked_count == 1 ? "" : "s");
		ws_out_result(out, "%u", x->marked[i]);
	}
	if (x->marked_count > 0) {
		ws_out_result(out, "%s: still to check by hand\n", x->marked_more ? " and more" : "");
	}
	size_t idle = x->view.idle_cuda;
	if (idle > 0) {
		ws_out_result(out, "  warning  %zu .cu file%s in the sources, and no module compiles one\n",
			idle, idle == 1 ? "" : "s");
	}
	if (problems > 0) {
		ws_out_result(out, "  %zu problem%s\n", problems, problems == 1 ? "" : "s");
	} else {
		ws_out_result(out, "  %s\n",
			x->trees ? "all that it names is there"
					 : "the text is right; what it names was not looked for");
	}
}

/* ---- JSON ---- */

static const struct ws_field module_fields[] = {
	WS_VALUE("module", struct module, name, WS_ALWAYS, NULL),
	WS_VALUE("binding", struct module, binding, WS_ALWAYS, "as in the recipe"),
	WS_LIST("units", struct module, units, unit_count, WS_ALWAYS, "the compiled files"),
};
static const struct ws_table module_table = {NULL, module_fields, WS_LEN(module_fields)};

static const struct ws_field prebuilt_fields[] = {
	WS_VALUE("from", struct prebuilt, from, WS_ALWAYS, "whose wheels"),
	WS_VALUE("names", struct prebuilt, names, WS_ALWAYS, "how many names were published"),
};
static const struct ws_table prebuilt_table = {NULL, prebuilt_fields, WS_LEN(prebuilt_fields)};

static const struct ws_field problem_fields[] = {
	WS_VALUE("place", struct problem, place, WS_ALWAYS, "file:line:column, or empty"),
	WS_VALUE("text", struct problem, text, WS_ALWAYS, NULL),
	WS_VALUE("cure", struct problem, cure, WS_ALWAYS, "lines of advice, or empty"),
};
static const struct ws_table problem_table = {NULL, problem_fields, WS_LEN(problem_fields)};

#define SUBJECT struct subject
static const struct ws_field recipe_fields[] = {
	WS_VALUE("path", SUBJECT, path, WS_ALWAYS, NULL),
	WS_VALUE("name", SUBJECT, recipe.name, WS_OR_NULL, "null: the text has a mistake"),
	WS_VALUE("version", SUBJECT, recipe.version.text, WS_OR_NULL, NULL),
	WS_VALUE("sources_checked", SUBJECT, is_compared, WS_ALWAYS, NULL),
	WS_VALUE("why_not", SUBJECT, why_no_sources, WS_OR_NULL, NULL),
	WS_VALUE("source_files", SUBJECT, source.tree.count, WS_IF_ANY, "of the sources; absent: 0"),
	WS_VALUE("source_bytes", SUBJECT, source_bytes, WS_IF_ANY, "absent: 0"),
	WS_VALUE("source_digest", SUBJECT, source.tree.digest, WS_IF_ANY, "of the tree of sources"),
	WS_VALUE("python_files", SUBJECT, view.files.len, WS_IF_ANY, "absent: 0"),
	WS_LIST("marked_lines", SUBJECT, marked_lines, marked_count, WS_ALWAYS,
		"lines with a comment \"check:\" that a draft left, at most 20"),
	WS_LIST_OF("modules", SUBJECT, modules, module_count, module_table, WS_ALWAYS, NULL),
	WS_LIST_OF("prebuilt", SUBJECT, prebuilt, recipe.prebuilt_count, prebuilt_table, WS_ALWAYS,
		"the templates of published wheels"),
	WS_LIST_OF(
		"problems", SUBJECT, problems.list.at, problems.list.len, problem_table, WS_ALWAYS, NULL),
};
static const struct ws_table recipe_table = {
	"a checked recipe", recipe_fields, WS_LEN(recipe_fields)};

static const struct ws_field result_fields[] = {
	WS_FIXED("schema", "wheelsmith.recipe-check/1"),
	WS_LIST_OF("recipes", struct checking, subjects, count, recipe_table, WS_ALWAYS, NULL),
};
const struct ws_table ws_recipe_check_table = {NULL, result_fields, WS_LEN(result_fields)};

/* Fills the members for the output. */
static void
conclude(struct subject *x, struct ws_arena *a)
{
	unsigned line = 1;
	const char *text = x->doc ? x->doc->text : "";
	for (const char *end; *text; text = end + (*end == '\n'), line++) {
		end = text + strcspn(text, "\n");
		if (memmem(text, (size_t)(end - text), "// check:", 9)) {
			if (x->marked_count < MARKED_SHOWN) {
				x->marked[x->marked_count++] = line;
			} else {
				x->marked_more++;
			}
		}
	}
	x->marked_lines = x->marked;
	x->is_compared = x->trees != NULL;
	x->module_count = x->trees ? x->recipe.extension_count : 0;
	x->modules = WS_NEW_N(a, struct module, x->module_count);
	for (size_t i = 0; i < x->module_count; i++) {
		const struct ws_recipe_module *module = &x->view.modules[i];
		const char **units = WS_NEW_N(a, const char *, module->unit_count);
		x->modules[i] = (struct module){module->extension->module,
			ws_binding_words[module->extension->binding], units, module->unit_count, 0};
		for (size_t j = 0; j < module->unit_count; j++) {
			units[j] = module->units[j].path;
			x->modules[i].cuda_count += module->units[j].kind >= WS_UNIT_CUDA;
		}
	}
	x->prebuilt = WS_NEW_N(a, struct prebuilt, x->recipe.prebuilt_count);
	for (size_t i = 0; i < x->recipe.prebuilt_count; i++) {
		x->prebuilt[i] = (struct prebuilt){
			x->recipe.prebuilt[i].from, ws_prebuilt_count(&x->recipe.prebuilt[i])};
	}
}

static bool
check_all(struct checking *c, struct ws_err *err)
{
	const ws_words *files = &c->s->words;
	struct ws_arena *a = c->s->a;
	c->subjects = WS_NEW_N(a, struct subject, files->len);
	c->count = files->len;
	for (size_t i = 0; i < files->len; i++) {
		struct subject *x = &c->subjects[i];
		struct ws_err one = {0};
		x->path = files->at[i];
		x->problems.a = a;
		if (!read_subject(x, a, &one) && one.kind != WS_ERR_NONE) {
			add_problem(&x->problems, &one);
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
		struct subject *x = &c->subjects[i];
		if (!check_subject(c, x, err)) {
			return false;
		}
		conclude(x, a);
		for (size_t k = 0; k < x->problems.list.len; k++) {
			ws_out_error(&c->s->out, x->problems.list.at[k].err);
		}
		if (x->problems.more > 0) {
			ws_out_warn(&c->s->out, "%s: %zu more problems", x->path, x->problems.more);
		}
		if (!c->s->globals.json) {
			print_subject(x, &c->s->out);
		}
	}
	if (c->s->globals.json) {
		ws_session_print_json(c->s, &ws_recipe_check_table, c);
	}
	/* The exit code is that of the problems, if all are of one kind. */
	enum ws_err_kind kind = WS_ERR_NONE;
	for (size_t i = 0; i < c->count; i++) {
		const struct problems *problems = &c->subjects[i].problems;
		for (size_t j = 0; j < problems->list.len; j++) {
			enum ws_err_kind one = problems->list.at[j].err->kind;
			kind = kind == WS_ERR_NONE || kind == one ? one : WS_ERR_NEGATIVE;
		}
	}
	*err = (struct ws_err){.kind = kind};
	return kind == WS_ERR_NONE;
}

bool
ws_cmd_recipe_check(struct ws_session *s, struct ws_err *err)
{
	struct checking c = {.s = s};
	const struct ws_option options[] = {
		{"fetch", 0, WS_OPTION_FLAG, &c.fetch, NULL, "bring the sources that are not in the store"},
	};
	struct ws_usage usage = {
		.command = "recipe check",
		.synopsis = "[--fetch] FILE...",
		.summary =
			"Compares recipes with their sources, if those are in the store: looks up every\n"
			"path, pattern, folder and package that a recipe names, and applies patches.\n"
			"Compiles no file. Reports all problems.",
		WS_OPTIONS(options),
		.least = 1,
		.most = UINT_MAX,
	};
	return ws_command_options(s, &usage, err) && check_all(&c, err);
}
