/* judge.c - writing the order. The child that follows it is judge_run.c's. */
#include "judge/judge.h"

#include "base/json_write.h"
#include "judge/internal_action.h"

/* Raise it when the same modules would be judged or measured differently. */
#define JUDGE_VERSION "wheelsmith.check/7"

static void
write_order(const struct ws_judge_order *order, const struct ws_judge_place_mounts *mounts,
	struct ws_arena *a, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", JUDGE_VERSION);
	ws_json_add_text(w, "subject", order->subject);
	ws_json_add_text(w, "archs", ws_arch_set_text(&order->archs, a));
	ws_judge_place_write(w, &order->place, mounts, a);
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
	const struct ws_judge_place_mounts *mounts, const struct ws_store *store, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_input *inputs = WS_NEW_N(a, struct ws_input, order->module_count + 1);
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t count = 0;
	write_order(order, mounts, a, &text);
	if (!ws_internal_input(store, &text, "order.json", &inputs[count++], a, err)) {
		return false;
	}
	for (size_t i = 0; i < order->module_count; i++) {
		inputs[count++] = (struct ws_input){
			.name = ws_arena_printf(a, "mod/%zu.so", i), .from = order->modules[i].link};
	}
	action->inputs = inputs;
	action->input_count = count;
	return true;
}

const struct ws_action *
ws_judge_action(const struct ws_judge_order *order, const struct ws_store *store,
	const char *program, struct ws_arena *a, struct ws_err *err)
{
	static const char *const outputs[] = {"check.json"};
	struct ws_judge_place_mounts mounts = {0};
	struct ws_action *action = ws_internal_action("check", JUDGE_VERSION, program, a);
	ws_judge_place_mount(&order->place, &mounts, a);
	action->subject = order->subject;
	action->group = order->group;
	action->unit = order->unit;
	ws_judge_place_attach(&mounts, action);
	action->outputs = outputs;
	action->output_count = WS_LEN(outputs);
	action->cpu_ms = 1000;
	return fill_inputs(action, order, &mounts, store, a, err) ? action : NULL;
}
