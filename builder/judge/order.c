/* order.c - writing the order, as an action or for at once. The child that follows it is
 * run.c's. */
#include "judge/order.h"

#include "judge/internal_action.h"
#include "sys/child.h"

/* Raise it when the same order would be judged or measured differently. */
#define JUDGE_VERSION "wheelsmith.verify/10"

#define WHEEL "wheel.whl"

void
ws_judge_expect(struct ws_judge_order *order, const struct ws_recipe *recipe, struct ws_arena *a)
{
	const struct ws_install_check *check = &recipe->check;
	const char **must = WS_NEW_N(a, const char *, recipe->extension_count);
	order->required = check->imports;
	order->required_count = check->import_count;
	order->must = must;
	order->must_any = recipe->prebuilt_only && recipe->binding != WS_BINDING_NONE;
	for (size_t i = 0; i < recipe->extension_count; i++) {
		const struct ws_extension *extension = &recipe->extensions[i];
		order->kernels = order->kernels || ws_extension_compiles_cuda(extension);
		if (ws_is_among(extension->module, check->imports, check->import_count)) {
			must[order->must_count++] = extension->module;
		}
	}
}

static void
write_modules(struct ws_json_writer *w, const struct ws_judge_order *order, struct ws_arena *a)
{
	ws_json_add_text(w, "subject", order->subject);
	ws_json_add_text(w, "archs", ws_arch_set_text(&order->archs, a));
	ws_json_add_texts(w, "trust", order->trust, order->trust_count);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < order->module_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "module", order->modules[i].module);
		ws_json_add_bool(w, "cuda", order->modules[i].cuda);
		ws_json_add_bool(w, "imported", order->modules[i].imported);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_order(const struct ws_judge_order *order, const char *wheel,
	const struct ws_judge_place_mounts *mounts, struct ws_arena *a, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", JUDGE_VERSION);
	if (order->modules) {
		write_modules(w, order, a);
	} else {
		ws_json_add_text(w, "name", order->name);
		ws_json_add_text(w, "wheel", wheel);
		ws_json_add_text(w, "root", order->root);
		ws_json_add_texts(w, "files", order->files, order->file_count);
		ws_json_add_texts(w, "required", order->required, order->required_count);
		ws_json_add_texts(w, "must", order->must, order->must_count);
		ws_json_add_bool(w, "must_any", order->must_any);
		ws_json_add_bool(w, "kernels", order->kernels);
	}
	ws_json_open_list(w, "places");
	for (size_t i = 0; i < order->place_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "torch", order->places[i].torch);
		if (order->places[i].bad) {
			ws_json_add_text(w, "known_bad", order->places[i].bad->rule.why);
			ws_json_add_text(w, "known_bad_see", order->places[i].bad->rule.see);
		}
		ws_judge_place_write(w, &order->places[i].place, mounts, a);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_PRETTY, text);
}

static bool
fill_inputs(struct ws_action *action, const struct ws_judge_order *order,
	const struct ws_judge_place_mounts *mounts, const struct ws_store *store, struct ws_arena *a,
	struct ws_err *err)
{
	struct ws_input *inputs = WS_NEW_N(a, struct ws_input, order->module_count + 2);
	WS_AUTO_BUF struct ws_buf text = {0};
	size_t count = 0;
	write_order(order, WHEEL, mounts, a, &text);
	if (!ws_internal_input(store, &text, WS_CHILD_ORDER, &inputs[count++], a, err)) {
		return false;
	}
	if (order->digest) {
		inputs[count++] = (struct ws_input){.name = WHEEL, .digest = order->digest};
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
	static const char *const outputs[] = {WS_VERDICT_FILE};
	struct ws_judge_place_mounts mounts = {0};
	struct ws_action *action = ws_internal_action("verify", JUDGE_VERSION, program, a);
	for (size_t i = 0; i < order->place_count; i++) {
		ws_judge_place_mount(&order->places[i].place, &mounts, a);
	}
	action->stage = order->modules ? "check" : action->stage;
	action->subject = order->subject;
	action->group = order->group;
	action->unit = order->unit;
	ws_judge_place_attach(&mounts, action);
	action->outputs = outputs;
	action->output_count = WS_LEN(outputs);
	action->cpu_ms = order->modules ? 1000 : 2000;
	action->limits = WS_CHILD_READER;
	return fill_inputs(action, order, &mounts, store, a, err) ? action : NULL;
}

bool
ws_judge_recall(const struct ws_judge_order *order, struct ws_cache *cache, const char *program,
	struct ws_arena *a, struct ws_wheel_verdict *verdict)
{
	const struct ws_action *action = ws_judge_action(order, NULL, program, a, NULL);
	struct ws_digest base;
	struct ws_result result;
	const char *why;
	return ws_cache_base(cache, action, NULL, &base, NULL)
		&& ws_cache_find(cache, action, &base, a, &result, &why)
		&& ws_verdict_recall(cache->store, result.outputs[0].hex, a, verdict, NULL);
}

/* The child was ended by the wheel, or by its own limits. */
static void
fill_unknown(const struct ws_judge_order *order, const char *why, struct ws_arena *a,
	struct ws_wheel_verdict *verdict)
{
	struct ws_wheel_place_verdict *places =
		WS_NEW_N(a, struct ws_wheel_place_verdict, order->place_count);
	for (size_t i = 0; i < order->place_count; i++) {
		places[i] = (struct ws_wheel_place_verdict){
			.verdict = WS_VERDICT_UNKNOWN, .why = why, .cause = "unreadable"};
	}
	*verdict = (struct ws_wheel_verdict){.verdict = WS_VERDICT_UNKNOWN,
		.why = why,
		.cause = "unreadable",
		.places = places,
		.place_count = order->place_count};
}

bool
ws_judge_now(const struct ws_judge_order *order, const char *program, const char *folder,
	struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *const argv[] = {program, "internal", "verify", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.dir = folder,
		.order = &text,
		.answer = WS_VERDICT_FILE,
		.limits = WS_CHILD_READER,
		.name = "reading it",
	};
	struct ws_json_doc doc;
	write_order(order, order->wheel, NULL, a, &text);
	if (!ws_child_ask(&child, &answer, err)) {
		if (ws_err_is_stop(err)) {
			return false;
		}
		fill_unknown(order, ws_arena_strdup(a, err->text), a, verdict);
		*err = (struct ws_err){0};
		return true;
	}
	if (!ws_json_parse(
			WS_VERDICT_FILE, ws_buf_text(&answer), answer.len, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	ws_verdict_of(doc.root, a, verdict);
	return true;
}
