/* judge.c - writing the order. The child that follows it is judge_run.c's. */
#include "produce/judge.h"

#include "base/fs.h"
#include "base/json_write.h"
#include "store/cas.h"

#include <string.h>

/* Raise it when the same modules would be judged or measured differently. */
#define JUDGE_VERSION "wheelsmith.check/6"

static const char *
list_name(size_t index, struct ws_arena *a)
{
	return ws_arena_printf(a, "lists/%zu.zst", index);
}

/* Where a library of the host is seen: through a mount of its own, "lib3/libc.so.6", so that neither
 * the host's nor the store's folders are part of the key. Number library_count is Python's. */
static const char *
seen_name(const struct ws_judge_order *order, size_t index, struct ws_arena *a)
{
	const char *path = index < order->library_count ? order->libraries[index] : order->python;
	return path ? ws_arena_printf(a, "lib%zu/%s", index, ws_path_base(path)) : NULL;
}

static void
write_order(const struct ws_judge_order *order, struct ws_arena *a, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", JUDGE_VERSION);
	ws_json_add_text(w, "subject", order->subject);
	ws_json_add_text(w, "archs", ws_arch_set_text(&order->archs, a));
	ws_json_open_list(w, "lists");
	for (size_t i = 0; i < order->list_count; i++) {
		ws_json_add_text(w, NULL, list_name(i, a));
	}
	ws_json_close(w);
	ws_json_add_text(w, "python_tag", order->python_tag);
	ws_json_add_text(w, "stable_python", order->stable_python);
	ws_json_add_text(w, "python", seen_name(order, order->library_count, a));
	ws_json_open_list(w, "libraries");
	for (size_t i = 0; i < order->library_count; i++) {
		ws_json_add_text(w, NULL, seen_name(order, i, a));
	}
	ws_json_close(w);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < order->module_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "module", order->modules[i].module);
		ws_json_add_bool(w, "cuda", order->modules[i].cuda);
		ws_json_add_bool(w, "imported", order->modules[i].imported);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, text);
}

static bool
fill_inputs(struct ws_action *action, const struct ws_judge_order *order,
	const struct ws_store *store, struct ws_arena *a, struct ws_err *err)
{
	struct ws_input *inputs =
		WS_NEW_N(a, struct ws_input, order->module_count + order->list_count + 1);
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_digest digest;
	size_t count = 0;
	write_order(order, a, &text);
	if (!ws_cas_put(store, text.data, text.len, &digest, err)) {
		return false;
	}
	inputs[count++] =
		(struct ws_input){.name = "order.json", .digest = ws_arena_strdup(a, digest.hex)};
	for (size_t i = 0; i < order->list_count; i++) {
		ws_buf_clear(&text);
		if (!ws_fs_read(order->lists[i], &text, err)
			|| !ws_cas_put(store, text.data, text.len, &digest, err)) {
			return false;
		}
		inputs[count++] =
			(struct ws_input){.name = list_name(i, a), .digest = ws_arena_strdup(a, digest.hex)};
	}
	for (size_t i = 0; i < order->module_count; i++) {
		inputs[count++] = (struct ws_input){
			.name = ws_arena_printf(a, "mod/%zu.so", i), .from = order->modules[i].link};
	}
	action->inputs = inputs;
	action->input_count = count;
	return true;
}

/* The host's libraries are read where they are: their contents are part of the key. */
static void
fill_seeds(struct ws_action *action, const struct ws_judge_order *order, struct ws_arena *a)
{
	size_t count = order->library_count + (order->python ? 1 : 0);
	const char **seeds = WS_NEW_N(a, const char *, count);
	struct ws_mount *mounts = WS_NEW_N(a, struct ws_mount, count);
	for (size_t i = 0; i < count; i++) {
		const char *path = i < order->library_count ? order->libraries[i] : order->python;
		seeds[i] = seen_name(order, i, a);
		mounts[i] = (struct ws_mount){
			.name = ws_arena_printf(a, "lib%zu", i), .path = ws_path_dir(a, path)};
	}
	action->mounts = mounts;
	action->mount_count = count;
	action->seeds = seeds;
	action->seed_count = count;
}

const struct ws_action *
ws_judge_action(const struct ws_judge_order *order, const struct ws_store *store,
	const char *program, struct ws_arena *a, struct ws_err *err)
{
	static const char *const argv[] = {"wheelsmith", "internal", "check", NULL};
	static const char *const env[] = {"LANG=C", NULL};
	static const char *const outputs[] = {"check.json"};
	struct ws_token *tokens = WS_NEW(a, struct ws_token);
	struct ws_action *action = WS_NEW(a, struct ws_action);
	tokens[0] = (struct ws_token){"{self}", program};
	*action = (struct ws_action){
		.subject = order->subject,
		.group = order->group,
		.unit = order->unit,
		.stage = "check",
		.variant = "",
		.tool = {"wheelsmith", "{self}", JUDGE_VERSION},
		.argv = argv,
		.env = env,
		.tokens = tokens,
		.token_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.need = {.cpus = 1, .rss_bytes = 128 << 20},
		.cpu_ms = 1000,
	};
	fill_seeds(action, order, a);
	return fill_inputs(action, order, store, a, err) ? action : NULL;
}
