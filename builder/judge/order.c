/* order.c - writing the order, and reading the verdict. The child is run.c's. */
#include "judge/order.h"

#include "base/fs.h"
#include "judge/internal_action.h"
#include "store/cas.h"
#include "sys/capture.h"

/* Raise it when the same wheel would be judged differently. */
#define JUDGE_VERSION "wheelsmith.verify/2"

#define ORDER "order.json"
#define LONGEST_MS 150000 /* the child ends itself after 120 s of CPU */

const char *
ws_verdict_word(enum ws_finding_verdict verdict)
{
	static const char *const words[] = {
		[WS_VERDICT_OK] = "loads", [WS_VERDICT_UNKNOWN] = "unknown", [WS_VERDICT_FAILS] = "fails"};
	return words[verdict];
}

static void
write_order(const struct ws_judge_wheel_order *order, const char *wheel,
	const struct ws_judge_place_mounts *mounts, struct ws_arena *a, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", JUDGE_VERSION);
	ws_json_add_text(w, "name", order->name);
	ws_json_add_text(w, "wheel", wheel);
	ws_json_add_text(w, "root", order->root);
	ws_json_add_texts(w, "files", order->files, order->file_count);
	ws_json_add_texts(w, "required", order->required, order->required_count);
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
	ws_json_close(w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, text);
}

static bool
fill_inputs(struct ws_action *action, const struct ws_judge_wheel_order *order,
	const struct ws_judge_place_mounts *mounts, const struct ws_store *store, struct ws_arena *a,
	struct ws_err *err)
{
	static const char wheel[] = "wheel.whl";
	struct ws_input *inputs = WS_NEW_N(a, struct ws_input, 2);
	WS_AUTO_BUF struct ws_buf text = {0};
	write_order(order, wheel, mounts, a, &text);
	if (!ws_internal_input(store, &text, ORDER, &inputs[0], a, err)) {
		return false;
	}
	inputs[1] = (struct ws_input){
		.name = wheel, .digest = order->digest, .from = order->pack, .output = order->pack_output};
	action->inputs = inputs;
	action->input_count = 2;
	return true;
}

const struct ws_action *
ws_judge_wheel_action(const struct ws_judge_wheel_order *order, const struct ws_store *store,
	const char *program, struct ws_arena *a, struct ws_err *err)
{
	static const char *const outputs[] = {WS_WHEEL_VERDICT};
	struct ws_judge_place_mounts mounts = {0};
	struct ws_action *action = ws_internal_action("verify", JUDGE_VERSION, program, a);
	for (size_t i = 0; i < order->place_count; i++) {
		ws_judge_place_mount(&order->places[i].place, &mounts, a);
	}
	action->subject = order->subject;
	action->group = order->group;
	action->unit = order->unit;
	ws_judge_place_attach(&mounts, action);
	action->outputs = outputs;
	action->output_count = WS_LEN(outputs);
	action->cpu_ms = 2000;
	return fill_inputs(action, order, &mounts, store, a, err) ? action : NULL;
}

/* ---- the verdict ---- */

static enum ws_finding_verdict
verdict_of(const struct ws_json *object)
{
	const char *word = ws_json_text(object, "verdict");
	return ws_same(word, "loads") ? WS_VERDICT_OK
		: ws_same(word, "fails")  ? WS_VERDICT_FAILS
								  : WS_VERDICT_UNKNOWN;
}

static void
take_verdict(const struct ws_json *root, struct ws_arena *a, struct ws_wheel_verdict *verdict)
{
	const struct ws_json *list = ws_json_find(root, "places");
	struct ws_wheel_place_verdict *places =
		WS_NEW_N(a, struct ws_wheel_place_verdict, list ? list->count : 0);
	*verdict = (struct ws_wheel_verdict){.verdict = verdict_of(root),
		.why = ws_json_text(root, "why"),
		.cause = ws_json_text(root, "cause"),
		.places = places,
		.json = root};
	for (const struct ws_json *p = list ? list->first : NULL; p; p = p->next) {
		places[verdict->place_count++] = (struct ws_wheel_place_verdict){
			verdict_of(p), ws_json_text(p, "why"), ws_json_text(p, "cause"), p};
	}
}

bool
ws_judge_wheel_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc doc;
	if (!ws_cas_read(store, digest, &text, err)
		|| !ws_json_parse(
			WS_WHEEL_VERDICT, ws_buf_text(&text), text.len, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	take_verdict(doc.root, a, verdict);
	return true;
}

/* The child was ended by the wheel, or by its own limits. */
static void
give_up(const struct ws_judge_wheel_order *order, const char *why, struct ws_arena *a,
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
ws_judge_wheel(const struct ws_judge_wheel_order *order, const char *program, const char *folder,
	struct ws_arena *a, struct ws_wheel_verdict *verdict, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	WS_AUTO_BUF struct ws_buf said = {0};
	const char *argv[] = {program, "internal", "verify", NULL};
	const char *made = ws_path_join(a, folder, WS_WHEEL_VERDICT, NULL);
	struct ws_capture child = {
		.argv = argv, .dir = folder, .timeout_ms = LONGEST_MS, .with_stderr = true};
	struct ws_json_doc doc;
	struct ws_err fault = {0};
	write_order(order, order->wheel, NULL, a, &text);
	if (!ws_fs_write(ws_path_join(a, folder, ORDER, NULL), text.data, text.len, 0600, err)) {
		return false;
	}
	if (!ws_capture_run(&child, &said, &fault) || !ws_fs_exists(made)) {
		struct ws_str line = ws_str_trim(ws_buf_str(&said));
		give_up(order,
			line.n ? ws_str_copy(line, a)
				   : ws_arena_printf(a, "it could not be read: %s", fault.text),
			a, verdict);
		return true;
	}
	if (!ws_json_read(made, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	take_verdict(doc.root, a, verdict);
	return true;
}
