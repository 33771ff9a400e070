/* records.c - build.json, and requirements files that pip takes with --require-hashes. Declared in
 * deliver.h. */
#include "base/fs.h"
#include "base/json_write.h"
#include "base/map.h"
#include "produce/deliver.h"

#include <string.h>

static void
write_tried(struct ws_json_writer *w, const struct ws_supply *supply)
{
	if (!supply || supply->tried.len == 0) {
		return;
	}
	ws_json_open_list(w, "tried");
	for (size_t i = 0; i < supply->tried.len; i++) {
		const struct ws_attempt *attempt = &supply->tried.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "what", ws_supply_name(attempt->kind));
		ws_json_add_text(w, "name", attempt->name);
		ws_json_add_text(w, "why", attempt->why);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_cell(struct ws_json_writer *w, const struct ws_cell_result *result)
{
	const struct ws_cell *cell = result->cell;
	const struct ws_supply *supply = result->supply;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "cell", cell->name);
	ws_json_add_text(w, "package", cell->recipe->name);
	ws_json_add_text(w, "version", cell->product ? cell->product->version : NULL);
	ws_json_add_text(w, "decision", ws_cell_state_name(result));
	ws_json_add_text(w, "reason", ws_cell_reason(result));
	const char *wheel = supply ? supply->wheel : NULL;
	ws_json_add_text(w, "wheel", wheel);
	ws_json_add_text(w, "sha256", wheel ? supply->digest.hex : NULL);
	if (wheel) {
		ws_json_add_u64(w, "size", supply->wheel_bytes);
	}
	ws_json_add_u64(w, "cpu_ms", supply ? supply->cpu_ms : 0);
	write_tried(w, supply);
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

static bool
write_build_json(const char *output, const struct ws_build_result *result, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", "wheelsmith.build/1");
	ws_json_add_text(w, "wheelsmith", WS_VERSION);
	ws_json_add_u64(w, "wall_ms", result->wall_ms);
	ws_json_open_object(w, "actions");
	ws_json_add_u64(w, "total", result->actions.total);
	ws_json_add_u64(w, "from_store", result->actions.hits);
	ws_json_add_u64(w, "ran", result->actions.ran);
	ws_json_add_u64(w, "failed", result->actions.failed);
	ws_json_add_u64(w, "cpu_ms", result->actions.cpu_ms);
	ws_json_add_u64(w, "peak_bytes", result->actions.peak_bytes);
	ws_json_close(w);
	ws_json_open_list(w, "cells");
	for (size_t i = 0; i < result->supplies.cell_count; i++) {
		write_cell(w, &result->supplies.cells[i]);
	}
	ws_json_close(w);
	ws_json_open_list(w, "failures");
	for (size_t i = 0; i < result->failed_count; i++) {
		write_failed(w, &result->failed[i]);
	}
	ws_json_close(w);
	ws_json_close(w);
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	return ws_fs_write_atomic(
		ws_path_join(a, output, "build.json", NULL), text.data, text.len, 0644, err);
}

/* What cannot stand in one requirements file: pip takes a package once for each Python, and no
 * marker tells ABIs or free-threaded interpreters apart. */
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

static void
add_requirement(struct ws_buf *text, const struct ws_cell_result *result)
{
	const struct ws_product *product = result->cell->product;
	const struct ws_python_choice *python = result->cell->point.python;
	ws_buf_printf(text, "%s==%s", product->recipe->name, product->version);
	if (product->binding == WS_BINDING_PYBIND && python) {
		ws_buf_printf(text, " ; python_version == \"%u.%u\"", python->tag.major, python->tag.minor);
	}
	ws_buf_printf(text, " \\\n    --hash=sha256:%s\n", result->supply->digest.hex);
}

static bool
write_requirements(const char *output, const struct ws_build_result *result, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_map groups = {0};
	for (size_t i = 0; i < result->supplies.cell_count; i++) {
		const struct ws_cell_result *cell = &result->supplies.cells[i];
		if (ws_cell_state(cell) != WS_CELL_READY) {
			continue;
		}
		const char *group = group_of(cell, a);
		struct ws_buf *text = ws_map_get(&groups, group);
		if (!text) {
			text = WS_NEW(a, struct ws_buf);
			ws_map_put(&groups, group, text, a);
			ws_buf_puts(text, "# pip install --require-hashes --no-deps --find-links . -r THIS\n");
		}
		add_requirement(text, cell);
	}
	bool done = true;
	for (size_t i = 0; i < groups.count; i++) {
		struct ws_buf *text = ws_map_get(&groups, groups.slots[i].key);
		const char *name =
			ws_arena_printf(a, "requirements%s.txt", groups.count > 1 ? groups.slots[i].key : "");
		done = done
			&& ws_fs_write_atomic(
				ws_path_join(a, output, name, NULL), text->data, text->len, 0644, err);
		ws_buf_release(text);
	}
	return done;
}

bool
ws_deliver_records(const struct ws_context *ctx, const char *output,
	const struct ws_build_result *result, struct ws_err *err)
{
	return write_build_json(output, result, ctx->a, err)
		&& write_requirements(output, result, ctx->a, err);
}
