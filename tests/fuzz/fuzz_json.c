/* fuzz_json.c - any bytes as JSON: every mistake has a place, and a value that was read stays the
 * same when it is written and read again. */
#include "base/json.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
must(bool truth)
{
	if (!truth) {
		abort();
	}
}

static void
write_value(struct ws_json_writer *w, const struct ws_json *value)
{
	switch (value->kind) {
	case WS_JSON_NULL:
		ws_json_add_null(w, value->key);
		return;
	case WS_JSON_BOOL:
		ws_json_add_bool(w, value->key, value->truth);
		return;
	case WS_JSON_NUMBER:
	case WS_JSON_STRING:
		ws_json_add_text(w, value->key, value->text);
		return;
	case WS_JSON_ARRAY:
		ws_json_open_list(w, value->key);
		break;
	case WS_JSON_OBJECT:
		ws_json_open_object(w, value->key);
		break;
	}
	for (WS_JSON_EACH(child, value)) {
		write_value(w, child);
	}
	ws_json_close(w);
}

static void
check_same(const struct ws_json_doc *doc, const struct ws_json *x, const struct ws_json *y)
{
	must(x->offset + x->len <= doc->len && x->len > 0);
	must(!x->key || doc->text[x->key_offset] == '"');
	must(x->kind == y->kind || (x->kind == WS_JSON_NUMBER && y->kind == WS_JSON_STRING));
	must(x->count == y->count && x->truth == y->truth);
	must(ws_same(x->text, y->text) && ws_same(x->key, y->key));
	const struct ws_json *other = y->first;
	for (WS_JSON_EACH(child, x)) {
		check_same(doc, child, other);
		other = other->next;
	}
}

static unsigned
depth_of(const struct ws_json *value)
{
	unsigned deepest = 0;
	for (WS_JSON_EACH(child, value)) {
		unsigned depth = depth_of(child);
		deepest = depth > deepest ? depth : deepest;
	}
	return deepest + 1;
}

static bool
parse(const char *text, size_t len, enum ws_json_flags flags, struct ws_arena *a,
	struct ws_json_doc *doc)
{
	struct ws_err err = {0};
	if (ws_json_parse("fuzz", text, len, flags, a, doc, &err)) {
		return true;
	}
	must(err.kind == WS_ERR_CONFIG && err.place[0] && err.excerpt[0]);
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf b = {0};
	struct ws_json_doc strict, relaxed, again;
	bool is_strict = parse((const char *)bytes, len, WS_JSON_STRICT, a, &strict);
	bool is_relaxed = parse((const char *)bytes, len, WS_JSON_RELAXED, a, &relaxed);
	must(is_relaxed || !is_strict);
	/* The writer's depth limit is lower than the reader's. */
	if (!is_relaxed || depth_of(relaxed.root) > 60) {
		return 0;
	}
	struct ws_json_writer *w = ws_json_begin();
	write_value(w, relaxed.root);
	ws_json_finish(w, len % 2 ? WS_JSON_PRETTY : WS_JSON_COMPACT, &b);
	must(parse(b.data, b.len, WS_JSON_STRICT, a, &again));
	check_same(&relaxed, relaxed.root, again.root);
	return 0;
}
