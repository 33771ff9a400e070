/* recipes.c - listing folders and looking a recipe up. Reading one is recipe.c's. */
#include "config/recipes.h"

#include "base/fs.h"
#include "config/document.h"
#include "config/recipe.h"

/* A file that was found, and in which of the folders: earlier ones win. */
struct found {
	struct ws_recipe_file file;
	size_t rank;
};

struct search {
	struct ws_arena *a;
	size_t rank;
	WS_VEC(struct found) found;
};

static bool
list_folder(struct search *s, const char *root, struct ws_err *err)
{
	WS_AUTO_DIR DIR *packages = opendir(root);
	const struct dirent *package, *entry;
	if (!packages) {
		ws_err_sys(err, WS_ERR_CONFIG, "cannot look for recipes in '%s'", root);
		return ws_err_cure(err, "recipes lie there as PACKAGE/VERSION.json");
	}
	while ((package = readdir(packages))) {
		const char *folder = ws_path_join(s->a, root, package->d_name, NULL);
		WS_AUTO_DIR DIR *dir = package->d_name[0] != '.' ? opendir(folder) : NULL;
		while (dir && (entry = readdir(dir))) {
			struct found found = {.rank = s->rank};
			struct stat status;
			size_t len = strlen(entry->d_name);
			/* Files that are not named like a version are not recipes; reading a pipe or a device
			 * may block for ever. */
			found.file.path = ws_path_join(s->a, folder, entry->d_name, NULL);
			if (len > 5 && ws_ends_with(entry->d_name, ".json")
				&& ws_version_parse(
					ws_arena_copy(s->a, entry->d_name, len - 5), s->a, &found.file.version)
				&& (stat(found.file.path, &status) != 0 || S_ISREG(status.st_mode)
					|| S_ISDIR(status.st_mode))) {
				found.file.name = ws_package_normal(package->d_name, s->a);
				*ws_vec_push(&s->found, s->a) = found;
			}
		}
	}
	return true;
}

static int
cmp_files(const struct ws_recipe_file *x, const struct ws_recipe_file *y)
{
	int order = strcmp(x->name, y->name);
	return order ? order : ws_version_cmp(&x->version, &y->version);
}

static int
cmp_found(const void *x, const void *y)
{
	const struct found *one = x, *two = y;
	int order = cmp_files(&one->file, &two->file);
	if (order == 0) {
		order = (one->rank > two->rank) - (one->rank < two->rank);
	}
	return order ? order : strcmp(one->file.path, two->file.path);
}

bool
ws_recipes_list(const char *const *folders, size_t count, struct ws_arena *a,
	struct ws_recipe_catalog *catalog, struct ws_err *err)
{
	struct search s = {.a = a};
	for (; s.rank < count; s.rank++) {
		if (!list_folder(&s, folders[s.rank], err)) {
			return false;
		}
	}
	if (s.found.len > 0) {
		qsort(s.found.at, s.found.len, sizeof(*s.found.at), cmp_found);
	}
	struct ws_recipe_file *files = WS_NEW_N(a, struct ws_recipe_file, s.found.len);
	*catalog =
		(struct ws_recipe_catalog){.files = files, .folders = folders, .folder_count = count};
	for (size_t i = 0; i < s.found.len; i++) {
		const struct ws_recipe_file *file = &s.found.at[i].file;
		if (catalog->count == 0 || cmp_files(&files[catalog->count - 1], file) != 0) {
			files[catalog->count++] = *file;
		}
	}
	return true;
}

/* "a, b, c" of the versions of @a name, or of all names once when @a name is NULL. */
static const char *
list_words(const struct ws_recipe_catalog *catalog, const char *name, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *last = "";
	for (size_t i = 0; i < catalog->count; i++) {
		const struct ws_recipe_file *file = &catalog->files[i];
		const char *word = name ? file->version.text : file->name;
		if ((name && strcmp(file->name, name) != 0) || (!name && strcmp(word, last) == 0)) {
			continue;
		}
		ws_buf_printf(&b, "%s%s", b.len > 0 ? ", " : "", word);
		last = word;
	}
	return ws_buf_copy(&b, a);
}

/* Reads the file, and checks that it is what its path says. */
static bool
read_file(const struct ws_recipe_file *file, struct ws_arena *a, struct ws_recipe *recipe,
	struct ws_err *err)
{
	struct ws_document document;
	if (!ws_document_read(file->path, "recipe", a, &document, err)
		|| !ws_recipe_parse(document.doc, document.folder, a, recipe, err)) {
		return false;
	}
	const struct ws_json *root = document.doc->root;
	if (strcmp(recipe->name, file->name) != 0) {
		return ws_json_err(document.doc, ws_json_find(root, "name"), err,
			"the recipe is in the folder of '%s'", file->name);
	}
	if (ws_version_cmp(&recipe->version, &file->version) != 0) {
		return ws_json_err(document.doc, ws_json_find(root, "version"), err,
			"this recipe's file is named for version %s", file->version.text);
	}
	return true;
}

bool
ws_recipe_find(const struct ws_recipe_catalog *catalog, const char *name,
	const struct ws_version *version, struct ws_arena *a, struct ws_recipe *recipe,
	struct ws_err *err)
{
	bool known = false;
	for (size_t i = 0; i < catalog->count; i++) {
		const struct ws_recipe_file *file = &catalog->files[i];
		if (strcmp(file->name, name) != 0) {
			continue;
		}
		known = true;
		if (version && ws_version_cmp(&file->version, version) == 0) {
			return read_file(file, a, recipe, err);
		}
	}
	if (!known || !version) {
		const char **names = WS_NEW_N(a, const char *, catalog->count);
		for (size_t i = 0; i < catalog->count; i++) {
			names[i] = catalog->files[i].name;
		}
		ws_err_set(err, WS_ERR_CONFIG, "no recipe for '%s'", name);
		ws_err_cure_code(err, WS_CURE_RECIPE,
			version ? ws_arena_printf(a, "%s==%s", name, version->text) : name);
		const char *near = ws_suggest(name, names, catalog->count);
		if (near) {
			ws_err_cure(err, "did you mean \"%s\"?", near);
		}
		if (catalog->count > 0) {
			ws_err_cure(err, "available: %s", list_words(catalog, NULL, a));
		}
		for (size_t i = 0; i < catalog->folder_count; i++) {
			ws_err_cure(err, "searched in %s", catalog->folders[i]);
		}
		return false;
	}
	ws_err_set(err, WS_ERR_CONFIG, "no recipe for '%s' %s", name, version->text);
	ws_err_cure_code(err, WS_CURE_RECIPE, ws_arena_printf(a, "%s==%s", name, version->text));
	return ws_err_cure(err, "available: %s", list_words(catalog, name, a));
}
