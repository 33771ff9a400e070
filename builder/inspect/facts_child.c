/* facts_child.c - both ends. */
#include "inspect/facts_child.h"

#include "base/fs.h"
#include "base/json.h"
#include "inspect/facts.h"
#include "sys/child.h"

#define FACTS "facts.json"
#define MODULES "modules"

/* ---- the parent ---- */

static void
write_order(enum ws_facts_kind kind, const struct ws_facts_order *order, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_u64(w, "kind", kind);
	ws_json_add_text(w, "name", order->name);
	ws_json_add_text(w, "path", order->path);
	ws_json_add_texts(w, "stable", order->lists.stable, order->lists.stable_count);
	ws_json_add_texts(w, "torch", order->lists.torch, order->lists.torch_count);
	ws_json_finish(w, WS_JSON_PRETTY, text);
}

bool
ws_facts_ask(enum ws_facts_kind kind, const struct ws_facts_order *order, const char *program,
	struct ws_arena *a, struct ws_buf *json, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *const argv[] = {program, "internal", "facts", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.dir = order->folder,
		.order = &text,
		.answer = FACTS,
		.limits = WS_CHILD_READER,
		.name = ws_arena_printf(a, "reading '%s'", order->name),
		.kind = WS_ERR_NEGATIVE,
	};
	write_order(kind, order, &text);
	return ws_fs_mkdirs(ws_path_join(a, order->folder, MODULES, NULL), err)
		&& ws_child_ask(&child, json, err);
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
	if (!ws_json_read(WS_CHILD_ORDER, WS_JSON_STRICT, a, &order, err)
		|| !make(order.root, a, &facts, err)) {
		return false;
	}
	ws_facts_json_write(&facts, 0, &text);
	return ws_fs_write(FACTS, text.data, text.len, 0600, err);
}
