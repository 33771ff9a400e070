/* floor.c - stubs out of the list, objects out of the bridge, one tree of both. */
#include "kit/floor/floor.h"

#include "base/fs.h"
#include "elf/exports.h"
#include "elf/stub.h"
#include "sys/child.h"

/* Raise it when the same list, sources and compiler would make another tree. */
#define MAKING "wheelsmith.floor/1"

/* ---- stubs ---- */

/* A library of the list while it is read. */
struct library {
	struct ws_stub stub;
	struct ws_map numbers; /* size_t, of a symbol, by name */
};

typedef WS_VEC(struct library) library_list;

/* The versions of each library that @policy allows. */
static bool
read_libraries(const char *list, const struct ws_manylinux *policy, unsigned machine,
	struct ws_arena *a, library_list *libraries, struct ws_err *err)
{
	WS_AUTO_EXPORTS struct ws_exports *exports = ws_exports_open(list, NULL, a, err);
	struct ws_export read = {0}, *line = &read;
	const char *library = NULL, *version = NULL;
	bool allowed = false;
	while (exports && ws_exports_next(exports, line, err)) {
		if (line->kind == WS_EXPORT_END) {
			return true;
		}
		if (line->library != library) {
			library = line->library;
			ws_vec_push(libraries, a)->stub =
				(struct ws_stub){.soname = library, .machine = machine};
		}
		if (line->version != version) {
			version = line->version;
			allowed = version && ws_manylinux_allows(policy, version);
		}
		if (!allowed) {
			continue;
		}
		/* Versions come oldest first, so a later one takes the place of an earlier. */
		struct library *into = &libraries->at[libraries->len - 1];
		size_t *number = ws_map_get(&into->numbers, line->text);
		if (!number) {
			number = WS_NEW(a, size_t);
			*number = into->stub.symbols.len;
			ws_vec_push(&into->stub.symbols, a)->name = ws_arena_strdup(a, line->text);
			ws_map_put(&into->numbers, into->stub.symbols.at[*number].name, number, a);
		}
		struct ws_stub_symbol *symbol = &into->stub.symbols.at[*number];
		symbol->version = line->version; /* of the list's arena */
		symbol->size = line->size;
		symbol->tls = line->kind == WS_EXPORT_TLS;
	}
	return false;
}

/* "libc.so" of "libc.so.6", as -lc looks for it; the loader has no such name. */
static const char *
link_name(const char *soname, struct ws_arena *a)
{
	const char *end = strstr(soname, ".so");
	return end && ws_starts_with(soname, "lib")
		? ws_arena_copy(a, soname, (size_t)(end - soname) + strlen(".so"))
		: soname;
}

/* ---- the bridge ---- */

typedef WS_VEC(const char *) path_list;

/* Sources and headers of the bridge, sorted. */
struct sources {
	path_list paths;
	struct ws_arena *a;
};

static bool
gather(void *self, const struct ws_fs_entry *entry, struct ws_err *err WS_UNUSED)
{
	struct sources *s = self;
	if (ws_ends_with(entry->path, ".c") || ws_ends_with(entry->path, ".h")) {
		*ws_vec_push(&s->paths, s->a) = ws_arena_strdup(s->a, entry->path);
	}
	return true;
}

/* A command whose programs are found beside the compiler or where the system has them, whatever
 * PATH says. */
static path_list
begin_command(const struct ws_hostcc *cxx, struct ws_arena *a)
{
	path_list words = {0};
	*ws_vec_push(&words, a) = "/usr/bin/env";
	*ws_vec_push(&words, a) = ws_arena_printf(a, "PATH=%.*s:/usr/local/bin:/usr/bin:/bin",
		(int)(ws_path_base(cxx->path) - cxx->path), cxx->path);
	return words;
}

static bool
run(const path_list *words, const char *dir, const char *what, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf output = {0};
	struct ws_child_order command = {.argv = words->at,
		.dir = dir,
		.limits = {.timeout_ms = 600000}, /* 1 s of CPU; a busy host takes minutes */
		.with_stderr = true,
		.name = what};
	if (ws_child_ask(&command, &output, err)) {
		return true;
	}
	return output.len > 0 ? ws_err_cure(err, "%.400s", ws_buf_text(&output)) : false;
}

static bool
compile(const struct ws_hostcc *cxx, const path_list *sources, const char *folder,
	struct ws_arena *a, struct ws_err *err)
{
	static const char *const flags[] = {"-std=gnu17", "-O2", "-fPIC", "-fvisibility=hidden",
		"-fno-builtin", "-fno-stack-protector", "-w", "-c"};
	path_list words = begin_command(cxx, a);
	*ws_vec_push(&words, a) = cxx->path;
	for (size_t i = 0; i < WS_LEN(flags); i++) {
		*ws_vec_push(&words, a) = flags[i];
	}
	for (size_t i = 0; i < sources->len; i++) {
		if (ws_ends_with(sources->at[i], ".c")) {
			*ws_vec_push(&words, a) = "-x"; /* g++ keeps to it for one file */
			*ws_vec_push(&words, a) = "c";
			*ws_vec_push(&words, a) = sources->at[i];
		}
	}
	*ws_vec_push(&words, a) = NULL;
	return run(&words, folder, "compiling what older systems lack", err);
}

/* "libfloor.a" of the objects that compile left in @folder. */
static bool
archive(const struct ws_hostcc *cxx, const path_list *sources, const char *folder, const char *into,
	struct ws_arena *a, struct ws_err *err)
{
	path_list words = begin_command(cxx, a);
	/* As the compiler itself would find it. */
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *const argv[] = {cxx->path, "-print-prog-name=ar", NULL};
	bool answers = ws_child_ask(&(struct ws_child_order){.argv = argv}, &answer, NULL);
	const char *ar = ws_str_copy(ws_str_trim(ws_buf_str(&answer)), a);
	*ws_vec_push(&words, a) = answers && *ar ? ar : "ar";
	*ws_vec_push(&words, a) = "rcsD";
	*ws_vec_push(&words, a) = into;
	for (size_t i = 0; i < sources->len; i++) {
		const char *base = ws_path_base(sources->at[i]);
		if (ws_ends_with(base, ".c")) {
			*ws_vec_push(&words, a) = ws_arena_printf(a, "%.*s.o", (int)strlen(base) - 2, base);
		}
	}
	*ws_vec_push(&words, a) = NULL;
	return run(&words, folder, "packing what older systems lack", err);
}

static bool
add_bridge(struct ws_tree_builder *tree, const struct ws_floor_wish *wish, const path_list *sources,
	struct ws_arena *a, struct ws_err *err)
{
	const char *folder = ws_fs_temp_dir(ws_tree_folder(tree), "objects-", a, err);
	if (!folder) {
		return false;
	}
	const char *into = ws_path_join(a, folder, "libfloor.a", NULL);
	WS_AUTO_BUF struct ws_buf bytes = {0};
	bool fine = compile(wish->cxx, sources, folder, a, err)
		&& archive(wish->cxx, sources, folder, into, a, err) && ws_fs_read(into, &bytes, err);
	return ws_fs_remove(folder, fine ? err : NULL) && fine
		&& ws_tree_add_file(tree, "libfloor.a", bytes.data, bytes.len, false, err);
}

/* ---- both ---- */

static bool
hash_file(struct ws_hasher *h, const char *path, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!ws_fs_read(path, &bytes, err)) {
		return false;
	}
	struct ws_digest digest = ws_digest_bytes(bytes.data, bytes.len);
	ws_hasher_add_field(h, ws_path_base(path));
	ws_hasher_add_field(h, digest.hex);
	return true;
}

static bool
make(const struct ws_store *store, const struct ws_floor_wish *wish, const char *list,
	const path_list *sources, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const struct ws_manylinux *policy = ws_manylinux_of_glibc(wish->machine, wish->glibc);
	library_list libraries = {0};
	if (!policy) {
		return ws_err_set(err, WS_ERR_INTERNAL, "no policy has glibc %s", wish->glibc);
	}
	if (!read_libraries(list, policy, wish->machine->elf, scratch, &libraries, err)) {
		return false;
	}
	struct ws_tree_builder *b =
		ws_tree_begin(store, ws_arena_printf(a, "floor-%s", wish->glibc), a, err);
	bool fine = b != NULL;
	for (size_t i = 0; i < libraries.len && fine; i++) {
		const struct ws_stub *stub = &libraries.at[i].stub;
		WS_AUTO_BUF struct ws_buf bytes = {0};
		fine = stub->symbols.len == 0
			|| (ws_elf_stub(stub, &bytes, err)
				&& ws_tree_add_file(
					b, link_name(stub->soname, scratch), bytes.data, bytes.len, false, err));
	}
	if (!fine || !add_bridge(b, wish, sources, scratch, err)) {
		ws_tree_abandon(b);
		return false;
	}
	return ws_tree_commit(b, a, tree, err);
}

bool
ws_floor_open(const struct ws_store *store, const struct ws_floor_wish *wish, struct ws_arena *a,
	struct ws_floor_kit *kit, struct ws_err *err)
{
	struct sources sources = {.a = a};
	*kit = (struct ws_floor_kit){
		.glibc = wish->glibc,
		.loader = wish->machine->loader,
		.list = ws_path_join(a, wish->facts, wish->machine->floors, NULL),
	};
	if (!ws_fs_walk(wish->bridge, gather, &sources, err)) {
		return false;
	}
	path_list *paths = &sources.paths;
	if (paths->len == 0) {
		return ws_err_set(err, WS_ERR_IO, "'%s' has no sources of the bridge", wish->bridge);
	}
	qsort(paths->at, paths->len, sizeof(paths->at[0]), ws_cmp_strings);
	struct ws_hasher *h = ws_hasher_make();
	bool fine = hash_file(h, kit->list, err);
	ws_hasher_add_field(h, MAKING);
	ws_hasher_add_field(h, wish->glibc);
	ws_hasher_add_field(h, wish->machine->name);
	ws_hasher_add_field(h, wish->cxx->fingerprint);
	for (size_t i = 0; i < paths->len && fine; i++) {
		fine = hash_file(h, paths->at[i], err);
	}
	struct ws_digest key = ws_hasher_finish(h);
	if (!fine) {
		return false;
	}
	if (ws_tree_recall(store, key.hex, a, &kit->tree)) {
		return true;
	}
	return (make(store, wish, kit->list, paths, a, &kit->tree, err)
			   && ws_tree_remember(store, key.hex, &kit->tree, err))
		|| ws_err_wrap(err, "the libraries of glibc %s", wish->glibc);
}

bool
ws_floor_has_library(const struct ws_floor_kit *kit, const char *soname)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	return ws_tree_lookup(&kit->tree, link_name(soname, a));
}

const char *const *
ws_floor_link_words(const struct ws_floor_kit *kit, bool cxx, struct ws_arena *a)
{
	/* In a driver's order, libc before libpthread: what both have is taken from where it is on
	 * every system. The bridge stands behind the libraries, so that it gives what those lack. The
	 * libgcc_s.so of a driver is a script that names libgcc.a as well, which has functions that no
	 * library exports (__cpu_model, outline atomics of aarch64). */
	static const char *const libraries[] = {"-lm", "-lmvec", "-lgcc_s", "-lgcc", "-lc", "-lpthread",
		"-ldl", "-lrt", "-lfloor", "-lc", "-lpthread"};
	path_list words = {0};
	if (kit) {
		*ws_vec_push(&words, a) = "-Wl,--as-needed";
		if (cxx) {
			*ws_vec_push(&words, a) = "-lstdc++";
		}
		for (size_t i = 0; i < WS_LEN(libraries); i++) {
			bool mvec = ws_same(libraries[i], "-lmvec"); /* from glibc 2.22 on, on x86-64 */
			if (!mvec || ws_floor_has_library(kit, "libmvec.so.1")) {
				*ws_vec_push(&words, a) = libraries[i];
			}
		}
		*ws_vec_push(&words, a) = ws_arena_printf(a, "-l:%s", kit->loader);
		*ws_vec_push(&words, a) = "-Wl,--no-as-needed";
	}
	*ws_vec_push(&words, a) = NULL;
	return words.at;
}
