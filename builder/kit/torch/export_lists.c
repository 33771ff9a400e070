#include "kit/torch/export_lists.h"

#include "base/fs.h"
#include "base/table.h"
#include "elf/exports.h"
#include "fetch/shared_downloads.h"
#include "kit/torch/torch_wheel.h"
#include "net/index_config.h"
#include "sys/child.h"
#include "wheelfile/opened_wheel.h"

#include <glob.h>

#define BROUGHT "wheelsmith.brought/1"

static void
add_lists(const char *folder, const struct ws_json *entry, struct ws_arena *a, ws_list_paths *paths)
{
	const struct ws_json *lists = entry ? ws_json_find(entry, "lists") : NULL;
	for (WS_JSON_EACH(list, lists)) {
		*ws_vec_push(paths, a) = ws_arena_printf(a, "%s/brought/%s.zst", folder, list->text);
	}
}

bool
ws_torch_dependencies(const char *facts, const struct ws_version *release, struct ws_arena *a,
	ws_list_paths *paths, struct ws_err *err)
{
	struct ws_json_doc doc;
	const char *folder = ws_path_join(a, facts, "exports", NULL);
	const char *path = ws_path_join(a, folder, "brought.json", NULL);
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const struct ws_json *torch = ws_json_find(doc.root, "torch");
	if (!ws_same(ws_json_text(doc.root, "schema"), BROUGHT) || !torch) {
		return ws_err_set(err, WS_ERR_IO, "'%s' is not a table of export lists", path);
	}
	add_lists(folder, ws_json_find(doc.root, "every"), a, paths);
	add_lists(folder, ws_json_find(doc.root, "python"), a, paths);
	if (release) {
		add_lists(folder, ws_json_find(torch, release->public_text), a, paths);
	}
	return true;
}

/* ---- a list, written by a child process ---- */

struct exports_library {
	const char *path, *name, *python, *called;
	bool is_optional, is_c;
};

static const struct ws_field library_fields[] = {
	WS_VALUE("path", struct exports_library, path, WS_ALWAYS, "absolute"),
	WS_VALUE("name", struct exports_library, name, WS_ALWAYS, "for errors"),
	WS_VALUE("python", struct exports_library, python, WS_IF_ANY, "as in ws_exports_add"),
	WS_VALUE("called", struct exports_library, called, WS_IF_ANY,
		"the file name, where others need it by that as well"),
	WS_VALUE("optional", struct exports_library, is_optional, WS_IF_ANY,
		"left out if it cannot be read; a check reports the symbols it lacks"),
	WS_VALUE("c", struct exports_library, is_c, WS_IF_ANY,
		"C++ names are left out, of the libraries after it too"),
};
static const struct ws_table library_table = {NULL, library_fields, WS_LEN(library_fields)};

struct exports_order {
	const char *release;
	const char *path;
	WS_VEC(const char *) wheels;
	WS_VEC(struct exports_library) libraries;
};

static const struct ws_field order_fields[] = {
	WS_VALUE("release", struct exports_order, release, WS_IF_ANY, "\"2.5.1\"; none: of no torch"),
	WS_VALUE("path", struct exports_order, path, WS_ALWAYS, "of the list, absolute"),
	WS_LIST("wheels", struct exports_order, wheels.at, wheels.len, WS_IF_ANY,
		"file names of the wheels with the libraries"),
	WS_LIST_OF("libraries", struct exports_order, libraries.at, libraries.len, library_table,
		WS_ALWAYS, "in the order of the list"),
};
static const struct ws_table order_table = {NULL, order_fields, WS_LEN(order_fields)};

/* @a folder is for the order. */
static bool
ask_child(const struct exports_order *order, const char *program, const char *folder,
	struct ws_stop *stop, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *const argv[] = {program, "internal", "names", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.dir = folder,
		.order = &text,
		.limits = WS_CHILD_READER,
		.name = "reading its libraries",
		.kind = WS_ERR_FETCH,
		.stop = stop,
	};
	ws_table_text(&order_table, order, WS_JSON_COMPACT, &text);
	return ws_child_ask(&child, NULL, err);
}

bool
ws_exports_child_run(struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct exports_order order = {0};
	if (!ws_table_read_file(WS_CHILD_ORDER, &order_table, a, &order, err)) {
		return false;
	}
	struct ws_exports_maker *maker = ws_exports_begin(order.release, a);
	for (size_t i = 0; i < order.wheels.len; i++) {
		ws_exports_add_wheel(maker, order.wheels.at[i]);
	}
	for (size_t i = 0; i < order.libraries.len; i++) {
		const struct exports_library *library = &order.libraries.at[i];
		WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
		WS_AUTO_ELF struct ws_elf *elf =
			ws_elf_open_as(library->path, library->name, false, scratch, err);
		if (library->is_c) {
			ws_exports_only_c(maker);
		}
		bool added = elf && ws_exports_add(maker, elf, library->python, err);
		if (!added && !library->is_optional) {
			return false;
		}
		if (added && library->called) {
			ws_exports_add_name(maker, library->called);
		}
	}
	return ws_exports_write(maker, order.path, err);
}

#define MAKING "wheelsmith.torch-exports/2"
#define MAKING_INSTALLED "wheelsmith.installed-exports/2"
#define LIST "exports.zst"
#define OF_PYTHON "libtorch_python.so"
#define TAIL_BYTES ((uint64_t)2 << 20) /* see torch.c */

/* The same in all wheels of a release (measured on 2.5.1, 2.8.0, 2.11.0). */
static const char *const shared[] = {
	"libc10.so", "libc10_cuda.so", "libtorch.so", "libtorch_cpu.so", "libtorch_cuda.so"};

const char *
ws_torch_exports_name(const char *release, const struct ws_machine *machine, struct ws_arena *a)
{
	bool marked = machine->mark[0];
	return ws_arena_printf(
		a, "torch-%s%s%s.zst", release, marked ? "-" : "", marked ? machine->name : "");
}

const char *
ws_torch_exports_shipped(
	const char *facts, const char *release, const struct ws_machine *machine, struct ws_arena *a)
{
	const char *path =
		ws_path_join(a, facts, "exports", ws_torch_exports_name(release, machine, a), NULL);
	return ws_fs_exists(path) ? path : NULL;
}

/* A list being made. */
struct making {
	const struct ws_fetch *fetch;
	struct ws_arena *a;
	const char *folder; /* of its libraries, until they were read */
	struct exports_order order;
};

/* Unpacks one library. */
static bool
add_library(struct making *m, struct ws_opened_wheel *w, const char *name, const char *python,
	struct ws_err *err)
{
	const char *file = ws_arena_printf(m->a, "%zu.so", m->order.libraries.len);
	const char *member = ws_arena_printf(m->a, "torch/lib/%s", name);
	struct ws_pick pick = {ws_zip_find(&w->zip, member), ws_path_join(m->a, m->folder, file, NULL)};
	if (!pick.entry) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no '%s'", w->name, member);
	}
	*ws_vec_push(&m->order.libraries, m->a) = (struct exports_library){
		.path = pick.path,
		.name = ws_arena_printf(m->a, "%s' in '%s", member, w->name),
		.python = python,
	};
	struct ws_member_sink sink = ws_member_sink_make(NULL, w->name, m->fetch->stop);
	return ws_opened_wheel_take(w, &pick, 1, &sink, err);
}

static bool
add_wheel(
	struct making *m, const struct ws_torch_wheel *wheel, bool with_shared, struct ws_err *err)
{
	WS_AUTO_OPENED_WHEEL struct ws_opened_wheel w;
	if (!ws_opened_wheel_get(m->fetch, wheel->file, TAIL_BYTES, m->a, &w, err)) {
		return false;
	}
	*ws_vec_push(&m->order.wheels, m->a) = wheel->file->name;
	for (size_t i = 0; with_shared && i < WS_LEN(shared); i++) {
		if (!add_library(m, &w, shared[i], NULL, err)) {
			return false;
		}
	}
	return add_library(m, &w, OF_PYTHON, ws_python_tag_text(&wheel->python, true, m->a), err);
}

bool
ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	const char *path, struct ws_err *err)
{
	static const struct ws_python_tag usual = {.major = 3, .minor = 11};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_torch_wheel_list wheels = {0};
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	struct making m = {.fetch = fetch, .a = a, .order = {.release = version->text, .path = path}};
	bool fine = ws_torch_wheels_find(fetch, facts, version, machine, a, &wheels, err)
		&& ws_scratch_make(ws_store_path(fetch->store, a, "partial"), "exports-", a, &folder, err);
	m.folder = folder.path;
	for (size_t i = 0; i < wheels.len && fine; i++) {
		const struct ws_torch_wheel *wheel = &wheels.at[i];
		fine = add_wheel(&m, wheel, wheel == ws_torch_wheels_choose(&wheels, &usual), err);
	}
	fine = fine && ask_child(&m.order, program, folder.path, fetch->stop, err);
	return fine || ws_err_wrap(err, "export list of torch %s", version->text);
}

static struct ws_digest
memo_key(const struct ws_version *version, const struct ws_machine *machine)
{
	return ws_digest_fields(MAKING, version->text, machine->mark[0] ? machine->name : NULL, NULL);
}

/* A version names a build only together with the indexes that have it: others may rebuild it. */
static struct ws_digest
shared_key(const struct ws_fetch *fetch, const char *key)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, key);
	for (size_t i = 0; fetch->indexes && i < fetch->indexes->count; i++) {
		const struct ws_index_choice *choice = &fetch->indexes->choices[i];
		ws_hasher_add_field(h, choice->role);
		for (size_t k = 0; k < choice->count; k++) {
			ws_hasher_add_field(h, choice->urls[k]);
		}
	}
	return ws_hasher_finish(h);
}

static const char *
tree_name(const struct ws_version *version, struct ws_arena *a)
{
	return ws_arena_printf(a, "exports-%s", version->public_text);
}

/* Ends the tree of a list that was written into it, if @a made. */
static bool
keep(struct ws_tree_builder *b, bool made, struct ws_arena *a, struct ws_tree *tree,
	struct ws_err *err)
{
	if (!made || !ws_tree_adopt(b, err)) {
		ws_tree_abandon(b);
		return false;
	}
	return ws_tree_commit(b, a, tree, err);
}

static bool
recall(const struct ws_store *store, const struct ws_version *version,
	const struct ws_pin_exports *pin, const char *key, struct ws_arena *a, struct ws_tree *tree)
{
	return ws_tree_recall(store, key, a, tree)
		|| (pin->tree && ws_same(pin->definition, key)
			&& ws_tree_find(store, tree_name(version, a), pin->tree, a, tree));
}

const char *
ws_torch_exports_known(const struct ws_store *store, const struct ws_version *version,
	const struct ws_machine *machine, struct ws_pin_exports *pin, struct ws_arena *a)
{
	struct ws_tree tree;
	return recall(store, version, pin, memo_key(version, machine).hex, a, &tree)
		? ws_path_join(a, tree.path, LIST, NULL)
		: NULL;
}

const char *
ws_torch_exports_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	struct ws_pin_exports *pin, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest key = memo_key(version, machine), by_index = shared_key(fetch, key.hex);
	struct ws_tree tree;
	bool found = recall(fetch->store, version, pin, key.hex, a, &tree);
	if (!found && pin->tree && ws_same(pin->definition, key.hex)) {
		/* The lock pins the list: the version alone names it. */
		found = ws_shared_tree_get(fetch, key.hex, a, &tree) && ws_same(tree.digest.hex, pin->tree);
	} else if (!found) {
		found = ws_shared_tree_get(fetch, by_index.hex, a, &tree)
			&& ws_tree_remember(fetch->store, key.hex, &tree, NULL);
	}
	if (!found) {
		ws_events_note(fetch->events,
			"the export list of torch %s%s is not known; it is made from its libraries, about 700 "
			"MB",
			version->text, machine->mark);
		struct ws_tree_builder *b = ws_tree_begin(fetch->store, tree_name(version, a), a, err);
		bool made = b
			&& ws_torch_exports_make(fetch, facts, program, version, machine,
				ws_path_join(a, ws_tree_folder(b), LIST, NULL), err);
		if (!keep(b, made, a, &tree, err) || !ws_shared_tree_remember(fetch, key.hex, &tree, err)
			|| !ws_shared_tree_remember(fetch, by_index.hex, &tree, err)) {
			return NULL;
		}
	}
	pin->definition = ws_arena_strdup(a, key.hex);
	pin->tree = ws_arena_strdup(a, tree.digest.hex);
	return ws_path_join(a, tree.path, LIST, NULL);
}

/* ---- an installed torch ---- */

/* Libraries beside torch's own, and those of NVIDIA's wheels. */
static const char *const beside[] = {"*.so*", "../../nvidia/*/lib/*.so*"};

/* Parts that no extension links: loaded by name by their own library, or tools. */
static bool
is_left_out(const char *file)
{
	static const char *const parts[] = {"builtins", ".alt.", "checkpoint", "pcsampling", "nvperf",
		"nvshmem_transport", "nvshmem_bootstrap", OF_PYTHON};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		if (strstr(file, parts[i])) {
			return true;
		}
	}
	return ws_is_among(file, shared, WS_LEN(shared));
}

static void
list_library(struct exports_order *order, const char *path, const char *python, struct ws_arena *a)
{
	*ws_vec_push(&order->libraries, a) =
		(struct exports_library){.path = path, .name = path, .python = python};
}

/* Torch's own libraries in the folder of @a kit, then those beside them, which are optional. */
static struct exports_order
list_installed(
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a)
{
	struct exports_order order = {.release = kit->version.text};
	const char *folder = kit->library_path;
	WS_AUTO_BUF struct ws_buf quoted = {0};
	for (size_t i = 0; i < WS_LEN(shared); i++) {
		list_library(&order, ws_path_join(a, folder, shared[i], NULL), NULL, a);
	}
	list_library(
		&order, ws_path_join(a, folder, OF_PYTHON, NULL), ws_python_tag_text(python, true, a), a);
	for (const char *c = folder; *c; c++) { /* glob(3) reads some characters */
		ws_buf_printf(&quoted, "%s%c", strchr("*?[\\", *c) ? "\\" : "", *c);
	}
	for (size_t i = 0; i < WS_LEN(beside); i++) {
		glob_t files = {0};
		bool is_nvidias = i > 0;
		glob(ws_path_join(a, ws_buf_text(&quoted), beside[i], NULL), 0, NULL, &files);
		for (size_t k = 0; k < files.gl_pathc; k++) {
			const char *path = ws_arena_strdup(a, files.gl_pathv[k]), *name = ws_path_base(path);
			if (!is_left_out(name)) {
				*ws_vec_push(&order.libraries, a) = (struct exports_library){
					path, path, NULL, .called = name, .is_optional = true, .is_c = is_nvidias};
			}
		}
		globfree(&files);
	}
	return order;
}

/* A changed library has another time or size. */
static bool
installed_key(const struct exports_order *order, const char *python, struct ws_digest *key,
	struct ws_err *err)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, MAKING_INSTALLED);
	ws_hasher_add_field(h, python);
	bool fine = true;
	for (size_t i = 0; i < order->libraries.len && fine; i++) {
		const struct exports_library *library = &order->libraries.at[i];
		struct stat status = {0};
		fine = stat(library->path, &status) == 0 || library->is_optional
			|| ws_err_sys(err, WS_ERR_CONFIG, "cannot read '%s'", library->path);
		const int64_t seen[] = {status.st_size, (int64_t)status.st_ino, status.st_mtim.tv_sec,
			status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec};
		ws_hasher_add_field(h, library->path);
		ws_hasher_add(h, seen, sizeof(seen));
	}
	*key = ws_hasher_finish(h);
	return fine;
}

const char *
ws_torch_exports_known_installed(const struct ws_store *store, const struct ws_torch_kit *kit,
	const struct ws_python_tag *python, struct ws_arena *a)
{
	struct ws_digest key;
	struct ws_tree tree;
	struct exports_order order = list_installed(kit, python, a);
	return installed_key(&order, ws_python_tag_text(python, true, a), &key, NULL)
			&& ws_tree_recall(store, key.hex, a, &tree)
		? ws_path_join(a, tree.path, LIST, NULL)
		: NULL;
}

const char *
ws_torch_exports_find_installed(const struct ws_fetch *fetch, const char *program,
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_digest key;
	struct ws_tree tree;
	struct exports_order order = list_installed(kit, python, a);
	if (!installed_key(&order, ws_python_tag_text(python, true, a), &key, err)) {
		return NULL;
	}
	if (!ws_tree_recall(fetch->store, key.hex, a, &tree)) {
		WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
		struct ws_tree_builder *b =
			ws_tree_begin(fetch->store, tree_name(&kit->version, a), a, err);
		order.path = b ? ws_path_join(a, ws_tree_folder(b), LIST, NULL) : NULL;
		bool made = b
			&& ws_scratch_make(
				ws_store_path(fetch->store, a, "partial"), "exports-", a, &folder, err)
			&& ask_child(&order, program, folder.path, fetch->stop, err);
		if (!keep(b, made, a, &tree, err) || !ws_tree_remember(fetch->store, key.hex, &tree, err)) {
			return NULL;
		}
	}
	return ws_path_join(a, tree.path, LIST, NULL);
}
