#include "kit/torch/export_lists.h"

#include "base/fs.h"
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
	const char *path;   /* absolute */
	const char *name;   /* for errors */
	const char *python; /* as in ws_exports_add */
	const char *called; /* the file name, where others need it by that as well; NULL: none */
	bool is_optional;   /* left out if it cannot be read */
	bool is_c;          /* C++ names are left out, of the libraries after it too */
};

struct exports_order {
	const char *release;         /* "2.5.1"; NULL: of no torch */
	const char *path;            /* of the list, absolute */
	WS_VEC(const char *) wheels; /* file names of the wheels with the libraries */
	WS_VEC(struct exports_library) libraries;
};

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
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "release", order->release);
	ws_json_add_text(w, "path", order->path);
	ws_json_add_texts(w, "wheels", order->wheels.at, order->wheels.len);
	ws_json_open_list(w, "libraries");
	for (size_t i = 0; i < order->libraries.len; i++) {
		const struct exports_library *library = &order->libraries.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "path", library->path);
		ws_json_add_text(w, "name", library->name);
		ws_json_add_text(w, "python", library->python);
		ws_json_add_text(w, "called", library->called);
		ws_json_add_bool(w, "optional", library->is_optional);
		ws_json_add_bool(w, "c", library->is_c);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, &text);
	return ws_child_ask(&child, NULL, err);
}

static bool
add(struct ws_exports_maker *maker, const struct ws_json *library, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *called = ws_json_text(library, "called");
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open_as(ws_json_text(library, "path"), ws_json_text(library, "name"), a, err);
	if (ws_json_is_true(library, "c")) {
		ws_exports_only_c(maker);
	}
	/* An unreadable optional library is left out; a check reports the symbols it lacks. */
	if (!elf || !ws_exports_add(maker, elf, ws_json_text(library, "python"), err)) {
		return ws_json_is_true(library, "optional");
	}
	if (called) {
		ws_exports_add_name(maker, called);
	}
	return true;
}

bool
ws_exports_child_run(struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_json_doc order;
	if (!ws_json_read(WS_CHILD_ORDER, WS_JSON_STRICT, a, &order, err)) {
		return false;
	}
	struct ws_exports_maker *maker = ws_exports_begin(ws_json_text(order.root, "release"), a);
	for (WS_JSON_EACH(wheel, ws_json_find(order.root, "wheels"))) {
		ws_exports_add_wheel(maker, wheel->text);
	}
	for (WS_JSON_EACH(library, ws_json_find(order.root, "libraries"))) {
		if (!add(maker, library, err)) {
			return false;
		}
	}
	return ws_exports_write(maker, ws_json_text(order.root, "path"), err);
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

static bool
add_wheels(struct making *m, const ws_torch_wheel_list *wheels, struct ws_err *err)
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

/* A folder for what is read, and for the order. */
static bool
make_scratch(
	const struct ws_fetch *fetch, struct ws_arena *a, struct ws_scratch *folder, struct ws_err *err)
{
	return ws_scratch_make(ws_store_path(fetch->store, a, "partial"), "exports-", a, folder, err);
}

bool
ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_torch_wheel_list wheels = {0};
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	struct making m = {.fetch = fetch, .a = a, .order = {.release = version->text, .path = path}};
	bool fine = ws_torch_wheels_find(fetch, facts, version, machine, a, &wheels, err)
		&& make_scratch(fetch, a, &folder, err);
	m.folder = folder.path;
	fine = fine && add_wheels(&m, &wheels, err)
		&& ask_child(&m.order, program, folder.path, fetch->stop, err);
	return fine || ws_err_wrap(err, "export list of torch %s", version->text);
}

static struct ws_digest
memo_key(const struct ws_version *version, const struct ws_machine *machine)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, MAKING);
	ws_hasher_add_field(h, version->text);
	if (machine->mark[0]) {
		ws_hasher_add_field(h, machine->name);
	}
	return ws_hasher_finish(h);
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

/* A list on its way into the store. */
struct keeping {
	struct ws_tree_builder *builder;
	const char *path; /* where it is written */
};

static const char *
tree_name(const struct ws_version *version, struct ws_arena *a)
{
	return ws_arena_printf(a, "exports-%s", version->public_text);
}

static bool
begin_keeping(const struct ws_fetch *fetch, const struct ws_version *version, struct keeping *k,
	struct ws_arena *a, struct ws_err *err)
{
	k->builder = ws_tree_begin(fetch->store, tree_name(version, a), a, err);
	k->path = k->builder ? ws_path_join(a, ws_tree_folder(k->builder), LIST, NULL) : NULL;
	return k->builder != NULL;
}

static bool
keep(struct keeping *k, bool made, struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	if (!made || !ws_tree_adopt(k->builder, err)) {
		ws_tree_abandon(k->builder);
		return false;
	}
	return ws_tree_commit(k->builder, a, tree, err);
}

static bool
recall(const struct ws_store *store, const struct ws_version *version,
	const struct ws_pin_exports *pin, const char *key, struct ws_arena *a, struct ws_tree *tree)
{
	return ws_tree_recall(store, key, a, tree)
		|| (pin->tree && ws_same(pin->definition, key)
			&& ws_tree_find(store, tree_name(version, a), pin->tree, a, tree));
}

/* By the version alone if the lock pins the list. */
static bool
share(const struct ws_fetch *fetch, const struct ws_pin_exports *pin, const char *key,
	struct ws_arena *a, struct ws_tree *tree)
{
	if (pin->tree && ws_same(pin->definition, key)) {
		return ws_shared_tree_get(fetch, key, a, tree) && ws_same(tree->digest.hex, pin->tree);
	}
	return ws_shared_tree_get(fetch, shared_key(fetch, key).hex, a, tree)
		&& ws_tree_remember(fetch->store, key, tree, NULL);
}

static bool
make(const struct ws_fetch *fetch, const struct ws_facts *facts, const char *program,
	const struct ws_version *version, const struct ws_machine *machine, const char *key,
	struct ws_arena *a, struct ws_tree *tree, struct ws_err *err)
{
	struct keeping k;
	ws_events_note(fetch->events,
		"the export list of torch %s%s is not known; it is made from its libraries, about 700 MB",
		version->text, machine->mark);
	if (!begin_keeping(fetch, version, &k, a, err)) {
		return false;
	}
	bool made = ws_torch_exports_make(fetch, facts, program, version, machine, k.path, err);
	return keep(&k, made, a, tree, err) && ws_shared_tree_remember(fetch, key, tree, err)
		&& ws_shared_tree_remember(fetch, shared_key(fetch, key).hex, tree, err);
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
	struct ws_digest key = memo_key(version, machine);
	struct ws_tree tree;
	if (!recall(fetch->store, version, pin, key.hex, a, &tree)
		&& !share(fetch, pin, key.hex, a, &tree)
		&& !make(fetch, facts, program, version, machine, key.hex, a, &tree, err)) {
		return NULL;
	}
	pin->definition = ws_arena_strdup(a, key.hex);
	pin->tree = ws_arena_strdup(a, tree.digest.hex);
	return ws_path_join(a, tree.path, LIST, NULL);
}

/* ---- an installed torch ---- */

static void
add_number(struct ws_hasher *h, int64_t number)
{
	ws_hasher_add(h, &number, sizeof(number));
}

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

/* An installed torch's libraries: its own, then those beside it from index @others, and
 * NVIDIA's from @nvidias. */
struct installed {
	WS_VEC(const char *) paths;
	size_t others, nvidias;
};

/* A folder's name may have characters that glob(3) reads. */
static const char *
quote_pattern(const char *path, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (; *path; path++) {
		ws_buf_printf(&b, "%s%c", strchr("*?[\\", *path) ? "\\" : "", *path);
	}
	return ws_buf_copy(&b, a);
}

static void
list_beside(struct installed *found, const char *folder, struct ws_arena *a)
{
	const char *quoted = quote_pattern(folder, a);
	for (size_t i = 0; i < WS_LEN(beside); i++) {
		glob_t files = {0};
		found->nvidias = found->paths.len;
		if (glob(ws_path_join(a, quoted, beside[i], NULL), 0, NULL, &files) == 0) {
			for (size_t k = 0; k < files.gl_pathc; k++) {
				if (!is_left_out(ws_path_base(files.gl_pathv[k]))) {
					*ws_vec_push(&found->paths, a) = ws_arena_strdup(a, files.gl_pathv[k]);
				}
			}
		}
		globfree(&files);
	}
}

static struct installed
list_installed(const char *folder, struct ws_arena *a)
{
	struct installed found = {0};
	for (size_t i = 0; i < WS_LEN(shared); i++) {
		*ws_vec_push(&found.paths, a) = ws_path_join(a, folder, shared[i], NULL);
	}
	*ws_vec_push(&found.paths, a) = ws_path_join(a, folder, OF_PYTHON, NULL);
	found.others = found.paths.len;
	list_beside(&found, folder, a);
	return found;
}

/* A changed library has another time or size. */
static bool
installed_key(
	const struct installed *found, const char *python, struct ws_digest *key, struct ws_err *err)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, MAKING_INSTALLED);
	ws_hasher_add_field(h, python);
	bool fine = true;
	for (size_t i = 0; i < found->paths.len && fine; i++) {
		struct stat status = {0};
		const char *path = found->paths.at[i];
		fine = stat(path, &status) == 0 || i >= found->others
			|| ws_err_sys(err, WS_ERR_CONFIG, "cannot read '%s'", path);
		ws_hasher_add_field(h, path);
		add_number(h, (int64_t)status.st_size);
		add_number(h, (int64_t)status.st_ino);
		add_number(h, (int64_t)status.st_mtim.tv_sec);
		add_number(h, status.st_mtim.tv_nsec);
		add_number(h, (int64_t)status.st_ctim.tv_sec);
		add_number(h, status.st_ctim.tv_nsec);
	}
	*key = ws_hasher_finish(h);
	return fine;
}

static bool
make_installed(const struct ws_fetch *fetch, const char *program, const struct installed *found,
	const char *python, struct exports_order *order, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	for (size_t i = 0; i < found->paths.len; i++) {
		*ws_vec_push(&order->libraries, a) = (struct exports_library){
			.path = found->paths.at[i],
			.name = found->paths.at[i],
			.python = i + 1 == found->others ? python : NULL,
			.called = i >= found->others ? ws_path_base(found->paths.at[i]) : NULL,
			.is_optional = i >= found->others,
			.is_c = i >= found->nvidias,
		};
	}
	return make_scratch(fetch, a, &folder, err)
		&& ask_child(order, program, folder.path, fetch->stop, err);
}

const char *
ws_torch_exports_known_installed(const struct ws_store *store, const struct ws_torch_kit *kit,
	const struct ws_python_tag *python, struct ws_arena *a)
{
	struct ws_digest key;
	struct ws_tree tree;
	struct installed found = list_installed(kit->library_path, a);
	return installed_key(&found, ws_python_tag_text(python, true, a), &key, NULL)
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
	struct keeping k;
	struct ws_tree tree;
	const char *folder = kit->library_path, *tag = ws_python_tag_text(python, true, a);
	struct installed found = list_installed(folder, a);
	if (!installed_key(&found, tag, &key, err)) {
		return NULL;
	}
	if (ws_tree_recall(fetch->store, key.hex, a, &tree)) {
		return ws_path_join(a, tree.path, LIST, NULL);
	}
	if (!begin_keeping(fetch, &kit->version, &k, a, err)) {
		return NULL;
	}
	struct exports_order order = {.release = kit->version.text, .path = k.path};
	bool made = make_installed(fetch, program, &found, tag, &order, a, err);
	return keep(&k, made, a, &tree, err) && ws_tree_remember(fetch->store, key.hex, &tree, err)
		? ws_path_join(a, tree.path, LIST, NULL)
		: NULL;
}
