/* test_explain_cases.c - what each error means: tests/cases/explain. */
#include "test.h"

#include "case.h"
#include "config/document.h"
#include "config/facts.h"
#include "explain/explain.h"

/* The shipped signs, read once for all cases. */
static struct shipped {
	struct ws_arena *a;
	struct ws_data data;
	struct ws_facts facts;
	struct ws_signs signs;
	struct ws_recipe_catalog catalog;
	bool *seen; /* one for each sign: a case shows it */
} shipped;

static void
read_shipped(void)
{
	struct ws_err err = {0};
	size_t count;
	shipped.a = ws_arena_make();
	assert_ok(ws_data_locate(NULL, shipped.a, &shipped.data, &err), err);
	assert_ok(ws_facts_read(shipped.data.facts, shipped.a, &shipped.facts, &err), err);
	assert_ok(ws_signs_read(shipped.data.facts, shipped.a, &shipped.signs, &err), err);
	const char *const *folders =
		ws_data_recipe_folders(&shipped.data, NULL, NULL, NULL, 0, shipped.a, &count);
	assert_ok(ws_recipes_list(folders, count, shipped.a, &shipped.catalog, &err), err);
	shipped.seen = WS_NEW_N(shipped.a, bool, shipped.signs.count);
}

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	const struct ws_explaining with = {
		.facts = &shipped.facts,
		.exports = ws_arena_printf(a, "%s/exports", shipped.data.facts),
		.catalog = &shipped.catalog,
	};
	const char *text = ws_case_text(c, "text");
	const struct ws_found_sign *found;
	struct ws_finder *finder = ws_finder_open(&shipped.signs, a);
	ws_finder_add(finder, text, strlen(text));
	size_t count = ws_finder_end(finder, &found);
	for (size_t i = 0; i < count; i++) {
		struct ws_explanation e;
		struct ws_err err = {0};
		assert_ok(ws_explain(&with, &found[i], a, &e, &err), err);
		shipped.seen[found[i].sign - shipped.signs.at] = true;
		ws_buf_printf(got, "%s, line %zu: %s\n", found[i].sign->name, found[i].line, e.cause);
		for (size_t j = 0; j < e.evidence_count; j++) {
			ws_buf_printf(got, "  | %s\n", e.evidence[j]);
		}
		for (size_t j = 0; j < e.cure_count; j++) {
			ws_buf_printf(got, "  > %s\n", e.cures[j]);
		}
		size_t build;
		const char *const *cures = ws_explain_build(&found[i], a, &build);
		for (size_t j = 0; found[i].sign->build_cure_count > 0 && j < build; j++) {
			ws_buf_printf(got, "  build > %s\n", cures[j]);
		}
	}
	ws_buf_puts(got, count == 0 ? "nothing is known\n" : "");
}

WS_TEST(each_error_has_its_cause_and_each_sign_its_error)
{
	read_shipped();
	ws_cases_check(WS_TESTS_DIR "/cases/explain", run_case);
	for (size_t i = 0; i < shipped.signs.count; i++) {
		if (!shipped.seen[i]) {
			fail_msg("no case shows the sign '%s'", shipped.signs.at[i].name);
		}
	}
	ws_arena_drop(shipped.a);
}
