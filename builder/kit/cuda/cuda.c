#include "kit/cuda/cuda.h"

#include "base/fs.h"
#include "elf/elf.h"
#include "fetch/shared_downloads.h"
#include "kit/archive_kit.h"
#include "kit/cuda/nvcc.h"
#include "kit/cuda/parts.h"
#include "kit/cuda/redist.h"
#include "store/answer_cache.h"
#include "store/results.h"

#include <limits.h>

#define LARGEST_HEADER ((size_t)1 << 20)

/* @digest of a file; a tool that a toolkit may lack counts as lacking: "". */
static bool
read_digest(const struct ws_cuda_kit *kit, struct ws_ledger *ledger, enum ws_cuda_part part,
	struct ws_digest *digest, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *path = ws_cuda_part_find(kit->path, part, a);
	*digest = (struct ws_digest){0};
	if (path && kit->tree) {
		const struct ws_tree_entry *entry =
			ws_tree_lookup(kit->tree, path + strlen(kit->tree->path) + 1);
		ws_digest_parse(entry ? entry->value : "", digest);
	} else if (path) {
		ws_ledger_file_digest(ledger, path, digest);
	}
	return !path || digest->hex[0] || ws_err_set(err, WS_ERR_BUILD, "cannot read '%s'", path);
}

static bool
fill_fingerprint(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	const char **digests = WS_NEW_N(a, const char *, WS_CUDA_PARTS);
	struct ws_hasher *h = ws_hasher_make();
	bool fine = true;
	for (int i = 0; fine && i < WS_CUDA_PARTS; i++) {
		enum ws_cuda_part part = (enum ws_cuda_part)i;
		struct ws_digest digest = {0};
		if (ws_cuda_part_is_tool(part)) {
			fine = read_digest(kit, ledger, part, &digest, err);
			ws_hasher_add_field(h, ws_cuda_part_name(part));
			ws_hasher_add_field(h, digest.hex);
		}
		digests[i] = ws_arena_strdup(a, digest.hex);
	}
	kit->digests = digests;
	struct ws_digest digest = ws_hasher_finish(h);
	kit->fingerprint = ws_arena_strdup(a, digest.hex);
	return fine;
}

static bool
fill_runtime(struct ws_cuda_kit *kit, struct ws_arena *a, struct ws_err *err)
{
	const char *found = ws_cuda_find_runtime(kit->path, a);
	if (!found) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' has no libcudart.so", kit->path);
	}
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(found, a, err);
	if (!elf) {
		return false;
	}
	kit->runtime_soname = ws_arena_strdup(a, ws_elf_library_name(elf));
	kit->runtime = ws_path_join(a, ws_path_dir(a, found), kit->runtime_soname, NULL);
	return ws_fs_exists(kit->runtime)
		|| ws_err_set(err, WS_ERR_BUILD, "'%s' does not exist, though '%s' has that SONAME",
			kit->runtime, found);
}

/* From path and tree: fingerprint, runtime and limits. The listing of a tree has the digests of its
 * files, the ledger those of others. */
static bool
fill_kit(struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!fill_fingerprint(kit, ledger, a, err) || !fill_runtime(kit, a, err)) {
		return false;
	}
	const char *path = ws_cuda_part_find(kit->path, WS_CUDA_HOST_CONFIG, a);
	if (!path) {
		return ws_err_set(err, WS_ERR_BUILD, "'%s' has no crt/host_config.h", kit->path);
	}
	return (ws_fs_read_at_most(path, LARGEST_HEADER, &text, err)
			   && ws_hostcc_limits_parse(ws_buf_text(&text), &kit->limits, err))
		|| ws_err_wrap(err, "'%s'", path);
}

bool
ws_cuda_ask_include(struct ws_cuda_kit *kit, const char *cxx, struct ws_ledger *ledger,
	struct ws_arena *a, struct ws_err *err)
{
	const char *nvcc = ws_path_join(a, kit->path, "bin/nvcc", NULL);
	const char *const argv[] = {nvcc, "--dryrun", "-ccbin", cxx, "-c", "x.cu", "-o", "x.o", NULL};
	struct ws_child_order command = {.argv = argv, .with_stderr = true};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!ws_answer_cache_ask(ledger, &command, &answer, err)) {
		const char *text = ws_str_copy(ws_str_trim(ws_buf_str(&answer)), a);
		const char *last = strrchr(text, '\n');
		ws_err_wrap(err, "asking '%s' with '%s' for its header folders", nvcc, cxx);
		return ws_err_cure(err, "it said: %s", last ? last + 1 : text);
	}
	kit->include = ws_nvcc_read_include(ws_buf_text(&answer), kit->path, a, &kit->include_count);
	return true;
}

/* Changes when what is remembered does. */
#define RELEASE_MEMORY "wheelsmith.nvcc-release/1"

/* The gathering of a list. */
struct search {
	ws_cuda_list *list;
	const struct ws_cuda_memory *memory; /* may be NULL */
	struct ws_map seen;                  /* real paths */
	struct ws_arena *a;
};

/* Newest first, then by path. */
static int
cmp_kits(const void *x, const void *y)
{
	const struct ws_cuda_kit *left = x, *right = y;
	int order = strverscmp(right->release, left->release);
	return order ? order : strcmp(left->path, right->path);
}

/* nvcc takes 20 ms to answer: the store keeps the answer by the contents of nvcc and cicc. (An nvcc
 * may be a script that starts another one; cicc compiles.) @a memory NULL: nvcc is asked. */
static bool
find_release(const struct ws_cuda_kit *kit, const struct ws_cuda_memory *memory, struct ws_arena *a,
	const char **version, const char **release, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf output = {0};
	struct ws_digest nvcc, cicc, key;
	bool known = memory && read_digest(kit, memory->ledger, WS_CUDA_NVCC, &nvcc, NULL)
		&& read_digest(kit, memory->ledger, WS_CUDA_CICC, &cicc, NULL) && nvcc.hex[0]
		&& cicc.hex[0];
	if (known) {
		key = ws_digest_fields(RELEASE_MEMORY, nvcc.hex, cicc.hex, NULL);
	}
	if (known && ws_results_get(memory->store, key.hex, &output)) {
		struct ws_str rest = ws_buf_str(&output);
		struct ws_str title = ws_str_cut(&rest, '\n');
		*version = ws_str_copy(ws_str_cut(&rest, '\n'), a);
		*release = ws_str_copy(ws_str_cut(&rest, '\n'), a);
		if (ws_str_is(title, RELEASE_MEMORY) && (*release)[0]) {
			return true;
		}
		ws_buf_clear(&output);
	}
	if (!ws_nvcc_ask_release(kit->path, a, version, release, err)) {
		return false;
	}
	ws_buf_printf(&output, RELEASE_MEMORY "\n%s\n%s\n", *version, *release);
	if (known) {
		ws_results_put(memory->store, key.hex, &output, NULL); /* else it is asked again */
	}
	return true;
}

static void
look_at(struct search *s, const char *folder)
{
	char real[PATH_MAX];
	if (!realpath(folder, real) || !ws_map_add(&s->seen, ws_arena_strdup(s->a, real), s->a)) {
		return;
	}
	const char *nvcc = ws_cuda_part_find(real, WS_CUDA_NVCC, s->a);
	if (!nvcc || access(nvcc, X_OK) != 0 || !ws_cuda_part_find(real, WS_CUDA_PROFILE, s->a)) {
		return;
	}
	struct ws_cuda_kit kit = {.path = ws_arena_strdup(s->a, real), .how = "host"};
	const char *version;
	if (find_release(&kit, s->memory, s->a, &version, &kit.release, NULL)
		&& ws_version_parse(version, s->a, &kit.version)) {
		kit.name = ws_arena_printf(s->a, "cuda-%s", version);
		kit.missing = ws_cuda_list_missing(kit.path, version, s->a, &kit.missing_count);
		*ws_vec_push(s->list, s->a) = kit;
	}
}

void
ws_cuda_list_host(const struct ws_user_env *env, const struct ws_cuda_memory *memory,
	struct ws_arena *a, ws_cuda_list *list)
{
	struct search s = {.list = list, .memory = memory, .a = a};
	const char *cuda_home = ws_user_env_get(env, "CUDA_HOME");
	if (cuda_home) {
		look_at(&s, cuda_home);
	}
	for (struct ws_str rest = ws_str_of(ws_user_env_get(env, "PATH")); rest.s;) {
		struct ws_str folder = ws_str_cut(&rest, ':');
		char real[PATH_MAX];
		const char *nvcc = ws_arena_printf(a, "%.*s/nvcc", WS_STR_ARGS(folder));
		if (folder.n > 0 && folder.s[0] == '/' && realpath(nvcc, real)) {
			look_at(&s, ws_path_dir(a, ws_path_dir(a, real)));
		}
	}
	const char *local = ws_arena_printf(a, "%s/usr/local", env->root);
	WS_AUTO_DIR DIR *dir = opendir(local);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) { /* cuda, cuda-12.4, ... */
		if (strcmp(entry->d_name, "cuda") == 0 || ws_starts_with(entry->d_name, "cuda-")) {
			look_at(&s, ws_path_join(a, local, entry->d_name, NULL));
		}
	}
	look_at(&s, ws_arena_printf(a, "%s/opt/cuda", env->root));
	look_at(&s, ws_arena_printf(a, "%s/usr/lib/nvidia-cuda-toolkit", env->root));
	if (list->len > 1) {
		qsort(list->at, list->len, sizeof(*list->at), cmp_kits);
	}
}

bool
ws_cuda_open_host(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err)
{
	if (kit->missing_count == 0) {
		return fill_kit(kit, ledger, a, err);
	}
	ws_err_set(err, WS_ERR_BUILD, "the CUDA %s in '%s' is not complete: it lacks %s",
		kit->version.text, kit->path, ws_join(kit->missing, kit->missing_count, ", ", a));
	return ws_err_cure_code(err, WS_CURE_KITS_ARCHIVE, NULL);
}

/* A kit on its way: what made it is entered into the kit. */
struct opening {
	const struct ws_fetch *fetch;
	const struct ws_pin_cuda *pin; /* NULL: none that holds here */
	struct ws_cuda_kit *kit;
	struct ws_tree *tree;
	struct ws_arena *a;
};

/* ---- from the tree to the kit ---- */

static bool
check_pin(const struct opening *o, struct ws_err *err)
{
	const struct ws_pin_cuda *pin = o->pin;
	if (!pin || !pin->digest || ws_digest_is(&o->tree->digest, pin->digest)) {
		return true;
	}
	ws_err_set(err, WS_ERR_FETCH, "the kit is not the one that was locked: %s, not %s",
		o->tree->digest.hex, pin->digest);
	if (!ws_same(pin->debian, o->kit->debian)) {
		ws_err_cure(err, "its compiler came from %s then",
			ws_same(pin->debian, "mirror") ? "a Debian mirror" : "NVIDIA's redistributables");
		ws_err_cure_code(err, WS_CURE_DEBIAN_MIRROR, NULL);
	}
	return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, "cuda");
}

static bool
open_tree(struct opening *o, const char *cuda, struct ws_err *err)
{
	struct ws_cuda_kit *kit = o->kit;
	const char *version;
	kit->name = o->tree->name;
	kit->path = o->tree->path;
	kit->tree = o->tree;
	kit->missing = ws_cuda_list_missing(kit->path, cuda, o->a, &kit->missing_count);
	if (kit->missing_count > 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the assembled toolkit is not complete: it lacks %s",
			kit->missing[0]);
	}
	struct ws_cuda_memory memory = {o->fetch->store, o->fetch->ledger};
	if (!find_release(kit, &memory, o->a, &version, &kit->release, err)) {
		return false;
	}
	if (strcmp(version, cuda) != 0 || !ws_version_parse(version, o->a, &kit->version)) {
		return ws_err_set(err, WS_ERR_CONFIG, "its nvcc is that of CUDA %s, not %s", version, cuda);
	}
	return fill_kit(kit, o->fetch->ledger, o->a, err);
}

static bool
find_pinned(const struct opening *o, const char *name)
{
	return o->pin && o->pin->digest
		&& ws_tree_find(o->fetch->store, name, o->pin->digest, o->a, o->tree);
}

/* ---- by a definition ---- */

/* Takes NVIDIA's redistributables of the same CUDA in Debian's place, if the lock names them or the
 * mirror lacks a package. */
static bool
make_by_definition(struct opening *o, const struct ws_kit_def *def, struct ws_err *err)
{
	struct ws_err why = {0};
	if (!o->pin || !ws_same(o->pin->debian, "redist")) {
		enum ws_archive_files_result made = ws_archive_kit_make(o->fetch, def, o->a, o->tree, &why);
		if (made == WS_ARCHIVE_FILES_FAILED && err) {
			*err = why;
		}
		if (made != WS_ARCHIVE_FILES_NO_DEBIAN) {
			return made == WS_ARCHIVE_FILES_THERE;
		}
	}
	o->kit->debian = "redist";
	struct ws_digest key =
		ws_digest_fields("wheelsmith.replaced-kit/1", def->name, def->digest.hex, NULL);
	if (ws_tree_recall(o->fetch->store, key.hex, o->a, o->tree)
		|| ws_shared_tree_get(o->fetch, key.hex, o->a, o->tree)) {
		return true;
	}
	struct ws_redist redist;
	struct ws_kit_def other;
	struct ws_err second = {0};
	if (!ws_redist_get(o->fetch, def->cuda, def->nvcc, o->a, &redist, &second)
		|| !ws_redist_replace(&redist, def, o->a, &other, &second)) {
		if (err) {
			*err = why;
		}
		return ws_err_cure(err, "NVIDIA's redistributables would do, but: %s", second.text);
	}
	ws_events_note(o->fetch->events, "%s: NVIDIA's redistributables take its place",
		why.text[0] ? why.text : "by the lock");
	return ws_archive_kit_make(o->fetch, &other, o->a, o->tree, err) == WS_ARCHIVE_FILES_THERE
		&& ws_shared_tree_remember(o->fetch, key.hex, o->tree, err);
}

bool
ws_cuda_open_archive(const struct ws_fetch *fetch, const struct ws_kit_def *def,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct opening o = {.fetch = fetch, .kit = kit, .tree = WS_NEW(a, struct ws_tree), .a = a};
	if (pin && pin->definition && ws_digest_is(&def->digest, pin->definition)) {
		o.pin = pin;
	}
	*kit =
		(struct ws_cuda_kit){.how = "archive", .definition = ws_arena_strdup(a, def->digest.hex)};
	for (size_t i = 0; i < def->archive_count; i++) {
		kit->debian = def->archives[i].origin == WS_ORIGIN_DEBIAN ? "mirror" : kit->debian;
	}
	bool fine = true;
	if (find_pinned(&o, def->name)) {
		kit->debian = o.pin->debian;
	} else {
		fine = make_by_definition(&o, def, err) && check_pin(&o, err);
	}
	return (fine && open_tree(&o, def->cuda, err)) || ws_err_wrap(err, "kit '%s'", def->name);
}

/* ---- by a manifest ---- */

static bool
make_redist(struct opening *o, const char *cuda, struct ws_err *err)
{
	struct ws_redist redist;
	struct ws_kit_def def;
	if (!ws_redist_get(o->fetch, cuda, NULL, o->a, &redist, err)) {
		return false;
	}
	o->kit->definition = ws_arena_strdup(o->a, redist.digest.hex);
	if (o->pin && o->pin->definition && !ws_digest_is(&redist.digest, o->pin->definition)) {
		ws_err_set(err, WS_ERR_FETCH,
			"redistrib_%s.json is not the one that was locked: sha256 %s, not %s", redist.label,
			redist.digest.hex, o->pin->definition);
		return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, "cuda");
	}
	return ws_redist_define(&redist, o->a, &def, err)
		&& ws_archive_kit_make(o->fetch, &def, o->a, o->tree, err) == WS_ARCHIVE_FILES_THERE
		&& check_pin(o, err);
}

bool
ws_cuda_open_redist(const struct ws_fetch *fetch, const struct ws_version *version,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct opening o = {.fetch = fetch, .kit = kit, .tree = WS_NEW(a, struct ws_tree), .a = a};
	const char *cuda = version->text;
	o.pin = pin && ws_same(pin->how, "redist") ? pin : NULL;
	*kit = (struct ws_cuda_kit){.how = "redist", .definition = o.pin ? o.pin->definition : NULL};
	const char *minor = ws_version_minor(version, a);
	const char *name = ws_arena_printf(a, "cuda-%s", minor);
	bool fine = find_pinned(&o, name) || make_redist(&o, cuda, err);
	return (fine && open_tree(&o, minor, err))
		|| ws_err_wrap(err, "redistributables of CUDA %s", cuda);
}
