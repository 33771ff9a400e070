/* site.c - every *.dist-info with a RECORD. It is read loosely: pip lists compiled Python files without a
 * digest, and programs outside the folder. */
#include "inspect/site.h"

#include "base/fs.h"
#include "base/vec.h"
#include "inspect/modules.h"
#include "model/tag.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

#define RECORD_MOST ((size_t)16 << 20) /* bytes; torch's own has 1.5 MB */

static bool
is_theirs(const char *name)
{
	static const char *const names[] = {"torch", "triton", "cuda-python", "cuda-bindings"};
	return ws_is_among(name, names, WS_LEN(names)) || ws_starts_with(name, "nvidia-");
}

static void
list_libraries(const char *record, struct ws_arena *a, struct ws_site_package *package)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_VEC(const char *) files = {0};
	if (!ws_fs_read_at_most(record, RECORD_MOST, &text, NULL)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		const char *name = ws_str_copy(ws_str_cut(&line, ','), a);
		if (ws_module_is_named(name) && ws_path_is_inside(name)) {
			*ws_vec_push(&files, a) = name;
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

size_t
ws_site_extensions(const char *folder, struct ws_arena *a, const struct ws_site_package **packages)
{
	static const char suffix[] = ".dist-info";
	WS_VEC(struct ws_site_package) found = {0};
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *dash = strchr(entry->d_name, '-');
		struct ws_version version;
		if (!dash || !ws_ends_with(entry->d_name, suffix)) {
			continue;
		}
		size_t len = strlen(dash + 1) - strlen(suffix);
		struct ws_site_package package = {0};
		package.name =
			ws_package_normal(ws_arena_copy(a, entry->d_name, (size_t)(dash - entry->d_name)), a);
		if (is_theirs(package.name)
			|| !ws_version_parse(ws_arena_copy(a, dash + 1, len), a, &version)) {
			continue;
		}
		package.version = version.public_text;
		package.label = version.local;
		list_libraries(ws_path_join(a, folder, entry->d_name, "RECORD", NULL), a, &package);
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
