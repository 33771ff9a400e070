/* torch_exports.c - which libraries of which wheels; their way to disk is opened_wheel.c's, the list
 * elf/exports_make.c's. */
#include "kit/torch_exports.h"

#include "base/fs.h"
#include "elf/exports_make.h"
#include "kit/opened_wheel.h"
#include "kit/torch_wheel.h"
#include "store/tree.h"

#include <string.h>

#define MAKING "wheelsmith.torch-exports/1"
#define TAIL_BYTES ((uint64_t)2 << 20) /* see torch.c */

/* The same in all wheels of a release (measured on 2.5.1, 2.8.0, 2.11.0). */
static const char *const shared[] = {
	"libc10.so", "libc10_cuda.so", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so"};

/* A list being made. */
struct making {
	const struct ws_fetch *fetch;
	struct ws_exports_maker *maker;
	const char *scratch; /* the one library on disk */
	const char *keep;    /* see opened_wheel.h */
};

/* Takes one library to the scratch file, its names from there. */
static bool
add_library(const struct making *m, struct ws_opened_wheel *w, const char *name, const char *python,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *member = ws_arena_printf(a, "torch/lib/%s", name);
	struct ws_pick pick = {ws_zip_find(&w->zip, member), m->scratch};
	if (!pick.entry) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no '%s'", w->name, member);
	}
	struct ws_landing landing = ws_landing_make(NULL, w->name);
	if (!ws_opened_wheel_take(w, &pick, 1, &landing, err)) {
		return false;
	}
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(m->scratch, a, err);
	return (elf && ws_exports_add(m->maker, elf, python, err))
		|| ws_err_wrap(err, "'%s' in '%s'", member, w->name);
}

static bool
add_wheel(const struct making *m, const struct ws_torch_wheel *wheel, bool with_shared,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_OPENED_WHEEL struct ws_opened_wheel w;
	if (!ws_opened_wheel_get(m->fetch, wheel->file, TAIL_BYTES, m->keep, a, &w, err)) {
		return false;
	}
	ws_exports_add_wheel(m->maker, wheel->file->name);
	for (size_t i = 0; with_shared && i < WS_LEN(shared); i++) {
		if (!add_library(m, &w, shared[i], NULL, err)) {
			return false;
		}
	}
	return add_library(
		m, &w, "libtorch_python.so", ws_python_tag_text(&wheel->python, true, a), err);
}

static bool
add_wheels(const struct making *m, const ws_torch_wheel_list *wheels, struct ws_err *err)
{
	static const struct ws_python_tag usual = {.major = 3, .minor = 11};
	const struct ws_torch_wheel *first = ws_torch_wheels_choose(wheels, &usual);
	for (size_t i = 0; i < wheels->len; i++) {
		if (!add_wheel(m, &wheels->at[i], &wheels->at[i] == first, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_torch_wheel_list wheels = {0};
	const char *partial = ws_store_path(fetch->store, a, "partial");
	const char *folder = NULL;
	bool fine = ws_torch_wheels_find(fetch, facts, version, a, &wheels, err)
		&& (folder = ws_fs_temp_dir(partial, "exports-", a, err));
	if (fine) {
		struct making m = {
			.fetch = fetch,
			.maker = ws_exports_begin(version->text, a),
			.scratch = ws_path_join(a, folder, "library.so", NULL),
			.keep = ws_opened_wheel_keep(fetch, ws_arena_printf(a, "exports-%s", version->text), a),
		};
		fine = add_wheels(&m, &wheels, err) && ws_exports_write(m.maker, path, err);
		ws_fs_remove(folder, NULL);
		if (fine) {
			ws_fs_remove(m.keep, NULL);
		}
	}
	return fine || ws_err_wrap(err, "what torch %s exports", version->text);
}

static struct ws_digest
memo_key(const struct ws_version *version)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, MAKING);
	ws_hasher_add_field(h, version->text);
	return ws_hasher_finish(h);
}

const char *
ws_torch_exports_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_version *version, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest key = memo_key(version);
	const char *name = ws_arena_printf(a, "torch-%s.zst", version->text);
	struct ws_tree tree;
	if (ws_tree_recall(fetch->store, key.hex, a, &tree)) {
		return ws_path_join(a, tree.path, name, NULL);
	}
	ws_events_note(fetch->events,
		"the export list of torch %s is not known; it is made from its libraries, about 700 MB",
		version->text);
	struct ws_tree_builder *b =
		ws_tree_begin(fetch->store, ws_arena_printf(a, "exports-%s", version->text), a, err);
	if (!b) {
		return NULL;
	}
	const char *path = ws_path_join(a, ws_tree_folder(b), name, NULL);
	if (!ws_torch_exports_make(fetch, facts, version, path, err) || !ws_tree_adopt(b, err)) {
		ws_tree_abandon(b);
		return NULL;
	}
	bool fine =
		ws_tree_commit(b, a, &tree, err) && ws_tree_remember(fetch->store, key.hex, &tree, err);
	return fine ? ws_path_join(a, tree.path, name, NULL) : NULL;
}
