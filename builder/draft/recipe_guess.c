/* recipe_guess.c - metadata and Python files; extensions are guess_extension.c's. */
#include "draft/recipe_guess.h"

#include "base/fs.h"
#include "config/values.h"
#include "draft/guess_extension.h"
#include "draft/pkg_info.h"
#include "draft/source_files.h"
#include "model/tag.h"

#include <fnmatch.h>
#include <string.h>

/* Folders below @a root ("" or "src/") that are packages and whose own folder is not. */
static void
find_packages(const struct ws_tree *tree, const char *root, struct ws_arena *a, ws_texts *found)
{
	size_t skip = strlen(root);
	for (size_t i = 0; i < tree->count; i++) {
		const char *path = tree->entries[i].path;
		const char *slash = strncmp(path, root, skip) == 0 ? strchr(path + skip, '/') : NULL;
		if (!slash || strcmp(slash, "/__init__.py") != 0) {
			continue;
		}
		static const char *const sources[] = {"csrc", "include", "src"};
		size_t len = (size_t)(slash - path) - skip;
		const char *name = ws_arena_copy(a, path + skip, len);
		if (ws_is_module_name(name) && !strchr(name, '.') && ws_guess_is_own(path)
			&& !ws_guess_is_one_of(name, len, sources, WS_LEN(sources))) {
			ws_texts_add(found, name, a);
		}
	}
}

/* The data files that setup.py has in the packages. */
static void
guess_data(struct ws_recipe_draft *draft, const struct ws_setup_py *setup)
{
	struct ws_python_part *part = &draft->recipe.python;
	ws_texts data = {0};
	for (size_t i = 0; i < setup->data.len; i++) {
		for (size_t k = 0; k < part->package_count; k++) {
			size_t len = strlen(part->packages[k]);
			const char *pattern = setup->data.at[i].text;
			if (strncmp(pattern, part->packages[k], len) == 0 && pattern[len] == '/') {
				ws_texts_add(&data, pattern, draft->a);
			}
		}
	}
	part->data = data.at;
	part->data_count = data.len;
	if (data.len > 0) {
		ws_draft_note(draft, "python.data",
			"package_data and include_package_data of setup.py; the wheel may work without");
	}
}

static bool
is_data(const struct ws_python_part *part, const char *path)
{
	size_t skip = part->root[0] ? strlen(part->root) + 1 : 0;
	for (size_t i = 0; i < part->data_count; i++) {
		if (strlen(path) > skip && fnmatch(part->data[i], path + skip, 0) == 0) {
			return true;
		}
	}
	return false;
}

/* Files of the packages that are neither Python nor sources: data, perhaps. */
static void
note_data(const struct ws_tree *tree, struct ws_recipe_draft *draft, const ws_texts *packages)
{
	static const char *const known[] = {".py", ".pyi", ".cu", ".cuh", ".cpp", ".cc", ".cxx", ".c",
		".h", ".hpp", ".so", ".md", ".txt"};
	ws_texts data = {0};
	const char *root = draft->recipe.python.root;
	for (size_t i = 0; i < tree->count; i++) {
		const char *path = tree->entries[i].path;
		bool counts = ws_guess_is_own(path) && !is_data(&draft->recipe.python, path);
		for (size_t k = 0; k < WS_LEN(known) && counts; k++) {
			counts = !ws_ends_with(path, known[k]);
		}
		for (size_t k = 0; k < packages->len && counts; k++) {
			const char *folder = ws_path_join(
				draft->a, root[0] ? root : packages->at[k], root[0] ? packages->at[k] : "", NULL);
			size_t len = strlen(folder);
			len -= len > 0 && folder[len - 1] == '/';
			if (strncmp(path, folder, len) == 0 && path[len] == '/') {
				*ws_vec_push(&data, draft->a) = path;
			}
		}
	}
	if (data.len > 0) {
		ws_draft_note(draft, "python",
			"other files in them, shipped only if \"data\" names them: %s",
			ws_texts_list(&data, 5, draft->a));
	}
}

static void
guess_python(
	const struct ws_tree *tree, const struct ws_setup_py *setup, struct ws_recipe_draft *draft)
{
	struct ws_python_part *part = &draft->recipe.python;
	ws_texts packages = {0};
	part->root = "";
	find_packages(tree, "", draft->a, &packages);
	if (packages.len == 0) {
		find_packages(tree, "src/", draft->a, &packages);
		part->root = packages.len > 0 ? "src" : "";
	}
	part->packages = packages.at;
	part->package_count = packages.len;
	if (packages.len > 0) {
		ws_draft_note(
			draft, "python", "the folders with an __init__.py; setup.py may leave some out");
		guess_data(draft, setup);
		note_data(tree, draft, &packages);
		return;
	}
	char *single = ws_package_file_part(draft->recipe.distribution, draft->a);
	const char *module = ws_arena_printf(draft->a, "%s.py", single);
	if (ws_tree_lookup(tree, module)) {
		ws_texts modules = {0};
		ws_texts_add(&modules, module, draft->a);
		part->modules = modules.at;
		part->module_count = 1;
		ws_draft_note(draft, "python", "the file of the package's name");
	}
}

/* The license files that PKG-INFO names and that are there; else those at the top by their names. */
static void
guess_license(
	const struct ws_tree *tree, struct ws_recipe_draft *draft, const struct ws_pkg_info *info)
{
	static const char *const stems[] = {"LICENSE", "LICENCE", "COPYING", "NOTICE", "AUTHORS"};
	struct ws_metadata *m = &draft->recipe.metadata;
	ws_texts files = {0};
	for (size_t i = 0; i < m->license_file_count; i++) {
		if (ws_tree_lookup(tree, m->license_files[i])) {
			ws_texts_add(&files, m->license_files[i], draft->a);
		}
	}
	bool named = files.len > 0;
	for (size_t i = 0; i < tree->count && !named; i++) {
		const char *path = tree->entries[i].path;
		for (size_t k = 0; k < WS_LEN(stems) && !strchr(path, '/'); k++) {
			if (ws_starts_with(path, stems[k])) {
				ws_texts_add(&files, path, draft->a);
			}
		}
	}
	m->license_files = files.at;
	m->license_file_count = files.len;
	if (!named && files.len > 0) {
		ws_draft_note(draft, "metadata.license_files", "by their names");
	}
	if (info->has_long_license && !m->license) {
		ws_draft_note(draft, "metadata",
			"PKG-INFO holds the licence's whole text; "
			"\"license\": \"...\" would name it");
	}
}

/* PEP 639: an expression stands alone. */
static void
drop_old_license(struct ws_recipe_draft *draft)
{
	struct ws_metadata *m = &draft->recipe.metadata;
	if (!m->license_expression) {
		return;
	}
	ws_texts kept = {0};
	for (size_t i = 0; i < m->classifier_count; i++) {
		if (!ws_starts_with(m->classifiers[i], "License ::")) {
			*ws_vec_push(&kept, draft->a) = m->classifiers[i];
		}
	}
	m->license = NULL;
	m->classifiers = kept.at;
	m->classifier_count = kept.len;
}

static void
guess_description(const struct ws_tree *tree, struct ws_recipe_draft *draft)
{
	static const char *const names[] = {"README.md", "README.rst", "README.txt", "README"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		if (ws_tree_lookup(tree, names[i])) {
			draft->recipe.metadata.description_file = names[i];
			return;
		}
	}
}

static void
read_requirements(const struct ws_tree *tree, struct ws_recipe_draft *draft)
{
	struct ws_metadata *m = &draft->recipe.metadata;
	for (size_t i = 0; i < tree->count && m->require_count == 0; i++) {
		const char *path = tree->entries[i].path;
		WS_AUTO_BUF struct ws_buf text = {0};
		if (ws_ends_with(path, ".egg-info/requires.txt") && ws_guess_read(tree, path, &text)) {
			ws_requires_txt_read(ws_buf_str(&text), draft->a, m);
		}
	}
	if (m->require_count == 0) {
		const char **torch = WS_NEW(draft->a, const char *);
		*torch = "torch";
		m->requires = torch;
		m->require_count = 1;
		ws_draft_note(draft, "metadata.requires", "the sources name no requirement");
	}
}

static bool
is_repository(const char *url)
{
	static const char *const hosts[] = {
		"https://github.com/", "https://gitlab.com/", "https://codeberg.org/"};
	for (size_t i = 0; url && i < WS_LEN(hosts); i++) {
		const char *rest = ws_starts_with(url, hosts[i]) ? url + strlen(hosts[i]) : "";
		const char *slash = strchr(rest, '/');
		if (slash && slash != rest && slash[1] && !strchr(slash + 1, '/')) {
			return true;
		}
	}
	return false;
}

static void
guess_repository(struct ws_recipe_draft *draft)
{
	const struct ws_metadata *m = &draft->recipe.metadata;
	draft->repository = is_repository(m->home_page) ? m->home_page : NULL;
	for (size_t i = 0; i + 1 < m->project_url_count && !draft->repository; i += 2) {
		draft->repository = is_repository(m->project_urls[i + 1]) ? m->project_urls[i + 1] : NULL;
	}
}

static void
guess_metadata(const struct ws_tree *tree, struct ws_recipe_draft *draft)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_recipe *recipe = &draft->recipe;
	struct ws_pkg_info info = {0};
	if (ws_guess_read(tree, "PKG-INFO", &text)) {
		ws_pkg_info_read(ws_buf_str(&text), draft->a, &info);
	}
	if (info.name && strcmp(ws_package_normal(info.name, draft->a), recipe->name) == 0) {
		recipe->distribution = info.name;
	}
	recipe->metadata = info.metadata;
	if (info.metadata.requires_python
		&& !ws_specifiers_parse(info.metadata.requires_python, draft->a)) {
		recipe->metadata.requires_python = NULL;
	}
	if (!info.metadata.summary) {
		ws_draft_note(draft, "metadata.summary", "PKG-INFO has none");
	}
	guess_license(tree, draft, &info);
	drop_old_license(draft);
	guess_description(tree, draft);
	if (recipe->metadata.require_count == 0) {
		read_requirements(tree, draft);
	}
	guess_repository(draft);
}

static void
guess_check(struct ws_recipe_draft *draft)
{
	struct ws_recipe *recipe = &draft->recipe;
	ws_texts imports = {0};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		if (recipe->extensions[i].binding == WS_BINDING_PYBIND) {
			ws_texts_add(&imports, recipe->extensions[i].module, draft->a);
		}
	}
	if (recipe->python.package_count > 0) {
		ws_texts_add(&imports, recipe->python.packages[0], draft->a);
		ws_draft_note(draft, "check", "\"%s\" may import more than torch; leave it out then",
			recipe->python.packages[0]);
	}
	recipe->check.imports = imports.at;
	recipe->check.import_count = imports.len;
}

void
ws_recipe_guess(
	const struct ws_tree *tree, const struct ws_setup_reader *reader, struct ws_recipe_draft *draft)
{
	struct ws_setup_py setup = {0};
	struct ws_err err;
	if (ws_tree_lookup(tree, "setup.py")
		&& !ws_setup_py_read(reader, tree->path, draft->a, &setup, &err)) {
		ws_draft_note(draft, "extensions", "setup.py could not be read: %s", err.text);
	}
	guess_metadata(tree, draft);
	ws_guess_extensions(tree, &setup, draft);
	guess_python(tree, &setup, draft);
	guess_check(draft);
}

void
ws_recipe_guess_nothing(struct ws_recipe_draft *draft)
{
	static const char *const binding[] = {"csrc/binding.cpp"}, *const folders[] = {"csrc"};
	static const char *const flags[] = {"-O3"}, *const torch[] = {"torch"};
	static const char *const license[] = {"LICENSE"};
	static const struct ws_source_list sources[] = {
		{.paths = binding, .path_count = 1}, {.glob = "csrc/*.cu", .expected = 1}};
	struct ws_recipe *recipe = &draft->recipe;
	struct ws_extension *extension = WS_NEW(draft->a, struct ws_extension);
	ws_texts packages = {0};
	const char *folder = ws_package_file_part(recipe->distribution, draft->a);
	ws_texts_add(&packages, folder, draft->a);
	bool digit = folder[0] >= '0' && folder[0] <= '9';
	*extension = (struct ws_extension){
		.module = ws_arena_printf(draft->a, "%s%s._C", digit ? "_" : "", folder),
		.binding = WS_BINDING_PYBIND,
		.sources = sources,
		.source_list_count = WS_LEN(sources),
		.include = folders,
		.include_count = 1,
		.flags = {.cxx = flags, .cxx_count = 1, .nvcc = flags, .nvcc_count = 1},
	};
	recipe->extensions = extension;
	recipe->extension_count = 1;
	recipe->python =
		(struct ws_python_part){.packages = packages.at, .package_count = packages.len, .root = ""};
	recipe->metadata = (struct ws_metadata){
		.license_files = license, .license_file_count = 1, .requires = torch, .require_count = 1};
	ws_draft_note(draft, "0", "all of this, by CUDAExtension(...) in setup.py");
	ws_draft_note(draft, "python", "folders with an __init__.py");
	ws_draft_note(draft, "metadata", "all of this");
}
