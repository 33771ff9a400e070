/* fuzz_config.c - any bytes as each of the files that people write: every mistake must be reported
 * at its place. */
#include "config/facts.h"
#include "config/kit_def.h"
#include "config/matrix.h"
#include "config/recipe.h"
#include "config/user.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
check(bool ok, const struct ws_err *err)
{
	if (!ok && (err->kind != WS_ERR_CONFIG || !err->place[0] || !err->excerpt[0])) {
		abort();
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_json_doc doc;
	struct ws_matrix matrix;
	struct ws_recipe recipe;
	struct ws_user_config config;
	struct ws_kit_def kit;
	struct ws_facts facts;
	struct ws_err err = {0};
	bool parsed = ws_json_parse("fuzz", (const char *)bytes, len, WS_JSON_RELAXED, a, &doc, &err);
	check(parsed, &err);
	if (!parsed) {
		return 0;
	}
	check(ws_matrix_parse(&doc, "/nowhere", "/home/me", a, &matrix, &err), &err);
	check(ws_recipe_parse(&doc, "/nowhere", a, &recipe, &err), &err);
	check(ws_user_config_parse(&doc, "/nowhere", "/home/me", a, &config, &err), &err);
	check(ws_kit_def_parse(&doc, a, &kit, &err), &err);
	for (enum ws_facts_file file = WS_FACTS_TORCH; file <= WS_FACTS_KNOWN_BAD; file++) {
		facts = (struct ws_facts){0};
		check(ws_facts_parse(file, &doc, a, &facts, &err), &err);
	}
	ws_matrix_parse(&doc, "/nowhere", "/home/me", a, &matrix, NULL);
	ws_recipe_parse(&doc, "/nowhere", a, &recipe, NULL);
	return 0;
}
