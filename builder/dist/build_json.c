/* build_json.c - build.json, with the wheels of other runs in the folder. Declared in deliver.h. */
#include "dist/build_json.h"

#include "base/fs.h"
#include "base/table.h"
#include "dist/deliver.h"
#include "sys/flock.h"
#include "wheelfile/dist_info.h"
#include "wheelfile/opened_wheel.h"

#include <inttypes.h>

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

static const char *
error_text(const void *err, struct ws_arena *a WS_UNUSED)
{
	return ((const struct ws_err *)err)->text;
}

static const struct ws_type type_error = {.size = sizeof(struct ws_err), .text = error_text};

static const struct ws_field tried_fields[] = {
	WS_WORD("what", struct ws_attempt, kind, ws_supply_words, WS_ALWAYS, "prebuilt or build"),
	WS_VALUE("name", struct ws_attempt, name, WS_OR_NULL, "of a candidate"),
	WS_VALUE("why", struct ws_attempt, why, WS_ALWAYS, NULL),
};
static const struct ws_table tried_table = {NULL, tried_fields, WS_LEN(tried_fields)};

static const struct ws_field sizes_fields[] = {
	WS_VALUE("size", struct ws_wheel_sizes, wheel_bytes, WS_ALWAYS, NULL),
	WS_VALUE("installed", struct ws_wheel_sizes, installed_bytes, WS_ALWAYS, NULL),
};
static const struct ws_table sizes_table = {NULL, sizes_fields, WS_LEN(sizes_fields)};

struct cell_row {
	struct ws_record record; /* without a group: its wheel is not ready */
	const char *decision, *reason, *import_verdict, *import_text;
	const char *const *python;
	const uint64_t *size, *installed;
	const struct ws_wheel_sizes *before;
	uint64_t cpu_ms;
	ws_attempt_list tried;
};

#define CELL struct cell_row
static const struct ws_field import_fields[] = {
	WS_VALUE("verdict", CELL, import_verdict, WS_ALWAYS, "ok or unknown"),
	WS_VALUE("text", CELL, import_text, WS_ALWAYS, NULL),
};
static const struct ws_table import_table = {NULL, import_fields, WS_LEN(import_fields)};

static const struct ws_field cell_fields[] = {
	WS_VALUE("cell", CELL, record.cell, WS_ALWAYS, NULL),
	WS_VALUE("package", CELL, record.package, WS_ALWAYS, NULL),
	WS_VALUE("version", CELL, record.version, WS_OR_NULL, "of the wheel, with its label"),
	WS_VALUE("decision", CELL, decision, WS_ALWAYS, NULL),
	WS_VALUE("reason", CELL, reason, WS_OR_NULL, NULL),
	WS_VALUE("wheel", CELL, record.wheel, WS_OR_NULL, "file name beside this file"),
	WS_VALUE("sha256", CELL, record.sha256, WS_OR_NULL, NULL),
	WS_POINTED_VALUE("size", CELL, size, WS_IF_ANY, "bytes of the wheel"),
	WS_POINTED_VALUE("installed", CELL, installed, WS_IF_ANY, "bytes of its files, unpacked"),
	WS_POINTED("before", CELL, before, sizes_table, WS_IF_ANY, "the earlier wheel, if it differs"),
	WS_PART("import", import_table, WS_IF_ANY, "the result of importing it on this host"),
	WS_VALUE("cpu_ms", CELL, cpu_ms, WS_ALWAYS, "of the commands for its wheel"),
	WS_LIST_OF("tried", CELL, tried.at, tried.len, tried_table, WS_IF_ANY, "failed attempts"),
	WS_VALUE("group", CELL, record.group, WS_IF_ANY, "wheels of one requirements file"),
	WS_POINTED_VALUE("python", CELL, python, WS_IF_ANY, "Python of the wheel; null: any"),
	WS_VALUE("torch", CELL, record.torch, WS_IF_ANY, "torch of a prebuilt wheel"),
	WS_VALUE("metadata_version", CELL, record.metadata_version, WS_IF_ANY, "of a prebuilt wheel"),
};
static const struct ws_table cell_table = {NULL, cell_fields, WS_LEN(cell_fields)};

#define FAILED struct ws_failed_action
static const struct ws_field failed_fields[] = {
	WS_VALUE("cell", FAILED, cell, WS_ALWAYS, "a cell that needs it"),
	WS_VALUE("stage", FAILED, stage, WS_ALWAYS, NULL),
	WS_VALUE("subject", FAILED, subject, WS_ALWAYS, "source file, module or package"),
	WS_VALUE_AS("error", FAILED, err, type_error, WS_ALWAYS | WS_FIELD_POINTER, NULL),
	WS_VALUE("command", FAILED, command, WS_OR_NULL, "quoted for a shell"),
	WS_VALUE("log", FAILED, log, WS_OR_NULL, "path of its output"),
};
static const struct ws_table failed_table = {NULL, failed_fields, WS_LEN(failed_fields)};

struct node_row {
	const char *cell, *stage, *subject, *undivided;
	struct ws_worker_run run;
	uint64_t wall_ms, cpu_ms;
};

#define NODE struct node_row
static const struct ws_field undivided_fields[] = {
	WS_VALUE("cell", NODE, cell, WS_ALWAYS, NULL),
	WS_VALUE("unit", NODE, subject, WS_ALWAYS, NULL),
	WS_VALUE("why", NODE, undivided, WS_ALWAYS, NULL),
};
static const struct ws_table undivided_table = {NULL, undivided_fields, WS_LEN(undivided_fields)};

static const struct ws_field on_farm_fields[] = {
	WS_VALUE("cell", NODE, cell, WS_ALWAYS, "a cell that needs it"),
	WS_VALUE("stage", NODE, stage, WS_ALWAYS, NULL),
	WS_VALUE("subject", NODE, subject, WS_ALWAYS, "source file, and the architecture of a part"),
	WS_VALUE("worker", NODE, run.worker, WS_ALWAYS, NULL),
	WS_VALUE("queued_ms", NODE, run.queued_ms, WS_ALWAYS, "until the worker had it; 0: unknown"),
	WS_VALUE("fetch_ms", NODE, run.fetch_ms, WS_ALWAYS, "downloads of the worker; 0: unknown"),
	WS_VALUE("wall_ms", NODE, wall_ms, WS_ALWAYS, "of the command itself"),
	WS_VALUE("cpu_ms", NODE, cpu_ms, WS_ALWAYS, NULL),
};
static const struct ws_table on_farm_table = {NULL, on_farm_fields, WS_LEN(on_farm_fields)};

struct build_row {
	struct ws_build_result result;
	const struct cell_row *cells;
	const struct ws_record *earlier;
	size_t earlier_count;
	const struct node_row *undivided, *on_farm;
};

#define BUILD struct build_row
static const struct ws_field build_fields[] = {
	WS_FIXED("schema", SCHEMA),
	WS_FIXED("wheelsmith", WS_VERSION),
	WS_VALUE("wall_ms", BUILD, result.wall_ms, WS_ALWAYS, NULL),
	WS_OBJECT("actions", BUILD, result.actions, actions_table, WS_ALWAYS, NULL),
	WS_LIST_OF("cells", BUILD, cells, result.supplies.cell_count, cell_table, WS_ALWAYS, NULL),
	WS_LIST_OF("earlier", BUILD, earlier, earlier_count, record_table, WS_ALWAYS, NULL),
	WS_LIST_OF(
		"failures", BUILD, result.failed, result.failed_count, failed_table, WS_ALWAYS, NULL),
	WS_LIST_OF(
		"undivided", BUILD, undivided, result.undivided.len, undivided_table, WS_ALWAYS, NULL),
	WS_LIST_OF("on_farm", BUILD, on_farm, result.on_farm.len, on_farm_table, WS_ALWAYS, NULL),
};
static const struct ws_table build_table = {NULL, build_fields, WS_LEN(build_fields)};

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

/* The Python of a wheel for a marker; NULL: any. Tags that name one: cp311-cp311, and not cp38-abi3
 * or py3-none. */
static const char *
python_of(const struct ws_cell_result *result, struct ws_arena *a)
{
	const struct ws_python_choice *python = result->cell->point.python;
	struct ws_python_tag tag;
	struct ws_wheel_name name;
	const char *why;
	bool one = result->cell->product->binding == WS_BINDING_PYBIND && python;
	if (one) {
		tag = python->tag;
	}
	if (is_prebuilt(result) && ws_wheel_name_parse(result->supply->wheel, a, &name, &why)) {
		one = name.python_count == 1 && name.abi_count == 1 && name.abis[0][0] == 'c'
			&& ws_python_tag_parse(name.pythons[0], &tag);
	}
	return one ? ws_arena_printf(a, "%u.%u", tag.major, tag.minor) : NULL;
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

static struct cell_row
row_of(const char *output, const struct ws_cell_result *result, struct ws_arena *a)
{
	static const struct ws_supply none;
	const struct ws_supply *supply = result->supply ? result->supply : &none;
	const struct ws_torch_choice *torch = result->cell->point.torch;
	const struct ws_product *product = result->cell->product;
	struct ws_wheel_name name;
	const char *why;
	/* A prebuilt wheel has a label of its own. */
	bool named = is_prebuilt(result) && ws_wheel_name_parse(supply->wheel, a, &name, &why);
	struct cell_row row = {
		.record = {.cell = result->cell->name,
			.package = result->cell->recipe->name,
			.version = named ? name.version.text
				: product    ? product->version
							 : NULL,
			.wheel = supply->wheel,
			.size = supply->wheel_bytes},
		.decision = ws_cell_state_name(result),
		.reason = ws_cell_reason(result),
		.import_verdict = !supply->import ? NULL
			: supply->imported            ? "ok"
										  : "unknown",
		.import_text = supply->import,
		.cpu_ms = supply->cpu_ms,
		.tried = supply->tried,
	};
	/* The rejected candidates; a supply has them with a build that failed. */
	if (!result->supply && result->cell->candidates) {
		ws_attempts_add(result->cell->candidates, NULL, a, &row.tried);
	}
	if (supply->wheel) {
		row.record.sha256 = supply->digest.hex;
		row.size = &supply->wheel_bytes;
		row.installed = &supply->installed_bytes;
		row.before = supply->before.wheel_bytes ? &supply->before : NULL;
	}
	if (ws_cell_state(result) == WS_CELL_READY) {
		row.record.group = group_of(result, a);
		row.record.python = python_of(result, a);
		if (is_prebuilt(result)) {
			/* The torch that it was judged for; METADATA may name another one, or none. */
			bool bound = product->binding < WS_BINDING_C_ABI && torch;
			row.record.torch = bound ? torch->version.text : NULL;
			row.record.metadata_version = metadata_version_of(output, supply->wheel, a);
		}
	}
	return row;
}

static const struct node_row *
rows_of(const ws_node_list *nodes, struct ws_arena *a)
{
	struct node_row *rows = WS_NEW_N(a, struct node_row, nodes->len);
	for (size_t i = 0; i < nodes->len; i++) {
		const struct ws_node *node = nodes->at[i];
		const struct ws_action *action = node->action;
		rows[i] = (struct node_row){action->group, action->stage, action->subject, node->undivided,
			node->elsewhere, node->result.wall_ms, node->result.cpu_ms};
	}
	return rows;
}

/* Records with the same key replace each other: an environment has a package once. */
static const char *
place_of(const struct ws_record *record, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s %s %s %s", record->group, record->package,
		record->python ? record->python : "", ws_record_machine(record, a));
}

/* ---- wheels in the folder ---- */

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
	for (WS_JSON_EACH(cell, list)) {
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
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *path = ws_path_join(a, output, "build.json", NULL);
	struct folder folder = {.ctx = ctx, .output = output, .a = a};
	size_t count = result->supplies.cell_count;
	struct cell_row *cells = WS_NEW_N(a, struct cell_row, count);
	ws_record_list own = {0}, all;
	struct ws_err busy = {0};
	for (size_t i = 0; i < count; i++) {
		cells[i] = row_of(output, &result->supplies.cells[i], a);
		if (cells[i].record.group) {
			cells[i].python = &cells[i].record.python;
			*ws_vec_push(&own, a) = cells[i].record;
		}
	}
	if (!lock_and_merge(&folder, path, &own, waits ? LONGEST_TURN_MS : 0, &fd, &all, &busy)) {
		if (!waits && !ws_err_is_stop(&busy)) {
			return true;
		}
		*err = busy;
		return false;
	}
	const struct build_row row = {
		.result = *result,
		.cells = cells,
		.earlier = all.len > own.len ? &all.at[own.len] : NULL,
		.earlier_count = all.len - own.len,
		.undivided = rows_of(&result->undivided, a),
		.on_farm = rows_of(&result->on_farm, a),
	};
	ws_table_text(&build_table, &row, WS_JSON_PRETTY, &text);
	return ws_fs_write_atomic(path, text.data, text.len, 0644, err)
		&& ws_requirements_write(output, &all, a, err);
}
