#include "kit/torch/torch.h"

#include "base/fs.h"
#include "base/table.h"
#include "elf/torch_abi.h"
#include "fetch/shared_downloads.h"
#include "kit/torch/torch_wheel.h"
#include "net/index_config.h"
#include "store/answer_cache.h"
#include "wheelfile/opened_wheel.h"

/* ---- version.py ---- */

/* The value of "NAME = 'text'" or "NAME: Optional[str] = 'text'"; NULL for None and other lines. */
static char *
value_of(struct ws_str line, const char *name, struct ws_arena *a)
{
	size_t len = strlen(name);
	if (line.n <= len || memcmp(line.s, name, len) != 0 || !strchr(" :=", line.s[len])) {
		return NULL;
	}
	struct ws_str rest = {line.s + len, line.n - len};
	ws_str_cut(&rest, '=');
	if (!rest.s) {
		return NULL;
	}
	rest = ws_str_trim(rest);
	if (rest.n < 2 || (rest.s[0] != '\'' && rest.s[0] != '"') || rest.s[rest.n - 1] != rest.s[0]) {
		return NULL;
	}
	return ws_arena_copy(a, rest.s + 1, rest.n - 2);
}

bool
ws_torch_measured_parse(struct ws_str version_py, const char *name, struct ws_arena *a,
	struct ws_torch_measured *m, struct ws_err *err)
{
	m->version = m->cuda = m->hip = NULL;
	for (struct ws_str rest = version_py; rest.s;) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		const char *version = value_of(line, "__version__", a);
		const char *cuda = value_of(line, "cuda", a);
		const char *hip = value_of(line, "hip", a);
		m->version = version ? version : m->version;
		m->cuda = cuda ? cuda : m->cuda;
		m->hip = hip ? hip : m->hip;
	}
	if (!m->version || (m->cuda && m->cuda[strspn(m->cuda, "0123456789.")])) {
		return ws_err_set(
			err, WS_ERR_FETCH, "version.py of '%s' has no version line; is it torch?", name);
	}
	return true;
}

/* ---- the libraries ---- */

void
ws_torch_measured_set_pybind(struct ws_torch_measured *m, const char *internals, struct ws_arena *a)
{
	static const char start[] = "__pybind11_internals_v";
	m->pybind_compiler = m->pybind_stdlib = m->pybind_build_abi = NULL;
	if (!internals || !ws_starts_with(internals, start)) {
		return;
	}
	const char *ids = internals + strlen(start);
	ids += strspn(ids, "0123456789");
	size_t len = strlen(ids);
	if (ids[0] != '_' || len < 3 || strcmp(ids + len - 2, "__") != 0) {
		return;
	}
	const char *parts[3];
	struct ws_str rest = {ids + 1, len - 3};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		struct ws_str part = ws_str_cut(&rest, '_');
		if (part.n == 0) {
			return;
		}
		parts[i] = ws_arena_printf(a, "_%.*s", WS_STR_ARGS(part));
	}
	if (!rest.s) {
		m->pybind_compiler = parts[0];
		m->pybind_stdlib = parts[1];
		m->pybind_build_abi = parts[2];
	}
}

/* Reads the two libraries: fills cxx11abi and the ids. */
static bool
look(const char *c10, const char *torch_python, struct ws_arena *a, struct ws_torch_measured *m,
	struct ws_err *err)
{
	WS_AUTO_ELF struct ws_elf *core = ws_elf_open(c10, a, err);
	enum ws_cxx11abi abi;
	if (!core || !ws_cxx11abi_of_c10(core, &abi, err)) {
		return false;
	}
	m->cxx11abi = abi == WS_CXX11ABI_1;
	WS_AUTO_ELF struct ws_elf *python = ws_elf_open(torch_python, a, err);
	if (!python) {
		return false;
	}
	ws_torch_measured_set_pybind(m, ws_pybind11_internals(python, a), a);
	return true;
}

/* WS_ERR_CONFIG unless it was built with CUDA. @a name is for messages. */
static bool
check_cuda(const struct ws_torch_measured *m, const char *name, struct ws_err *err)
{
	if (m->cuda) {
		return true;
	}
	if (m->hip) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is a torch for ROCm %s, not for CUDA", name, m->hip);
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is a torch without CUDA (%s)", name, m->version);
	}
	ws_err_cure(
		err, "extensions with kernels need a CUDA build of torch; the default index has one");
	char variant[64];
	snprintf(variant, sizeof(variant), "%.*s+cu124", (int)strcspn(m->version, "+"), m->version);
	return ws_err_cure_code(err, WS_CURE_TORCH, variant);
}

/* ---- kit.json ---- */

static const struct ws_field measured_fields[] = {
	WS_FIXED("schema", "wheelsmith.torch-kit/1"),
	WS_VALUE("version", struct ws_torch_measured, version, WS_ALWAYS, "\"2.5.1+cu124\""),
	WS_VALUE("cuda", struct ws_torch_measured, cuda, WS_ALWAYS, "its toolkit"),
	WS_VALUE("cxx11abi", struct ws_torch_measured, cxx11abi, WS_ALWAYS, "0 or 1"),
	WS_VALUE("pybind_compiler", struct ws_torch_measured, pybind_compiler, WS_OR_NULL, "\"_gcc\""),
	WS_VALUE("pybind_stdlib", struct ws_torch_measured, pybind_stdlib, WS_OR_NULL, "likewise"),
	WS_VALUE(
		"pybind_build_abi", struct ws_torch_measured, pybind_build_abi, WS_OR_NULL, "likewise"),
};
static const struct ws_table measured_table = {NULL, measured_fields, WS_LEN(measured_fields)};

bool
ws_torch_measured_read(
	const char *path, struct ws_arena *a, struct ws_torch_measured *m, struct ws_err *err)
{
	*m = (struct ws_torch_measured){0};
	return ws_table_read_file(path, &measured_table, a, m, err)
		&& ((m->cxx11abi & ~1) == 0
			|| ws_err_set(err, WS_ERR_IO, "'%s' is not the description of a torch kit", path));
}

/* Fills name, version, cuda, cxx11abi, the pybind ids, release and known. A release that the facts
 * do not list gets the rules of the nearest one: of its own minor, else of the one before;
 * release.version says whose. The build is as measured, and no export list ships: one is made when
 * it is needed. */
static bool
apply_rules(const struct ws_facts *facts, const struct ws_torch_measured *m, struct ws_arena *a,
	struct ws_torch_kit *kit, struct ws_err *err)
{
	struct ws_version public;
	if (!ws_version_parse(m->version, a, &kit->version)
		|| !ws_version_parse(kit->version.public_text, a, &public)) {
		return ws_err_set(
			err, WS_ERR_FETCH, "torch calls itself '%s', which is not a version", m->version);
	}
	if (facts->torch_count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the facts list no torch release");
	}
	kit->name = ws_arena_printf(a, "torch-%s", public.text);
	kit->cuda = m->cuda;
	kit->cxx11abi = m->cxx11abi;
	kit->pybind_compiler = m->pybind_compiler;
	kit->pybind_stdlib = m->pybind_stdlib;
	kit->pybind_build_abi = m->pybind_build_abi;
	const struct ws_torch_release *release = ws_facts_torch(facts, &public);
	kit->known = release != NULL;
	kit->release = release ? *release : *ws_facts_torch_nearest(facts, &public);
	if (!kit->known) {
		kit->release.standard = (struct ws_torch_variant){m->cuda, m->cxx11abi};
		kit->release.others = NULL;
		kit->release.other_count = 0;
	}
	return true;
}

/* ---- out of a wheel ---- */

/* Version of the recipe for this tree; changing it rebuilds all kits. */
#define MAKING "wheelsmith.torch-kit/1"

/* The directory, METADATA and RECORD of 2.7.1 to 2.15.0 lie in the last 1.93 MB of the wheel;
 * before that the directory does (1.34 MB), and RECORD is at the front. */
#define TAIL_BYTES ((uint64_t)2 << 20)

/* A kit on its way. */
struct opening {
	const struct ws_fetch *fetch;
	const struct ws_torch_wish *wish;
	const char *name; /* of the tree: "torch-2.5.1" */
	const struct ws_index_file *file;
	struct ws_digest record; /* "" until it is known */
	struct ws_tree *tree;
	struct ws_arena *a;
};

/* ---- the store's memory ---- */

/* Which wheel: its own digest, else, where the index gives none, RECORD's. */
static struct ws_digest
memo_key(const struct opening *o)
{
	const char *sha256 = o->file->sha256;
	return ws_digest_fields(
		MAKING, o->name, o->file->name, sha256, sha256[0] ? "" : o->record.hex, NULL);
}

/* Its note is RECORD's digest. */
static bool
recall(struct opening *o)
{
	const char *key = ws_arena_strdup(o->a, memo_key(o).hex);
	return (ws_tree_recall(o->fetch->store, key, o->a, o->tree)
			   || ws_shared_tree_get(o->fetch, key, o->a, o->tree))
		&& strcmp(o->tree->name, o->name) == 0 && o->tree->note
		&& ws_digest_parse(o->tree->note, &o->record);
}

/* ---- out of the wheel ---- */

/* The members of a kit, by the start of their names; what is not of the tree lies in @a scratch. */
static struct ws_pick *
pick_members(const struct ws_zip *zip, const char *scratch, struct ws_arena *a, size_t *count)
{
	struct ws_pick *picks = WS_NEW_N(a, struct ws_pick, zip->count);
	*count = 0;
	for (size_t i = 0; i < zip->count; i++) {
		const struct ws_zip_entry *entry = &zip->entries[i];
		const char *name = entry->name;
		if (entry->is_dir) {
			continue;
		}
		if (ws_starts_with(name, "torch/include/") || strcmp(name, "torch/version.py") == 0) {
			picks[(*count)++] = (struct ws_pick){entry, name + strlen("torch/")};
		} else if (strcmp(name, "torch/lib/libc10.so") == 0
			|| strcmp(name, "torch/lib/libtorch_python.so") == 0) {
			const char *path = ws_path_join(a, scratch, ws_path_base(name), NULL);
			picks[(*count)++] = (struct ws_pick){entry, path};
		}
	}
	return picks;
}

/* Reads what was taken and adds kit.json. */
static bool
measure(const struct opening *o, struct ws_tree_builder *b, const char *scratch, struct ws_err *err)
{
	struct ws_torch_measured m;
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *name = o->file->name;
	const char *version_py = ws_path_join(o->a, ws_tree_folder(b), "version.py", NULL);
	if (!ws_fs_read_at_most(version_py, (size_t)1 << 20, &text, err)
		|| !ws_torch_measured_parse(ws_buf_str(&text), name, o->a, &m, err)) {
		return false;
	}
	const struct ws_version *wanted = &o->wish->version;
	struct ws_version found;
	if (!ws_version_parse(m.version, o->a, &found)
		|| (wanted->local ? ws_version_cmp(&found, wanted)
						  : ws_version_cmp_public(&found, wanted))) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' holds torch '%s'", name, m.version);
	}
	const char *c10 = ws_path_join(o->a, scratch, "libc10.so", NULL);
	const char *python = ws_path_join(o->a, scratch, "libtorch_python.so", NULL);
	if (!check_cuda(&m, name, err)) {
		return false;
	}
	if (!look(c10, python, o->a, &m, err)) {
		return ws_err_wrap(err, "'%s'", name);
	}
	ws_buf_clear(&text);
	ws_table_text(&measured_table, &m, WS_JSON_PRETTY, &text);
	return ws_tree_add_file(b, "kit.json", ws_buf_text(&text), text.len, false, err);
}

/* Builds the tree and puts it in place. */
static bool
make_tree(const struct opening *o, struct ws_opened_wheel *w, struct ws_err *err)
{
	static const char *const needed[] = {"torch/version.py", "torch/include/torch/extension.h",
		"torch/lib/libc10.so", "torch/lib/libtorch_python.so"};
	for (size_t i = 0; i < WS_LEN(needed); i++) {
		if (!ws_zip_find(&w->zip, needed[i])) {
			return ws_err_set(
				err, WS_ERR_FETCH, "'%s' has no '%s'; is it torch?", w->name, needed[i]);
		}
	}
	WS_AUTO_SCRATCH struct ws_scratch scratch;
	if (!ws_scratch_make(
			ws_store_path(o->fetch->store, o->a, "partial"), "torch-", o->a, &scratch, err)) {
		return false;
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	size_t count;
	struct ws_pick *picks = pick_members(&w->zip, scratch.path, a, &count);
	struct ws_tree_builder *b = ws_tree_begin(o->fetch->store, o->name, o->a, err);
	struct ws_member_sink sink = ws_member_sink_make(b, w->name, o->fetch->stop);
	if (!b || !ws_opened_wheel_take(w, picks, count, &sink, err)
		|| !measure(o, b, scratch.path, err)) {
		ws_tree_abandon(b);
		return false;
	}
	return ws_tree_commit(b, o->a, o->tree, err);
}

static bool
check_record(const struct opening *o, struct ws_err *err)
{
	const struct ws_pin_torch *pin = o->wish->pin;
	if (!pin || !pin->record || !pin->record[0] || ws_digest_is(&o->record, pin->record)) {
		return true;
	}
	ws_err_set(err, WS_ERR_FETCH,
		"'%s' is not the wheel that was locked: RECORD has sha256 %s, not %s", o->file->name,
		o->record.hex, pin->record);
	return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, "torch");
}

/* For what is wrong with the bytes themselves. */
static bool
cure_damage(struct ws_err *err)
{
	if (!err || err->kind != WS_ERR_FETCH || ws_err_has_cure(err)) {
		return false;
	}
	ws_err_cure(err, "the file was not used; it may be damaged on the server");
	return ws_err_cure_code(err, WS_CURE_INDEX, NULL);
}

static bool
take_from_wheel(struct opening *o, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_OPENED_WHEEL struct ws_opened_wheel w;
	if (!ws_opened_wheel_get(o->fetch, o->file, TAIL_BYTES, scratch, &w, err)) {
		return cure_damage(err);
	}
	o->record = w.record_sha256;
	if (!check_record(o, err)) {
		return false;
	}
	if (!o->file->sha256[0] && recall(o)) {
		return true;
	}
	bool made = make_tree(o, &w, err);
	o->tree->note = ws_arena_strdup(o->a, o->record.hex);
	if (!made || !ws_shared_tree_remember(o->fetch, memo_key(o).hex, o->tree, err)) {
		return cure_damage(err);
	}
	struct ws_event event = {
		.kind = WS_EVENT_KIT_READY,
		.subject = o->name,
		.detail = ws_arena_printf(o->a, "%.1f MB of '%s'",
			(double)(w.remote.wire_bytes + w.scratch_bytes) / 1e6, o->file->name),
	};
	ws_events_emit(o->fetch->events, &event);
	return true;
}

/* ---- opening ---- */

static bool
choose_file(struct opening *o, const struct ws_facts *facts, struct ws_err *err)
{
	const struct ws_torch_wish *wish = o->wish;
	if (wish->pin && wish->pin->wheel) {
		struct ws_index_list list = ws_index_config_list(o->fetch->indexes, "torch", o->a);
		o->file = ws_index_find(
			o->fetch->index, &list, "torch", wish->pin->wheel, wish->pin->sha256, err);
		return o->file != NULL;
	}
	ws_torch_wheel_list wheels = {0};
	if (!ws_torch_wheels_find(o->fetch, facts, &wish->version,
			wish->machine ? wish->machine : ws_machine_host(), o->a, &wheels, err)) {
		return false;
	}
	o->file = ws_torch_wheels_choose(&wheels, &wish->python)->file;
	return true;
}

bool
ws_torch_open(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const struct ws_torch_wish *wish, struct ws_arena *a, struct ws_torch_kit *kit,
	struct ws_err *err)
{
	struct opening o = {.fetch = fetch, .wish = wish, .tree = WS_NEW(a, struct ws_tree), .a = a};
	o.name = ws_arena_printf(a, "torch-%s", wish->version.text);
	const struct ws_pin_torch *pin = wish->pin && wish->pin->wheel ? wish->pin : NULL;
	bool there = false;
	if (pin) { /* in the store or on another host: no index is asked */
		struct ws_index_file *file = WS_NEW(a, struct ws_index_file);
		file->name = pin->wheel;
		file->sha256 = pin->sha256 ? pin->sha256 : "";
		o.file = file;
		there = pin->tree && ws_tree_find(fetch->store, o.name, pin->tree, a, o.tree)
			? !pin->record || !pin->record[0] || ws_digest_parse(pin->record, &o.record)
			: file->sha256[0] && recall(&o) && check_record(&o, NULL);
	}
	if (!there) {
		bool chosen = choose_file(&o, facts, err);
		there = chosen && o.file->sha256[0] && recall(&o) && check_record(&o, NULL);
		if (!chosen || (!there && !take_from_wheel(&o, err))) {
			return ws_err_wrap(err, "torch %s", wish->version.text);
		}
	}
	struct ws_torch_measured m;
	*kit = (struct ws_torch_kit){
		.path = o.tree->path,
		.tree = o.tree,
		.wheel = o.file->name,
		.wheel_sha256 = o.file->sha256,
		.record_sha256 = ws_arena_strdup(a, o.record.hex),
	};
	const char *json = ws_path_join(a, o.tree->path, "kit.json", NULL);
	return ws_torch_measured_read(json, a, &m, err) && apply_rules(facts, &m, a, kit, err);
}

/* ---- installed ---- */

/* find_spec of a top-level name runs none of its code. The answer lists the paths that were looked
 * at; it stays cached until one of them changes. */
static const char question[] =
	"import importlib.util, json, os, site, sys\n"
	"sys.path = [p for p in sys.path if p]\n"
	"spec = importlib.util.find_spec('torch')\n"
	"places = list(spec.submodule_search_locations or []) if spec else []\n"
	"looked = sys.path + [site.getusersitepackages(), os.path.join(sys.prefix, 'pyvenv.cfg')]\n"
	"looked += [os.path.join(p, 'torch') for p in sys.path]\n"
	"looked += [os.path.join(p, name) for p in sys.path if os.path.isdir(p)\n"
	"           for name in os.listdir(p) if name.endswith('.pth')]\n"
	"print(json.dumps({'folder': os.path.abspath(places[0]) if places else None,\n"
	"                  'looked': looked}))\n";

/* The folder of the package; NULL on failure. */
static const char *
find_folder(const struct ws_python_kit *python, struct ws_ledger *ledger, struct ws_arena *a,
	struct ws_err *err)
{
	const char *const argv[] = {python->interpreter, "-c", question, NULL};
	struct ws_child_order command = {.argv = argv, .env = python->env};
	WS_AUTO_BUF struct ws_buf answer = {0};
	struct ws_json_doc doc;
	const char *folder = NULL;
	if (!python->interpreter) {
		folder = python->purelib ? ws_path_join(a, python->purelib, "torch", NULL) : NULL;
		folder = folder && ws_fs_is_dir(folder) ? folder : NULL;
	} else if (ws_answer_cache_ask(ledger, &command, &answer, err)
		&& ws_json_parse(
			python->interpreter, ws_buf_text(&answer), answer.len, WS_JSON_STRICT, a, &doc, err)) {
		folder = ws_json_text(doc.root, "folder");
	} else {
		ws_err_wrap(err, "asking '%s' for its torch", python->interpreter);
		return NULL;
	}
	if (!folder) {
		ws_err_set(err, WS_ERR_CONFIG, "no torch is installed for '%s'",
			python->interpreter ? python->interpreter : python->include);
		ws_err_cure(
			err, "install one there, or name another Python or a release, installed or not");
		ws_err_cure_code(err, WS_CURE_TORCH, "V");
	}
	return folder;
}

bool
ws_torch_open_installed(const struct ws_facts *facts, const struct ws_python_kit *python,
	struct ws_ledger *ledger, struct ws_arena *a, struct ws_torch_kit *kit, struct ws_err *err)
{
	struct ws_torch_measured m;
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *folder = find_folder(python, ledger, a, err);
	if (!folder) {
		return false;
	}
	if (!ws_fs_exists(ws_path_join(a, folder, "include/torch/extension.h", NULL))) {
		ws_err_set(err, WS_ERR_CONFIG, "the torch in '%s' has no headers", folder);
		return ws_err_cure_code(err, WS_CURE_TORCH, "V");
	}
	const char *lib = ws_path_join(a, folder, "lib", NULL);
	const char *c10 = ws_path_join(a, lib, "libc10.so", NULL);
	const char *torch_python = ws_path_join(a, lib, "libtorch_python.so", NULL);
	*kit = (struct ws_torch_kit){
		.path = folder, .wheel_sha256 = "", .record_sha256 = "", .library_path = lib};
	if (!ws_fs_read_at_most(
			ws_path_join(a, folder, "version.py", NULL), (size_t)1 << 20, &text, err)
		|| !ws_torch_measured_parse(ws_buf_str(&text), folder, a, &m, err)
		|| !check_cuda(&m, folder, err) || !look(c10, torch_python, a, &m, err)
		|| !apply_rules(facts, &m, a, kit, err)) {
		return false;
	}
	/* RECORD, written by the installer. Its folder has the wheel's version, and that has a local
	 * label on some indexes only. */
	const char *const versions[] = {kit->version.text, kit->version.public_text};
	for (size_t i = 0; i < WS_LEN(versions) && !kit->record_sha256[0]; i++) {
		struct ws_digest digest;
		const char *record = ws_arena_printf(a, "%s-%s.dist-info/RECORD", folder, versions[i]);
		if (ws_digest_file(record, &digest, NULL, NULL)) {
			kit->record_sha256 = ws_arena_strdup(a, digest.hex);
		}
	}
	return true;
}
