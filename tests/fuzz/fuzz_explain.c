/* fuzz_explain.c - any text as an error: signs are found alike in one piece and in many, and their
 * texts are filled. Symbols are not looked up: demangling is bounded by its process alone. */
#include "config/document.h"
#include "config/facts.h"
#include "explain/explain.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
need(bool truth)
{
	if (!truth) {
		abort();
	}
}

/* The shipped signs, read once. */
static struct shipped {
	struct ws_arena *a;
	struct ws_facts facts;
	struct ws_signs signs;
} shipped;

static void
read_shipped(void)
{
	struct ws_data data;
	if (!shipped.a) {
		shipped.a = ws_arena_make();
		need(ws_data_locate(NULL, shipped.a, &data, NULL)
			&& ws_facts_read(data.facts, shipped.a, &shipped.facts, NULL)
			&& ws_signs_read(data.facts, shipped.a, &shipped.signs, NULL));
	}
}

static size_t
find(const struct ws_signs *signs, const char *text, size_t len, size_t piece, struct ws_arena *a,
	const struct ws_found_sign **found)
{
	struct ws_finder *finder = ws_finder_open(signs, a);
	for (size_t at = 0; at < len; at += piece) {
		ws_finder_add(finder, text + at, piece < len - at ? piece : len - at);
	}
	return ws_finder_end(finder, found);
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_found_sign *found, *again;
	read_shipped();
	const char *text = (const char *)bytes;
	size_t count = find(&shipped.signs, text, len, len + 1, a, &found);
	need(find(&shipped.signs, text, len, 7, a, &again) == count);
	const struct ws_explaining with = {.facts = &shipped.facts};
	for (size_t i = 0; i < count; i++) {
		struct ws_explanation e;
		size_t build;
		need(found[i].sign == again[i].sign && found[i].line == again[i].line);
		need(ws_explain(&with, &found[i], a, &e, NULL) && e.cause && strlen(found[i].text) <= 300);
		ws_explain_build(&found[i], a, &build);
	}
	return 0;
}
