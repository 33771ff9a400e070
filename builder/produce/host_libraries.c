/* host_libraries.c - one question to the compiler for each name. */
#include "produce/host_libraries.h"

#include "base/buf.h"
#include "base/fs.h"
#include "engine/action.h"
#include "sys/capture.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

/* libm.so and the like are texts for the linker, which name the library. */
static bool
is_elf(const char *path)
{
	char magic[4];
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic)
		&& memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

/* It answers with the name alone when it knows no such file. */
static void
find(const struct ws_hostcc *cxx, const char *name, struct ws_arena *a, ws_name_list *paths)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *argv[] = {cxx->path, ws_arena_printf(a, "-print-file-name=%s", name), NULL};
	struct ws_capture command = {.argv = argv};
	if (!ws_capture_run(&command, &answer, NULL)) {
		return;
	}
	const char *path = ws_path_normal(a, ws_str_copy(ws_str_trim(ws_buf_str(&answer)), a));
	if (path[0] == '/' && is_elf(path)) {
		*ws_vec_push(paths, a) = path;
	}
}

static void
find_linked(const struct ws_hostcc *cxx, const struct ws_flags *flags, struct ws_arena *a,
	ws_name_list *paths)
{
	for (size_t i = 0; i < flags->link_count; i++) {
		const char *word = flags->link[i];
		if (ws_starts_with(word, "-l:")) {
			find(cxx, word + 3, a, paths);
		} else if (ws_starts_with(word, "-l")) {
			find(cxx, ws_arena_printf(a, "lib%s.so", word + 2), a, paths);
		}
	}
}

static const char *const names[] = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6",
	"ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libgomp.so.1",
	"libatomic.so.1"};

void
ws_host_libraries(const struct ws_hostcc *cxx, struct ws_arena *a, ws_name_list *paths)
{
	for (size_t i = 0; i < WS_LEN(names); i++) {
		find(cxx, names[i], a, paths);
	}
}

void
ws_host_libraries_usual(const char *prefix, struct ws_arena *a, ws_name_list *paths)
{
	const char *const folders[] = {prefix ? ws_path_join(a, prefix, "lib", NULL) : NULL,
		"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64", "/lib",
		"/usr/lib"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		for (size_t k = 0; k < WS_LEN(folders); k++) {
			const char *path = folders[k] ? ws_path_join(a, folders[k], names[i], NULL) : NULL;
			if (path && is_elf(path)) {
				*ws_vec_push(paths, a) = path;
				break;
			}
		}
	}
}

void
ws_host_libraries_linked(const struct ws_hostcc *cxx, const struct ws_recipe *recipe,
	struct ws_arena *a, ws_name_list *paths)
{
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_extension *extension = &recipe->extensions[i];
		find_linked(cxx, &extension->flags, a, paths);
		for (size_t k = 0; k < extension->override_count; k++) {
			find_linked(cxx, &extension->overrides[k].add, a, paths);
		}
	}
}
