/* exports_child.c - both ends. What is read and written is elf/exports_make.c's. */
#include "kit/torch/exports_child.h"

#include "base/json.h"
#include "elf/exports.h"
#include "sys/child.h"

/* ---- the parent ---- */

bool
ws_exports_child_ask(const struct ws_exports_order *order, const char *program, const char *folder,
	struct ws_stop *stop, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *const argv[] = {program, "internal", "names", NULL};
	const struct ws_child_order child = {
		.argv = argv,
		.dir = folder,
		.order = &text,
		.limits = WS_CHILD_READER,
		.name = "reading its libraries",
		.kind = WS_ERR_FETCH,
		.stop = stop,
	};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "release", order->release);
	ws_json_add_text(w, "path", order->path);
	ws_json_add_texts(w, "wheels", order->wheels.at, order->wheels.len);
	ws_json_open_list(w, "libraries");
	for (size_t i = 0; i < order->libraries.len; i++) {
		const struct ws_exports_library *library = &order->libraries.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "path", library->path);
		ws_json_add_text(w, "name", library->name);
		ws_json_add_text(w, "python", library->python);
		ws_json_add_text(w, "called", library->called);
		ws_json_add_bool(w, "optional", library->is_optional);
		ws_json_add_bool(w, "c", library->is_c);
		ws_json_close(w);
	}
	ws_json_finish(w, WS_JSON_COMPACT, &text);
	return ws_child_ask(&child, NULL, err);
}

/* ---- the child ---- */

static bool
add(struct ws_exports_maker *maker, const struct ws_json *library, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *called = ws_json_text(library, "called");
	WS_AUTO_ELF struct ws_elf *elf =
		ws_elf_open_as(ws_json_text(library, "path"), ws_json_text(library, "name"), a, err);
	if (ws_json_is_true(library, "c")) {
		ws_exports_only_c(maker);
	}
	/* One of many that may matter: what is wrong with it is found when something needs it. */
	if (!elf || !ws_exports_add(maker, elf, ws_json_text(library, "python"), err)) {
		return ws_json_is_true(library, "optional");
	}
	if (called) {
		ws_exports_add_name(maker, called);
	}
	return true;
}

bool
ws_exports_child_run(struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_json_doc order;
	if (!ws_json_read(WS_CHILD_ORDER, WS_JSON_STRICT, a, &order, err)) {
		return false;
	}
	struct ws_exports_maker *maker = ws_exports_begin(ws_json_text(order.root, "release"), a);
	for (WS_JSON_EACH(wheel, ws_json_find(order.root, "wheels"))) {
		ws_exports_add_wheel(maker, wheel->text);
	}
	for (WS_JSON_EACH(library, ws_json_find(order.root, "libraries"))) {
		if (!add(maker, library, err)) {
			return false;
		}
	}
	return ws_exports_write(maker, ws_json_text(order.root, "path"), err);
}
