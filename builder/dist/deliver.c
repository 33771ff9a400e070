/* deliver.c - wheels, logs, editor databases. The records are records.c's. */
#include "dist/deliver.h"

#include "base/fs.h"
#include "make/import_check.h"
#include "make/pack.h"
#include "store/cas.h"
#include "store/results.h"
#include "sys/clock.h"
#include "wheelfile/opened_wheel.h"

#include <errno.h>

#define LONGEST_STEM 200 /* of a log's name, in bytes; file systems take 255 */

bool
ws_deliver_open(const char *output, struct ws_err *err)
{
	if (!ws_fs_mkdirs(output, err)) {
		return ws_err_wrap(err, "the output folder");
	}
	if (access(output, W_OK | X_OK) == 0) {
		ws_fs_remove_parts(output);
		return true;
	}
	ws_err_sys(err, WS_ERR_IO, "cannot write into the output folder '%s'", output);
	return err && ws_err_has_cure(err) ? false : ws_err_cure_code(err, WS_CURE_OUTPUT, NULL);
}

/* ---- wheels ---- */

bool
ws_deliver_digest(const struct ws_context *ctx, const char *path, struct ws_digest *digest)
{
	return ctx->ledger ? ws_ledger_file_digest(ctx->ledger, path, digest)
					   : ws_digest_file(path, digest, NULL, NULL);
}

/* A wheel that exists before the build. */
struct ready_wheel {
	const char *file, *sha256, *from;
	const struct ws_supply *supply;
};

bool
ws_deliver_may(const struct ws_context *ctx, const struct ws_supplies *supplies, struct ws_err *err)
{
	struct ready_wheel *ready = WS_NEW_N(ctx->a, struct ready_wheel, supplies->count + 1);
	struct ws_map by_name = {0};
	for (size_t i = 0; i < supplies->count; i++) {
		const struct ws_supply *supply = &supplies->at[i];
		const struct ws_product *product = supply->product;
		const struct ws_candidate *chosen = product->chosen;
		struct ws_cell_record record;
		if (!ws_supply_is_open(supply)) {
			continue;
		}
		if (ws_supply_is_prebuilt(supply) && chosen) {
			ready[i] = (struct ready_wheel){chosen->file, chosen->sha256, chosen->from, supply};
		} else if (!ws_supply_is_prebuilt(supply) && product->wheel.file
			&& ws_cells_get(ctx->store, product->key, ctx->a, &record)) {
			const char *sha256 = ws_arena_strdup(ctx->a, record.digest.hex);
			ready[i] = (struct ready_wheel){record.file, sha256, "the store", supply};
		} else {
			continue;
		}
		const struct ready_wheel *same = ws_map_get(&by_name, ready[i].file);
		if (same && !ws_same(same->sha256, ready[i].sha256)) {
			const struct ready_wheel *both[] = {same, &ready[i]};
			ws_err_set(err, WS_ERR_CONFIG, "two wheels would be delivered as '%s'", same->file);
			for (size_t j = 0; j < WS_LEN(both); j++) {
				ws_err_cure(err, "%s: sha256 %s, of %s", both[j]->supply->product->cells[0]->name,
					both[j]->sha256, both[j]->from);
			}
			return ws_err_cure(
				err, "give each of these cells a run and an output folder of its own");
		}
		ws_map_put(&by_name, ready[i].file, &ready[i], ctx->a);
	}
	return true;
}

/* Measures the installed size. An unreadable wheel of ours is a fault of the store. */
static bool
measure(const struct ws_context *ctx, struct ws_supply *supply, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_opened_wheel wheel;
	const char *path = ws_cas_open(ctx->store, supply->digest.hex, a, err);
	if (!path || !ws_opened_wheel_read(path, supply->wheel, a, &wheel, err)) {
		return false;
	}
	supply->installed_bytes = wheel.zip.total_bytes;
	ws_opened_wheel_close(&wheel);
	return true;
}

/* Sizes of the wheel, of the one before it; then the store remembers this one. */
static bool
remember(const struct ws_context *ctx, const struct ws_lock *lock, struct ws_supply *supply,
	struct ws_err *err)
{
	/* The cell key with the pins that were made since planning; "" when one is missing still. */
	struct ws_product pinned = *supply->product;
	struct ws_torch_choice torch;
	struct ws_cuda_choice cuda;
	if (pinned.point.torch && !pinned.point.torch->installed) {
		torch = *pinned.point.torch;
		torch.pin = ws_lock_torch(lock, torch.version.text);
		pinned.point.torch = &torch;
	}
	if (pinned.point.cuda) {
		cuda = *pinned.point.cuda;
		cuda.pin = ws_lock_cuda(lock, cuda.name);
		pinned.point.cuda = &cuda;
	}
	ws_key_fill(&pinned, lock, NULL, ctx->a);
	const char *key = pinned.key;
	struct ws_digest last = ws_cells_last_key(supply->product->cells[0]->name);
	struct ws_cell_record before;
	struct ws_cell_record record = {
		.file = supply->wheel, .digest = supply->digest, .built_s = ws_clock_wall_s()};
	bool had = ws_cells_get(ctx->store, last.hex, ctx->a, &before);
	bool same = had && ws_digest_eq(&before.digest, &supply->digest);
	if (same) {
		supply->installed_bytes = before.installed_bytes;
	} else if (!measure(ctx, supply, err)) {
		return false;
	} else if (had) {
		supply->before.wheel_bytes = before.wheel_bytes;
		supply->before.installed_bytes = before.installed_bytes;
	}
	record.wheel_bytes = supply->wheel_bytes;
	record.installed_bytes = supply->installed_bytes;
	bool known = supply->kind == WS_SUPPLY_CACHED && supply->product->wheel.file
		&& strcmp(key, supply->product->key) == 0;
	return (same || ws_cells_put(ctx->store, last.hex, &record, err))
		&& (!key[0] || known || ws_cells_put(ctx->store, key, &record, err));
}

static bool
finish(const struct ws_context *ctx, const char *output, struct ws_supply *supply,
	const struct ws_supply *ready, struct ws_err *err)
{
	const char *to = ws_path_join(ctx->a, output, ready->wheel, NULL);
	struct ws_digest there;
	bool same = ws_fs_exists(to) && ws_deliver_digest(ctx, to, &there)
		&& ws_digest_eq(&there, &ready->digest);
	if (!same && !ws_cas_copy_to(ctx->store, ready->digest.hex, to, 0644, err)) {
		return false;
	}
	*supply = *ready;
	for (size_t i = 0; i < supply->product->cell_count; i++) {
		struct ws_event event = {.kind = WS_EVENT_CELL_DONE,
			.subject = supply->product->cells[i]->name,
			.outcome = supply->kind == WS_SUPPLY_BUILT ? WS_OUTCOME_RAN : WS_OUTCOME_HIT,
			.detail = supply->wheel};
		ws_events_emit(ctx->events, &event);
	}
	return true;
}

bool
ws_deliver_product(const struct ws_context *ctx, const struct ws_lock *lock, const char *output,
	const struct ws_made *made, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	const struct ws_result *result = &made->pack->result;
	struct ws_supply *supply = made->supply;
	struct ws_supply ready = *supply;
	if (!ws_cas_read(ctx->store, result->outputs[WS_PACK_NAME].hex, &name, err)) {
		return false;
	}
	ready.kind = WS_SUPPLY_CACHED;
	ready.wheel = ws_str_copy(ws_str_trim(ws_buf_str(&name)), ctx->a);
	ready.digest = result->outputs[WS_PACK_WHEEL];
	ready.wheel_bytes = result->sizes[WS_PACK_WHEEL];
	if (made->import) {
		ready.import = ws_import_finding(ctx->store, made->import, &ready.imported, ctx->a);
	}
	for (size_t i = 0; i < made->nodes.len; i++) {
		const struct ws_node *node = made->nodes.at[i];
		if (node->outcome == WS_OUTCOME_RAN) {
			ready.kind = WS_SUPPLY_BUILT;
			ready.cpu_ms += node->result.cpu_ms;
		}
	}
	return remember(ctx, lock, &ready, err) && finish(ctx, output, supply, &ready, err);
}

bool
ws_deliver_stored(
	const struct ws_context *ctx, const char *output, struct ws_supply *supply, struct ws_err *err)
{
	struct ws_supply ready = *supply;
	struct ws_cell_record record;
	const char *name = supply->product->cells[0]->name;
	if (!ws_cells_get(ctx->store, supply->product->key, ctx->a, &record)) {
		return ws_err_set(err, WS_ERR_IO, "%s: the store has lost its wheel", name);
	}
	ready.kind = WS_SUPPLY_CACHED;
	ready.wheel = record.file;
	ready.digest = record.digest;
	ready.wheel_bytes = record.wheel_bytes;
	ready.installed_bytes = record.installed_bytes;
	return finish(ctx, output, supply, &ready, err);
}

bool
ws_deliver_prebuilt(const struct ws_context *ctx, const char *output, struct ws_supply *supply,
	const struct ws_candidate *wheel, struct ws_err *err)
{
	struct ws_supply ready = *supply;
	struct stat status;
	if (!ws_digest_parse(wheel->sha256, &ready.digest)) {
		return ws_err_set(err, WS_ERR_INTERNAL, "'%s' has no digest", wheel->file);
	}
	const char *path = ws_cas_open(ctx->store, ready.digest.hex, ctx->a, err);
	if (!path) {
		return false;
	}
	if (stat(path, &status) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
	}
	ready.kind = WS_SUPPLY_PREBUILT;
	ready.wheel = wheel->file;
	ready.wheel_bytes = (uint64_t)status.st_size;
	return measure(ctx, &ready, err) && finish(ctx, output, supply, &ready, err);
}

/* ---- logs ---- */

/* A log is named after a unit's path below the sources, flat ("csrc-cpu-ops.cpp"), else after the
 * output; without blanks, so that a printed name can be pasted. Two extensions may share a unit:
 * the second one's log gets a number. */
const char *const *
ws_deliver_log_names(const struct ws_graph *graph, struct ws_arena *a)
{
	const char **names = WS_NEW_N(a, const char *, graph->nodes.len + 1);
	struct ws_map counts = {0};
	for (size_t i = 0; i < graph->nodes.len; i++) {
		const struct ws_action *action = graph->nodes.at[i]->action;
		bool is_unit = strcmp(action->stage, "compile") == 0;
		char *stem = ws_arena_strdup(a, is_unit ? strchr(action->unit, '/') + 1 : action->subject);
		for (char *c = stem; *c; c++) {
			*c = *c == '/' || *c == ' ' ? '-' : *c;
		}
		size_t len = strlen(stem);
		stem += len > LONGEST_STEM ? len - LONGEST_STEM : 0;
		const char *key = ws_arena_printf(a, "%s\n%s", action->group, stem);
		uintptr_t same = (uintptr_t)ws_map_get(&counts, key) + 1;
		ws_map_put(&counts, key, (void *)same, a);
		names[i] = same > 1 ? ws_arena_printf(a, "%s-%u.log", stem, (unsigned)same)
							: ws_arena_printf(a, "%s.log", stem);
	}
	return names;
}

bool
ws_deliver_log(const struct ws_context *ctx, const char *output, const struct ws_node *node,
	const char *name, const char **path, struct ws_err *err)
{
	const char *folder = ws_path_join(ctx->a, output, "logs", node->action->group, NULL);
	*path = ws_path_join(ctx->a, folder, name, NULL);
	return ws_fs_mkdirs(folder, err)
		&& ws_cas_copy_to(ctx->store, node->result.log.hex, *path, 0644, err);
}

/* ---- for editors ---- */

bool
ws_deliver_compile_commands(const struct ws_context *ctx, const char *output,
	const struct ws_made *made, size_t count, struct ws_err *err)
{
	char absolute[4096];
	if (!realpath(output, absolute)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot find '%s'", output);
	}
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_list(w, NULL);
	bool done = true;
	for (size_t i = 0; i < count && done; i++) {
		const char *dir = ws_arena_printf(ctx->a, "%s/compile/%zu", absolute, i);
		for (size_t j = 0; j < made[i].nodes.len && done; j++) {
			const struct ws_action *action = made[i].nodes.at[j]->action;
			if (strcmp(action->stage, "compile") != 0) {
				continue;
			}
			done = ws_fs_mkdirs(dir, err);
			for (size_t k = 0; k < action->mount_count && done; k++) {
				const char *place = ws_path_join(ctx->a, dir, action->mounts[k].name, NULL);
				unlink(place);
				done = symlink(action->mounts[k].path, place) == 0
					|| ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", place);
			}
			const char *const *words = ws_action_words(action, action->argv, dir, ctx->a);
			size_t length = 0;
			while (words[length]) {
				length++;
			}
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "directory", dir);
			ws_json_add_text(w, "file", action->seeds[0]);
			ws_json_add_texts(w, "arguments", words, length);
			ws_json_close(w);
		}
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	const char *path = ws_path_join(ctx->a, output, "compile_commands.json", NULL);
	return done && ws_fs_write_atomic(path, text.data, text.len, 0644, err);
}
