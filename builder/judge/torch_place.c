/* torch_place.c - which lists and which files. Making lists is kit/'s. */
#include "judge/torch_place.h"

#include "base/fs.h"
#include "store/answer_cache.h"

#include <fcntl.h>
#include <glob.h>
#include <gnu/libc-version.h>

/* ---- the libraries of this host ---- */

/* libm.so and the like are texts for the linker, which name the library. */
static bool
is_elf(const char *path)
{
	char magic[4];
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC);
	return fd >= 0 && read(fd, magic, sizeof(magic)) == (ssize_t)sizeof(magic)
		&& memcmp(magic, "\177ELF", sizeof(magic)) == 0;
}

/* The compiler prints the name alone when it finds no such file. */
static void
find(struct ws_ledger *ledger, const struct ws_hostcc *cxx, const char *name, struct ws_arena *a,
	ws_name_list *paths)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *argv[] = {cxx->path, ws_arena_printf(a, "-print-file-name=%s", name), NULL};
	struct ws_child_order command = {.argv = argv};
	if (!ws_answer_cache_ask(ledger, &command, &answer, NULL)) {
		return;
	}
	const char *path = ws_path_normal(a, ws_str_copy(ws_str_trim(ws_buf_str(&answer)), a));
	if (path[0] == '/' && is_elf(path)) {
		*ws_vec_push(paths, a) = path;
	}
}

static const char *const names[] = {"libstdc++.so.6", "libgcc_s.so.1", "libm.so.6", "libc.so.6",
	"ld-linux-x86-64.so.2", "libpthread.so.0", "libdl.so.2", "librt.so.1", "libmvec.so.1",
	"libutil.so.1", "libresolv.so.2", "libanl.so.1", "libnsl.so.1", "libBrokenLocale.so.1",
	"libgomp.so.1", "libatomic.so.1"};

void
ws_host_libraries(
	struct ws_ledger *ledger, const struct ws_hostcc *cxx, struct ws_arena *a, ws_name_list *paths)
{
	for (size_t i = 0; i < WS_LEN(names); i++) {
		find(ledger, cxx, names[i], a, paths);
	}
}

/* Each line of a file of ld.so.conf that is a folder. */
static void
add_configured(const char *path, struct ws_arena *a, ws_name_list *folders)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_err ignored = {0};
	if (!ws_fs_read_at_most(path, 65536, &text, &ignored)) {
		return;
	}
	struct ws_str rest = ws_buf_str(&text);
	while (rest.s) {
		struct ws_str line = ws_str_trim(ws_str_cut(&rest, '\n'));
		if (line.n > 0 && line.s[0] == '/') {
			*ws_vec_push(folders, a) = ws_str_copy(line, a);
		}
	}
}

/* The folders that the loader searches by default (/etc/ld.so.conf, its own), those of @prefix
 * first. */
static void
list_folders(const char *prefix, struct ws_arena *a, ws_name_list *folders)
{
	static const char *const usual[] = {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu",
		"/lib64", "/usr/lib64", "/lib", "/usr/lib"};
	glob_t files = {0};
	if (prefix) {
		*ws_vec_push(folders, a) = ws_path_join(a, prefix, "lib", NULL);
	}
	add_configured("/etc/ld.so.conf", a, folders);
	if (glob("/etc/ld.so.conf.d/*.conf", 0, NULL, &files) == 0) {
		for (size_t i = 0; i < files.gl_pathc; i++) {
			add_configured(files.gl_pathv[i], a, folders);
		}
	}
	globfree(&files);
	for (size_t i = 0; i < WS_LEN(usual); i++) {
		*ws_vec_push(folders, a) = usual[i];
	}
}

void
ws_host_libraries_usual(const char *prefix, struct ws_arena *a, ws_name_list *paths)
{
	ws_name_list folders = {0};
	list_folders(prefix, a, &folders);
	for (size_t i = 0; i < WS_LEN(names); i++) {
		for (size_t k = 0; k < folders.len; k++) {
			const char *path = ws_path_join(a, folders.at[k], names[i], NULL);
			if (is_elf(path)) {
				*ws_vec_push(paths, a) = path;
				break;
			}
		}
	}
}

void
ws_host_libraries_linked(struct ws_ledger *ledger, const struct ws_hostcc *cxx,
	const struct ws_recipe *recipe, struct ws_arena *a, ws_name_list *paths)
{
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_flags *flags = &recipe->extensions[i].flags;
		for (size_t k = 0; k < flags->link_count; k++) {
			const char *word = flags->link[k];
			bool library = ws_starts_with(word, "-l"), whole = library && word[2] == ':';
			if (library) {
				const char *name = whole ? word + 3 : ws_arena_printf(a, "lib%s.so", word + 2);
				find(ledger, cxx, name, a, paths);
			}
		}
	}
}

/* ---- places ---- */

/* All but the lists. */
static void
fill(const struct ws_verify_asked *asked, const ws_list_paths *lists, struct ws_arena *a,
	struct ws_wheel_place *place)
{
	const struct ws_python_kit *kit = asked->kit;
	ws_name_list libraries = {0}, folders = {0};
	const char *bin = kit && kit->interpreter ? ws_path_dir(a, kit->interpreter) : NULL;
	const char *prefix = bin ? ws_path_dir(a, bin) : NULL;
	ws_host_libraries_usual(prefix, a, &libraries);
	if (!asked->glibc) {
		list_folders(prefix, a, &folders);
	}
	place->place = (struct ws_judge_place){
		.lists = lists->at,
		.list_count = lists->len,
		.libraries = libraries.at,
		.library_count = libraries.len,
		.folders = folders.at,
		.folder_count = folders.len,
		.python = kit ? kit->library : NULL,
		.python_tag = asked->python ? ws_python_tag_text(asked->python, true, a) : NULL,
		.archs = asked->archs,
		.driver = asked->driver,
		.families = asked->archs.count > 0 ? asked->world->families : NULL,
		.family_count = asked->archs.count > 0 ? asked->world->family_count : 0,
		.ptx = asked->driver ? ws_facts_ptx_of_driver(asked->world, asked->driver) : NULL,
		.glibc = asked->glibc,
		.strict = asked->strict,
	};
}

void
ws_judge_place_move(struct ws_judge_place *place, ws_list_paths *lists, const char *facts,
	const struct ws_machine *machine, struct ws_arena *a)
{
	const char *here = gnu_get_libc_version();
	*ws_vec_push(lists, a) = ws_path_join(a, facts, machine->floors, NULL);
	place->machine = machine->name;
	place->lists = lists->at;
	place->list_count = lists->len;
	place->library_count = place->folder_count = 0;
	place->python = NULL;
	if (!place->glibc) {
		place->glibc = ws_glibc_is_floor(here) ? ws_arena_strdup(a, here) : "2.28";
	}
}

bool
ws_torch_place_release(const struct ws_verify_asked *asked, const struct ws_version *torch,
	struct ws_arena *a, struct ws_wheel_place *place, struct ws_err *err)
{
	ws_list_paths lists = {0};
	const struct ws_machine *machine = asked->machine ? asked->machine : ws_machine_host();
	if (torch) {
		const char *path = ws_torch_exports_shipped(asked->facts, torch->text, machine, a);
		if (!path) {
			return ws_err_set(
				err, WS_ERR_UNKNOWN, "no export list of torch %s%s", torch->text, machine->mark);
		}
		*ws_vec_push(&lists, a) = path;
	}
	if (!ws_torch_dependencies(asked->facts, torch, a, &lists, err)) {
		return false;
	}
	fill(asked, &lists, a, place);
	if (machine != ws_machine_host()) {
		ws_judge_place_move(&place->place, &lists, asked->facts, machine, a);
	}
	place->torch = torch ? torch->text : NULL;
	return true;
}

bool
ws_torch_place_installed(const struct ws_verify_asked *asked, const struct ws_fetch *fetch,
	const char *program, const struct ws_torch_kit *torch, struct ws_arena *a,
	struct ws_wheel_place *place, struct ws_err *err)
{
	ws_list_paths lists = {0};
	const char *path =
		ws_torch_exports_find_installed(fetch, program, torch, asked->python, a, err);
	if (!path) {
		return false;
	}
	*ws_vec_push(&lists, a) = path;
	if (!ws_torch_dependencies(asked->facts, NULL, a, &lists, err)) {
		return false;
	}
	fill(asked, &lists, a, place);
	place->torch = torch->version.text;
	return true;
}
