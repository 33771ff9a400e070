/* facts_child.c - both ends: an order, and an answer that is facts or an error. */
#include "inspect/facts_child.h"

#include "base/fs.h"
#include "base/json.h"
#include "base/json_write.h"
#include "inspect/facts_json.h"
#include "sys/child.h"

#include <stdlib.h>

#define ORDER "order.json"
#define FACTS "facts.json"
#define MODULES "modules"
#define LONGEST_MS \
	600000 /* the child ends itself after some CPU time; a slow disk has no such limit */

/* ---- the parent ---- */

static bool
write_order(enum ws_facts_kind kind, const struct ws_facts_order *order, struct ws_arena *a,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_u64(w, "kind", kind);
	ws_json_add_text(w, "name", order->name);
	ws_json_add_text(w, "path", order->path);
	ws_json_add_texts(w, "stable", order->lists.stable, order->lists.stable_count);
	ws_json_add_texts(w, "torch", order->lists.torch, order->lists.torch_count);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	const char *path = ws_path_join(a, order->folder, ORDER, NULL);
	return ws_fs_write(path, text.data, text.len, 0600, err)
		&& ws_fs_mkdirs(ws_path_join(a, order->folder, MODULES, NULL), err);
}

/* An answer that says why there are no facts. */
static bool
take_error(const struct ws_json *root, struct ws_err *err)
{
	uint64_t kind;
	const char *text = ws_json_text(root, "error");
	if (!text || !ws_json_u64(root, "error_kind", &kind)) {
		return true;
	}
	return ws_err_set(
		err, kind <= WS_ERR_INTERNAL ? (enum ws_err_kind)kind : WS_ERR_INTERNAL, "%s", text);
}

bool
ws_facts_ask(enum ws_facts_kind kind, const struct ws_facts_order *order, const char *program,
	struct ws_arena *a, struct ws_buf *json, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf said = {0};
	const char *const argv[] = {program, "internal", "facts", NULL};
	const char *const env[] = {"LANG=C", NULL};
	const struct ws_child_order command = {
		.argv = argv, .env = env, .dir = order->folder, .limits = WS_CHILD_READER};
	const char *answer = ws_path_join(a, order->folder, FACTS, NULL);
	struct ws_json_doc doc;
	if (!write_order(kind, order, a, err)) {
		return false;
	}
	if (!ws_child_ask(&command, &said, err)) {
		return ws_err_set(err, WS_ERR_NEGATIVE,
			"'%s' cannot be read within the limits of memory and time, or ends the process that "
			"reads it",
			order->name);
	}
	return ws_fs_read_at_most(answer, (size_t)64 << 20, json, err)
		&& ws_json_parse(order->name, ws_buf_text(json), json->len, WS_JSON_STRICT, a, &doc, err)
		&& take_error(doc.root, err);
}

/* ---- the child ---- */

static bool
make(const struct ws_json *root, struct ws_arena *a, struct ws_wheel_facts *facts,
	struct ws_err *err)
{
	static bool (*const makers[])(const struct ws_facts_order *, struct ws_arena *,
		struct ws_wheel_facts *, struct ws_err *) = {
		[WS_FACTS_WHEEL] = ws_facts_of_wheel,
		[WS_FACTS_PACKAGE] = ws_facts_of_package,
		[WS_FACTS_LIBRARY] = ws_facts_of_library,
	};
	uint64_t kind = WS_LEN(makers);
	struct ws_facts_order order = {
		.name = ws_json_text(root, "name"), .path = ws_json_text(root, "path"), .folder = MODULES};
	order.lists.stable = ws_json_texts(ws_json_find(root, "stable"), a, &order.lists.stable_count);
	order.lists.torch = ws_json_texts(ws_json_find(root, "torch"), a, &order.lists.torch_count);
	return (ws_json_u64(root, "kind", &kind) && kind < WS_LEN(makers))
		? makers[kind](&order, a, facts, err)
		: ws_err_set(err, WS_ERR_INTERNAL, "the order makes no sense");
}

bool
ws_facts_child_run(struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc order;
	struct ws_wheel_facts facts;
	struct ws_err fault = {0};
	if (!ws_json_read(ORDER, WS_JSON_STRICT, a, &order, err)) {
		return false;
	}
	if (make(order.root, a, &facts, &fault)) {
		ws_facts_json_write(&facts, 0, &text);
	} else {
		struct ws_json_writer *w = ws_json_begin();
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "error_kind", fault.kind);
		ws_json_add_text(w, "error", fault.text);
		ws_json_close(w);
		ws_json_finish(w, WS_JSON_COMPACT, &text);
	}
	return ws_fs_write(FACTS, text.data, text.len, 0600, err);
}
