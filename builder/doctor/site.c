/* site.c - every *.dist-info with a RECORD, and what setuptools leaves without wheels: *.egg-info
 * with installed-files.txt, *.egg with EGG-INFO/native_libs.txt. Lists are read loosely: pip lists
 * compiled Python files without a digest, and programs outside the folder. */
#include "doctor/site.h"

#include "base/fs.h"
#include "model/wheel_name.h"
#include "wheelfile/modules.h"

#define RECORD_MOST ((size_t)16 << 20) /* bytes; torch's own has 1.5 MB */

static bool
is_theirs(const char *name)
{
	static const char *const names[] = {"torch", "triton", "cuda-python", "cuda-bindings"};
	return ws_is_among(name, names, WS_LEN(names)) || ws_starts_with(name, "nvidia-");
}

/* How packages that are installed are called here, and which file lists theirs. */
struct form {
	const char *suffix, *list;
	bool in_own; /* names in the list are below the entry itself */
};

static const struct form forms[] = {
	{".dist-info", "RECORD", false},
	{".egg-info", "installed-files.txt", false},
	{".egg", "EGG-INFO/native_libs.txt", true},
};

static const struct form *
form_of(const char *entry)
{
	for (size_t i = 0; i < WS_LEN(forms); i++) {
		if (ws_ends_with(entry, forms[i].suffix)) {
			return &forms[i];
		}
	}
	return NULL;
}

static void
list_libraries(const char *folder, const char *entry, const struct form *form, struct ws_arena *a,
	struct ws_site_package *package)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_VEC(const char *) files = {0};
	if (!ws_fs_read_at_most(
			ws_path_join(a, folder, entry, form->list, NULL), RECORD_MOST, &text, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		const char *name = ws_str_copy(ws_str_trim(ws_str_cut(&line, ',')), a);
		name += ws_starts_with(name, "../") ? strlen("../") : 0; /* of installed-files.txt */
		if (ws_module_is_named(name) && ws_path_is_inside(name)) {
			*ws_vec_push(&files, a) =
				form->in_own ? ws_arena_printf(a, "%s/%s", entry, name) : name;
		}
	}
	if (files.len > 0) {
		qsort(files.at, files.len, sizeof(*files.at), ws_cmp_strings);
	}
	package->files = files.at;
	package->file_count = files.len;
}

static bool
needs_cuda(const struct ws_elf *elf)
{
	static const char *const stems[] = {
		"libc10", "libtorch", "libcudart", "libcublas", "libcuda.so", "libnvrtc"};
	for (size_t i = 0; i < elf->needed_count; i++) {
		for (size_t j = 0; j < WS_LEN(stems); j++) {
			if (ws_starts_with(elf->needed[i], stems[j])) {
				return true;
			}
		}
	}
	return ws_elf_section(elf, ".nv_fatbin").n > 0;
}

static bool
is_extension(const char *folder, const struct ws_site_package *package, struct ws_arena *a)
{
	struct ws_modules modules = {0};
	bool is = false;
	ws_modules_open(folder, package->files, package->file_count, a, &modules);
	for (size_t i = 0; i < modules.count && !is; i++) {
		is = modules.modules[i].elf && needs_cuda(modules.modules[i].elf);
	}
	ws_modules_close(&modules);
	return is;
}

static int
compare_packages(const void *x, const void *y)
{
	const struct ws_site_package *a = x, *b = y;
	return strcmp(a->name, b->name);
}

/* "flash_attn-2.8.3", and of eggs "-py3.11-linux-x86_64" behind it. */
static bool
read_name(
	const char *entry, const struct form *form, struct ws_arena *a, struct ws_site_package *package)
{
	struct ws_str rest = {entry, strlen(entry) - strlen(form->suffix)};
	struct ws_str name = ws_str_cut(&rest, '-');
	struct ws_version version;
	if (!rest.s || !ws_version_parse(ws_str_copy(ws_str_cut(&rest, '-'), a), a, &version)) {
		return false;
	}
	*package = (struct ws_site_package){
		.name = ws_package_normal(ws_str_copy(name, a), a),
		.version = version.public_text,
		.label = version.local,
	};
	return !is_theirs(package->name);
}

size_t
ws_site_extensions(const char *folder, struct ws_arena *a, const struct ws_site_package **packages)
{
	WS_VEC(struct ws_site_package) found = {0};
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = ws_arena_strdup(a, entry->d_name);
		const struct form *form = form_of(name);
		struct ws_site_package package;
		if (!form || !read_name(name, form, a, &package)) {
			continue;
		}
		list_libraries(folder, name, form, a, &package);
		if (package.file_count > 0 && is_extension(folder, &package, a)) {
			*ws_vec_push(&found, a) = package;
		}
	}
	if (found.len > 0) {
		qsort(found.at, found.len, sizeof(*found.at), compare_packages);
	}
	*packages = found.at;
	return found.len;
}
