#include "recipe/recipe_files.h"

#include "base/fs.h"
#include "recipe/command_rules.h"

#include <fnmatch.h>

void
ws_recipe_problem_add(struct ws_recipe_problems *problems, const char *list, size_t index,
	const char *cure, const char *format, ...)
{
	va_list values;
	if (!problems) {
		return;
	}
	struct ws_recipe_problem *problem = ws_vec_push(&problems->list, problems->a);
	va_start(values, format);
	problem->text = ws_arena_vprintf(problems->a, format, values);
	va_end(values);
	problem->where = ws_arena_printf(problems->a, "%s/%zu", list, index);
	problem->cure = cure;
}

bool
ws_unit_kind_of(const char *path, enum ws_unit_kind *kind)
{
	static const struct {
		const char *ending;
		enum ws_unit_kind kind;
	} endings[] = {
		{".c", WS_UNIT_C},
		{".cc", WS_UNIT_CXX},
		{".cpp", WS_UNIT_CXX},
		{".cxx", WS_UNIT_CXX},
		{".cu", WS_UNIT_CUDA},
	};
	for (size_t i = 0; i < WS_LEN(endings); i++) {
		if (ws_ends_with(path, endings[i].ending)) {
			*kind = endings[i].kind;
			return true;
		}
	}
	return false;
}

bool
ws_unit_is_nvcc(enum ws_unit_kind kind)
{
	return kind == WS_UNIT_CUDA || kind == WS_UNIT_DEVICE;
}

const char *
ws_unit_symbol(const char *path, struct ws_arena *a)
{
	const char *base = ws_path_base(path), *dot = strrchr(base, '.');
	char *symbol = ws_arena_copy(a, base, dot ? (size_t)(dot - base) : strlen(base));
	for (char *c = symbol; *c; c++) {
		bool digit = ws_is_digit(*c);
		bool letter = ws_is_letter(*c);
		*c = letter || (digit && c > symbol) ? *c : '_';
	}
	return symbol;
}

/* A module in the making. */
struct making {
	const struct ws_extension *extension;
	const struct ws_listing *listing;
	struct ws_arena *a;
	struct ws_recipe_problems *problems;
	bool device; /* what is added is for the list `device` */
	WS_VEC(struct ws_unit) units;
};

/* @a list and @a index are the place in the recipe. */
static void
add_unit(struct making *m, const char *path, unsigned files, const char *list, size_t index)
{
	enum ws_unit_kind kind;
	if (!ws_unit_kind_of(path, &kind)) {
		ws_recipe_problem_add(
			m->problems, list, index, NULL, "'%s' is not compiled (" WS_UNIT_ENDINGS " are)", path);
		return;
	}
	if (m->device && kind != WS_UNIT_CUDA) {
		ws_recipe_problem_add(
			m->problems, list, index, NULL, "'%s' has no image (.cu files have)", path);
		return;
	}
	kind = m->device ? WS_UNIT_DEVICE : kind;
	const char *symbol = m->device ? ws_unit_symbol(path, m->a) : NULL;
	for (size_t i = 0; i < m->units.len; i++) {
		const struct ws_unit *other = &m->units.at[i];
		if (strcmp(other->path, path) == 0) {
			ws_recipe_problem_add(m->problems, list, index, "leave it out of one of the two",
				"'%s' is listed twice as a source of '%s'", path, m->extension->module);
			return;
		}
		/* Two images cannot stand behind one symbol. */
		if (m->device && other->kind == WS_UNIT_DEVICE
			&& strcmp(ws_unit_symbol(other->path, m->a), symbol) == 0) {
			ws_recipe_problem_add(m->problems, list, index, "rename one of the two",
				"'%s' and '%s' would stand behind one symbol, '%s'", other->path, path, symbol);
		}
	}
	if (files == 1 && m->problems && m->listing && !ws_listing_find(m->listing, path)) {
		ws_recipe_problem_add(
			m->problems, list, index, NULL, "the sources have no file '%s'", path);
		return;
	}
	if (files == 1 && !ws_name_is_plain(path)) {
		ws_recipe_problem_add(m->problems, list, index,
			"rename it in a patch of the recipe: compilers hand names on to a shell",
			"the name '%s' holds more than " WS_PLAIN_LETTERS, path);
	}
	*ws_vec_push(&m->units, m->a) = (struct ws_unit){path, kind, files};
}

static void
add_lists(struct making *m, const struct ws_source_list *lists, size_t count, const char *place)
{
	for (size_t i = 0; i < count; i++) {
		const struct ws_source_list *list = &lists[i];
		for (size_t j = 0; j < list->path_count; j++) {
			add_unit(m, list->paths[j], 1, place, i);
		}
		if (list->glob && !m->listing) {
			add_unit(m, list->glob, list->expected, place, i);
			continue;
		}
		unsigned found = 0;
		for (size_t j = 0; list->glob && j < m->listing->count; j++) {
			const struct ws_tree_entry *entry = &m->listing->entries[j];
			if (entry->kind != WS_TREE_LINK
				&& fnmatch(list->glob, entry->path, FNM_PATHNAME) == 0) {
				found++;
				add_unit(m, entry->path, 1, place, i);
			}
		}
		if (list->glob && found != list->expected) {
			ws_recipe_problem_add(m->problems, place, i, NULL,
				"'%s' matches %u files where the recipe expects %u", list->glob, found,
				list->expected);
		}
	}
}

/* ---- flags ---- */

/* @a place is the JSON object of the extension. */
static void
check_flags(struct making *m, const struct ws_machine *machine, const char *place)
{
	const struct ws_flags *flags = &m->extension->flags;
	const struct {
		const char *key, *const *words;
		size_t count;
		enum ws_flag_tool tool;
	} lists[] = {
		{"cxx_flags", flags->cxx, flags->cxx_count, WS_FLAG_CXX},
		{"nvcc_flags", flags->nvcc, flags->nvcc_count, WS_FLAG_NVCC},
		{"link_flags", flags->link, flags->link_count, WS_FLAG_LINK},
		{"c_flags", flags->c, flags->c_count, WS_FLAG_CXX},
	};
	for (size_t i = 0; i < WS_LEN(lists); i++) {
		const char *list = ws_arena_printf(m->a, "%s/%s", place, lists[i].key);
		const char *const *words = lists[i].words;
		for (size_t j = 0; j < lists[i].count; j++) {
			const char *cure = ws_flag_problem(words, j, lists[i].tool);
			if (cure) {
				ws_recipe_problem_add(
					m->problems, list, j, cure, "'%s' cannot be a flag", words[j]);
			}
			cure = machine ? ws_flag_foreign(words, j, lists[i].tool, machine) : NULL;
			if (cure) {
				ws_recipe_problem_add(
					m->problems, list, j, cure, "'%s' is not for %s", words[j], machine->name);
			}
		}
	}
}

/* ---- a module ---- */

struct ws_recipe_module
ws_recipe_module(const struct ws_recipe *recipe, size_t index, const struct ws_listing *listing,
	const struct ws_point_view *point, struct ws_arena *a, struct ws_recipe_problems *problems)
{
	const struct ws_extension *extension = &recipe->extensions[index];
	struct making m = {extension, listing, a, problems, false, {0}};
	struct ws_recipe_module module = {.extension = extension};
	const char *place = ws_arena_printf(a, "extensions/%zu", index);
	const char *list = ws_arena_printf(a, "%s/sources", place);
	add_lists(&m, extension->sources, extension->source_list_count, list);
	m.device = true;
	add_lists(&m, extension->device, extension->device_list_count,
		ws_arena_printf(a, "%s/device", place));
	for (size_t i = 0; i < extension->include_count; i++) {
		if (!ws_name_is_plain(extension->include[i])) {
			ws_recipe_problem_add(problems, ws_arena_printf(a, "%s/include", place), i,
				"rename it in a patch of the recipe: compilers hand names on to a shell",
				"the name '%s' holds more than " WS_PLAIN_LETTERS, extension->include[i]);
		}
	}
	check_flags(&m, point ? point->machine : NULL, place);
	module.units = m.units.at;
	module.unit_count = m.units.len;
	for (size_t i = 0; i < m.units.len; i++) {
		enum ws_unit_kind kind = m.units.at[i].kind;
		module.cuda = module.cuda || ws_unit_is_nvcc(kind);
		module.runtime = module.runtime || kind == WS_UNIT_CUDA;
		module.cxx = module.cxx || kind == WS_UNIT_CXX || kind == WS_UNIT_CUDA;
	}
	return module;
}

const struct ws_estimate *
ws_recipe_estimate(const struct ws_recipe *recipe, const char *path)
{
	for (size_t i = 0; i < recipe->estimate_count; i++) {
		if (fnmatch(recipe->estimates[i].match, path, 0) == 0) {
			return &recipe->estimates[i];
		}
	}
	return NULL;
}

const struct ws_patch *const *
ws_recipe_patches(const struct ws_recipe *recipe, const struct ws_point_view *point,
	struct ws_arena *a, size_t *count)
{
	const struct ws_patch **patches = WS_NEW_N(a, const struct ws_patch *, recipe->patch_count + 1);
	*count = 0;
	for (size_t i = 0; i < recipe->patch_count; i++) {
		const struct ws_condition *when = &recipe->patches[i].when;
		if (point ? ws_condition_holds(when, point) : ws_condition_is_empty(when)) {
			patches[(*count)++] = &recipe->patches[i];
		}
	}
	return patches;
}

/* ---- Python files ---- */

struct part {
	const struct ws_python_part *rules;
	const struct ws_listing *listing;
	struct ws_arena *a;
};

/* The path in the wheel: the part below root; NULL when it is elsewhere. */
static const char *
installed_path(const struct part *p, const char *path)
{
	const char *root = p->rules->root ? p->rules->root : "";
	size_t len = strlen(root);
	if (len == 0) {
		return path;
	}
	return strncmp(path, root, len) == 0 && path[len] == '/' ? path + len + 1 : NULL;
}

/* Every folder from @a package down to the file's own must be a package. */
static bool
is_in_package(const struct part *p, const char *package, const char *path)
{
	size_t len = strlen(package);
	if (strncmp(path, package, len) != 0 || path[len] != '/') {
		return false;
	}
	for (const char *slash = path + len; (slash = strchr(slash + 1, '/'));) {
		const char *folder = ws_arena_copy(p->a, path, (size_t)(slash - path));
		const char *marker = ws_path_join(p->a, folder, "__init__.py", NULL);
		const char *root = p->rules->root ? p->rules->root : "";
		marker = root[0] ? ws_path_join(p->a, root, marker, NULL) : marker;
		if (!ws_listing_find(p->listing, marker)) {
			return false;
		}
	}
	return true;
}

static bool
matches_any(const char *const *globs, size_t count, const char *path)
{
	for (size_t i = 0; i < count; i++) {
		if (fnmatch(globs[i], path, 0) == 0) {
			return true;
		}
	}
	return false;
}

static bool
is_taken(const struct part *p, const char *path)
{
	const struct ws_python_part *rules = p->rules;
	if (matches_any(rules->exclude, rules->exclude_count, path)) {
		return false;
	}
	if (matches_any(rules->data, rules->data_count, path)) {
		return true;
	}
	for (size_t i = 0; i < rules->module_count; i++) {
		if (strcmp(rules->modules[i], path) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < rules->package_count && ws_ends_with(path, ".py"); i++) {
		if (is_in_package(p, rules->packages[i], path)) {
			return true;
		}
	}
	return false;
}

/* A package has the files below its folder, a module has one file. */
static bool
takes_any(const ws_python_files *files, const char *name, char end)
{
	size_t len = strlen(name);
	for (size_t i = 0; i < files->len; i++) {
		const char *path = files->at[i].path;
		if (strncmp(path, name, len) == 0 && path[len] == end) {
			return true;
		}
	}
	return false;
}

void
ws_python_files_list(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_arena *a, ws_python_files *files, struct ws_recipe_problems *problems)
{
	struct part p = {&recipe->python, listing, a};
	for (size_t i = 0; i < listing->count; i++) {
		const struct ws_tree_entry *entry = &listing->entries[i];
		const char *path = installed_path(&p, entry->path);
		if (path && is_taken(&p, path)) {
			bool executable = entry->kind == WS_TREE_EXECUTABLE;
			*ws_vec_push(files, a) = (struct ws_python_file){path, entry->path, executable};
		}
	}
	/* A rule that takes nothing is a mistake in the recipe, or the wrong sources. */
	for (size_t i = 0; i < p.rules->package_count; i++) {
		if (!takes_any(files, p.rules->packages[i], '/')) {
			ws_recipe_problem_add(problems, "python/packages", i, NULL,
				"the sources have no Python package '%s'", p.rules->packages[i]);
		}
	}
	for (size_t i = 0; i < p.rules->module_count; i++) {
		if (!takes_any(files, p.rules->modules[i], '\0')) {
			ws_recipe_problem_add(problems, "python/modules", i, NULL,
				"the sources have no Python module '%s'", p.rules->modules[i]);
		}
	}
}

void
ws_python_files_check_data(const struct ws_recipe *recipe, const struct ws_listing *listing,
	struct ws_recipe_problems *problems)
{
	const struct ws_python_part *rules = &recipe->python;
	struct part p = {rules, listing, problems->a};
	for (size_t i = 0; i < rules->data_count; i++) {
		bool matched = false;
		for (size_t k = 0; k < listing->count && !matched; k++) {
			const char *path = installed_path(&p, listing->entries[k].path);
			matched = path && fnmatch(rules->data[i], path, 0) == 0
				&& !matches_any(rules->exclude, rules->exclude_count, path);
		}
		if (!matched) {
			ws_recipe_problem_add(problems, "python/data", i, NULL,
				"the pattern '%s' matches no file of the sources", rules->data[i]);
		}
	}
}
