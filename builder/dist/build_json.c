/* build_json.c - build.json, with the wheels of other runs in the folder. Declared in deliver.h. */
#include "dist/build_json.h"

#include "base/arena.h"
#include "base/fs.h"
#include "base/json.h"
#include "base/table.h"
#include "dist/deliver.h"
#include "sys/flock.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/opened_wheel.h"

#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define SCHEMA "wheelsmith.build/1"
#define LONGEST_TURN_MS (10 * 60 * 1000)

/* ---- build.json ---- */

static const struct ws_field record_fields[] = {
	WS_VALUE("cell", struct ws_record, cell, WS_ALWAYS, "name of the cell"),
	WS_VALUE("package", struct ws_record, package, WS_ALWAYS, "name of the package"),
	WS_VALUE("version", struct ws_record, version, WS_ALWAYS, "version of the wheel"),
	WS_VALUE("wheel", struct ws_record, wheel, WS_ALWAYS, "file name of the wheel"),
	WS_VALUE("sha256", struct ws_record, sha256, WS_ALWAYS, "digest of the wheel"),
	WS_VALUE("size", struct ws_record, size, WS_ALWAYS, "bytes of the wheel"),
	WS_VALUE("group", struct ws_record, group, WS_ALWAYS, "wheels of one requirements file"),
	WS_VALUE("python", struct ws_record, python, WS_OR_NULL, "Python of the wheel; null: any"),
	WS_VALUE("torch", struct ws_record, torch, WS_IF_ANY, "torch of a prebuilt wheel"),
	WS_VALUE("metadata_version", struct ws_record, metadata_version, WS_IF_ANY,
		"version in METADATA of a prebuilt wheel"),
};
static const struct ws_table record_table = {"a wheel", record_fields, WS_LEN(record_fields)};

static const struct ws_field actions_fields[] = {
	WS_VALUE("total", struct ws_run_summary, total, WS_ALWAYS, "all actions"),
	WS_VALUE("from_store", struct ws_run_summary, hits, WS_ALWAYS, "results of the store"),
	WS_VALUE("ran", struct ws_run_summary, ran, WS_ALWAYS, "commands that ran"),
	WS_VALUE("failed", struct ws_run_summary, failed, WS_ALWAYS, "commands that failed"),
	WS_VALUE("cpu_ms", struct ws_run_summary, cpu_ms, WS_ALWAYS, "CPU time of the commands"),
	WS_VALUE("peak_bytes", struct ws_run_summary, peak_bytes, WS_ALWAYS, "largest peak of one"),
	WS_VALUE("on_farm", struct ws_run_summary, ran_elsewhere, WS_ALWAYS, "ran on a farm"),
};
static const struct ws_table actions_table = {
	"the actions", actions_fields, WS_LEN(actions_fields)};

/* Wheels of one group share a requirements file. pip takes a package once for each Python, and no
 * marker distinguishes ABIs or free-threaded interpreters. */
static const char *
group_of(const struct ws_cell_result *result, struct ws_arena *a)
{
	const struct ws_point *point = &result->cell->point;
	WS_AUTO_BUF struct ws_buf group = {0};
	if (point->cuda) {
		ws_buf_printf(&group, "-cu%s", point->cuda->name);
	}
	if (point->torch) {
		ws_buf_printf(&group, "-torch%s", point->torch->name);
	}
	if (point->archs.count) {
		ws_buf_printf(&group, "-%s", ws_arch_set_name(&point->archs, a));
	}
	if (point->torch && point->cxx11abi != point->torch->own_abi) {
		ws_buf_printf(&group, "-abi%d", point->cxx11abi);
	}
	if (point->python && point->python->tag.free_threaded) {
		ws_buf_puts(&group, "-t");
	}
	return ws_buf_copy(&group, a);
}

static bool
is_prebuilt(const struct ws_cell_result *result)
{
	return result->supply && result->supply->kind == WS_SUPPLY_PREBUILT;
}

/* The one Python that tags name: of cp311-cp311, and not of cp38-abi3 or py3-none. */
static const char *
python_of_name(const struct ws_wheel_name *name, struct ws_arena *a)
{
	struct ws_python_tag tag;
	bool one = name->python_count == 1 && name->abi_count == 1 && name->abis[0][0] == 'c'
		&& ws_python_tag_parse(name->pythons[0], &tag);
	return one ? ws_arena_printf(a, "%u.%u", tag.major, tag.minor) : NULL;
}

/* The version of the wheel itself: a prebuilt wheel has its own label. */
static const char *
version_of(const struct ws_cell_result *result, struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why;
	if (is_prebuilt(result) && ws_wheel_name_parse(result->supply->wheel, a, &name, &why)) {
		return name.version.text;
	}
	return result->cell->product ? result->cell->product->version : NULL;
}

/* The torch that a prebuilt wheel was judged for; METADATA may name another one, or none. */
static const char *
torch_of(const struct ws_cell_result *result)
{
	const struct ws_torch_choice *torch = result->cell->point.torch;
	bool bound = is_prebuilt(result) && result->cell->product->binding < WS_BINDING_C_ABI;
	return bound && torch ? torch->version.text : NULL;
}

/* The Python of a wheel for a marker; NULL: any. */
static const char *
python_of(const struct ws_cell_result *result, struct ws_arena *a)
{
	const struct ws_python_choice *python = result->cell->point.python;
	struct ws_wheel_name name;
	const char *why;
	if (is_prebuilt(result) && ws_wheel_name_parse(result->supply->wheel, a, &name, &why)) {
		return python_of_name(&name, a);
	}
	return result->cell->product->binding == WS_BINDING_PYBIND && python
		? ws_arena_printf(a, "%u.%u", python->tag.major, python->tag.minor)
		: NULL;
}

/* Wheels may be renamed after packing; METADATA has the version that pip records. */
static const char *
metadata_version_of(const char *output, const char *name, struct ws_arena *a)
{
	WS_AUTO_OPENED_WHEEL struct ws_opened_wheel wheel;
	struct ws_dist_info info;
	return ws_opened_wheel_read(ws_path_join(a, output, name, NULL), name, a, &wheel, NULL)
			&& ws_dist_info_read(&wheel.zip, a, &info, NULL)
		? info.metadata.version.text
		: NULL;
}

static void
write_tried(struct ws_json_writer *w, const struct ws_cell_result *result, struct ws_arena *a)
{
	const struct ws_candidates *candidates = result->cell->candidates;
	ws_attempt_list tried = {0};
	if (result->supply) {
		tried = result->supply->tried;
	} else if (candidates) {
		ws_attempts_add(candidates, NULL, a, &tried);
	}
	if (tried.len == 0) {
		return;
	}
	ws_json_open_list(w, "tried");
	for (size_t i = 0; i < tried.len; i++) {
		const struct ws_attempt *attempt = &tried.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "what", ws_supply_name(attempt->kind));
		ws_json_add_text(w, "name", attempt->name);
		ws_json_add_text(w, "why", attempt->why);
		ws_json_close(w);
	}
	ws_json_close(w);
}

/* Members of prebuilt wheels only. */
static void
add_others(struct ws_json_writer *w, const struct ws_record *record)
{
	if (record->torch) {
		ws_json_add_text(w, "torch", record->torch);
	}
	if (record->metadata_version) {
		ws_json_add_text(w, "metadata_version", record->metadata_version);
	}
}

/* @a record: its wheel; NULL: it is not ready. */
static void
write_cell(struct ws_json_writer *w, const struct ws_cell_result *result,
	const struct ws_record *record, struct ws_arena *a)
{
	const struct ws_cell *cell = result->cell;
	const struct ws_supply *supply = result->supply;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "cell", cell->name);
	ws_json_add_text(w, "package", cell->recipe->name);
	ws_json_add_text(w, "version", version_of(result, a));
	ws_json_add_text(w, "decision", ws_cell_state_name(result));
	ws_json_add_text(w, "reason", ws_cell_reason(result));
	const char *wheel = supply ? supply->wheel : NULL;
	ws_json_add_text(w, "wheel", wheel);
	ws_json_add_text(w, "sha256", wheel ? supply->digest.hex : NULL);
	if (wheel) {
		ws_json_add_u64(w, "size", supply->wheel_bytes);
		ws_json_add_u64(w, "installed", supply->installed_bytes);
	}
	if (wheel && supply->before.wheel_bytes) {
		ws_json_open_object(w, "before");
		ws_json_add_u64(w, "size", supply->before.wheel_bytes);
		ws_json_add_u64(w, "installed", supply->before.installed_bytes);
		ws_json_close(w);
	}
	if (supply && supply->import) {
		ws_json_open_object(w, "import");
		ws_json_add_text(w, "verdict", supply->imported ? "ok" : "unknown");
		ws_json_add_text(w, "text", supply->import);
		ws_json_close(w);
	}
	ws_json_add_u64(w, "cpu_ms", supply ? supply->cpu_ms : 0);
	write_tried(w, result, a);
	if (record) {
		ws_json_add_text(w, "group", record->group);
		ws_json_add_text(w, "python", record->python);
		add_others(w, record);
	}
	ws_json_close(w);
}

static void
write_failed(struct ws_json_writer *w, const struct ws_failed_action *failed)
{
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "cell", failed->cell);
	ws_json_add_text(w, "stage", failed->stage);
	ws_json_add_text(w, "subject", failed->subject);
	ws_json_add_text(w, "error", failed->err->text);
	ws_json_add_text(w, "command", failed->command);
	ws_json_add_text(w, "log", failed->log);
	ws_json_close(w);
}

/* Records with the same key replace each other: an environment has a package once. */
static const char *
place_of(const struct ws_record *record, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s %s %s %s", record->group, record->package,
		record->python ? record->python : "", ws_record_machine(record, a));
}

static void
write_earlier(struct ws_json_writer *w, const ws_record_list *records)
{
	ws_json_open_list(w, "earlier");
	for (size_t i = 0; i < records->len; i++) {
		const struct ws_record *record = &records->at[i];
		if (!record->earlier) {
			continue;
		}
		ws_table_write(w, NULL, &record_table, record);
	}
	ws_json_close(w);
}

static void
write_undivided(struct ws_json_writer *w, const ws_node_list *undivided)
{
	ws_json_open_list(w, "undivided");
	for (size_t i = 0; i < undivided->len; i++) {
		const struct ws_node *node = undivided->at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "cell", node->action->group);
		ws_json_add_text(w, "unit", node->action->subject);
		ws_json_add_text(w, "why", node->undivided);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_on_farm(struct ws_json_writer *w, const ws_node_list *on_farm)
{
	ws_json_open_list(w, "on_farm");
	for (size_t i = 0; i < on_farm->len; i++) {
		const struct ws_node *node = on_farm->at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "cell", node->action->group);
		ws_json_add_text(w, "stage", node->action->stage);
		ws_json_add_text(w, "subject", node->action->subject);
		ws_json_add_text(w, "worker", node->elsewhere.worker);
		ws_json_add_u64(w, "queued_ms", node->elsewhere.queued_ms);
		ws_json_add_u64(w, "fetch_ms", node->elsewhere.fetch_ms);
		ws_json_add_u64(w, "wall_ms", node->result.wall_ms);
		ws_json_add_u64(w, "cpu_ms", node->result.cpu_ms);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static bool
write_build_json(const char *path, const struct ws_build_result *result,
	const ws_record_list *records, struct ws_arena *a, struct ws_err *err)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", SCHEMA);
	ws_json_add_text(w, "wheelsmith", WS_VERSION);
	ws_json_add_u64(w, "wall_ms", result->wall_ms);
	ws_table_write(w, "actions", &actions_table, &result->actions);
	ws_json_open_list(w, "cells");
	/* The first records are those of this run's cells that are ready, in their order. */
	for (size_t i = 0, ready = 0; i < result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &result->supplies.cells[i];
		bool is_ready = ws_cell_state(cell) == WS_CELL_READY;
		write_cell(w, cell, is_ready ? &records->at[ready++] : NULL, a);
	}
	ws_json_close(w);
	write_earlier(w, records);
	ws_json_open_list(w, "failures");
	for (size_t i = 0; i < result->failed_count; i++) {
		write_failed(w, &result->failed[i]);
	}
	ws_json_close(w);
	write_undivided(w, &result->undivided);
	write_on_farm(w, &result->on_farm);
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write_atomic(path, text.data, text.len, 0644, err);
}

/* ---- wheels in the folder ---- */

static void
add_ready(const char *output, const struct ws_build_result *result, struct ws_arena *a,
	ws_record_list *records)
{
	for (size_t i = 0; i < result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &result->supplies.cells[i];
		if (ws_cell_state(cell) == WS_CELL_READY) {
			struct ws_record record = {
				.cell = cell->cell->name,
				.package = cell->cell->recipe->name,
				.version = version_of(cell, a),
				.wheel = cell->supply->wheel,
				.sha256 = cell->supply->digest.hex,
				.group = group_of(cell, a),
				.python = python_of(cell, a),
				.torch = torch_of(cell),
				.size = cell->supply->wheel_bytes,
			};
			record.metadata_version =
				is_prebuilt(cell) ? metadata_version_of(output, record.wheel, a) : NULL;
			*ws_vec_push(records, a) = record;
		}
	}
}

/* Digests of the folder's wheels. Hashing gigabytes takes too long while other runs wait for the
 * lock. */
struct folder {
	const struct ws_context *ctx;
	const char *output;
	struct ws_arena *a;
	struct ws_map digests; /* by name and what stat says; "": it cannot be read */
	bool locked;           /* with the lock: hash no further file */
	bool unread;           /* a file was not hashed for that reason */
};

static bool
lies_there(struct folder *f, const struct ws_record *record)
{
	const char *path = ws_path_join(f->a, f->output, record->wheel, NULL);
	struct stat s;
	struct ws_digest digest;
	if (stat(path, &s) < 0) {
		return false;
	}
	const char *key = ws_arena_printf(f->a, "%s %ju %ju %jd.%09ld %jd.%09ld", record->wheel,
		(uintmax_t)s.st_ino, (uintmax_t)s.st_size, (intmax_t)s.st_mtim.tv_sec, s.st_mtim.tv_nsec,
		(intmax_t)s.st_ctim.tv_sec, s.st_ctim.tv_nsec);
	const char *known = ws_map_get(&f->digests, key);
	if (!known && f->locked) {
		f->unread = true;
		return false;
	}
	if (!known) {
		bool read = ws_deliver_digest(f->ctx, path, &digest);
		known = read ? ws_arena_strdup(f->a, digest.hex) : "";
		ws_map_put(&f->digests, key, (void *)(uintptr_t)known, f->a);
	}
	return ws_same(known, record->sha256);
}

static void
add_earlier(struct folder *f, const struct ws_json_doc *doc, const struct ws_json *list,
	const struct ws_map *replaced, ws_record_list *records)
{
	for (const struct ws_json *cell = list ? list->first : NULL; cell; cell = cell->next) {
		struct ws_record record = {0};
		struct ws_err damaged = {0};
		bool whole = ws_table_read(doc, cell, &record_table, f->a, &record, &damaged);
		record.earlier = true;
		if (whole && !strchr(record.wheel, '/') && !ws_map_get(replaced, place_of(&record, f->a))
			&& lies_there(f, &record)) {
			/* An older version may have written the record without this member. */
			if (record.torch && !record.metadata_version) {
				record.metadata_version = metadata_version_of(f->output, record.wheel, f->a);
			}
			*ws_vec_push(records, f->a) = record;
		}
	}
}

/* The records of this run, then those that remain of other runs. An unreadable file counts as
 * empty. */
static ws_record_list
merge(struct folder *f, const char *path, const ws_record_list *own)
{
	struct ws_json_doc doc;
	struct ws_map replaced = {0};
	ws_record_list all = {0};
	for (size_t i = 0; i < own->len; i++) {
		*ws_vec_push(&all, f->a) = own->at[i];
		ws_map_add(&replaced, place_of(&own->at[i], f->a), f->a);
	}
	if (ws_fs_exists(path) && ws_json_read(path, WS_JSON_STRICT, f->a, &doc, NULL)
		&& ws_same(ws_json_text(doc.root, "schema"), SCHEMA)) {
		add_earlier(f, &doc, ws_json_find(doc.root, "cells"), &replaced, &all);
		add_earlier(f, &doc, ws_json_find(doc.root, "earlier"), &replaced, &all);
	}
	return all;
}

const char *
ws_deliver_requirements(const char *output, const struct ws_cell_result *cell, struct ws_arena *a)
{
	const char *const names[] = {
		"requirements.txt", ws_arena_printf(a, "requirements%s.txt", group_of(cell, a))};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *path = ws_path_join(a, output, names[i], NULL);
		if (ws_fs_exists(path)) {
			return path;
		}
	}
	return NULL;
}

/* The records of all runs, and the lock until they are written. Wheels that another run delivered
 * meanwhile are hashed without the lock. */
static bool
lock_and_merge(struct folder *f, const char *path, const ws_record_list *own, unsigned longest_ms,
	int *fd, ws_record_list *all, struct ws_err *err)
{
	for (;;) {
		f->locked = f->unread = false;
		merge(f, path, own);
		if (!ws_flock_wait(f->output, f->ctx->stop, longest_ms, fd, err)) {
			return false;
		}
		f->locked = *fd >= 0; /* else this file system knows no locks */
		*all = merge(f, path, own);
		if (!f->unread) {
			return true;
		}
		close(ws_take_fd(fd));
	}
}

bool
ws_deliver_records(const struct ws_context *ctx, const char *output,
	const struct ws_build_result *result, bool waits, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_FD int fd = -1;
	const char *path = ws_path_join(a, output, "build.json", NULL);
	struct folder folder = {.ctx = ctx, .output = output, .a = a};
	ws_record_list own = {0}, all;
	struct ws_err busy = {0};
	add_ready(output, result, a, &own);
	if (!lock_and_merge(&folder, path, &own, waits ? LONGEST_TURN_MS : 0, &fd, &all, &busy)) {
		if (!waits && !ws_err_is_stop(&busy)) {
			return true;
		}
		*err = busy;
		return false;
	}
	return write_build_json(path, result, &all, a, err)
		&& ws_requirements_write(output, &all, a, err);
}
