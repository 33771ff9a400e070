/* test_config_cases.c - messages about mistakes: tests/cases/config. */
#include "test.h"

#include "case.h"
#include "config/facts.h"
#include "config/kit_def.h"
#include "config/matrix.h"
#include "config/recipe.h"
#include "config/user.h"

/* Files that recipes of the cases refer to lie beside them. */
#define FOLDER WS_TESTS_DIR "/cases/config"

static void
show(bool ok, const struct ws_err *err, struct ws_buf *got)
{
	char printed[WS_ERR_PRINTED];
	if (ok) {
		ws_buf_puts(got, "ok\n");
		return;
	}
	assert_int_equal(err->kind, WS_ERR_CONFIG);
	ws_err_print(err, printed);
	/* Where this checkout lies is not the case's business. */
	const char *rest = printed;
	for (const char *at; (at = strstr(rest, FOLDER)); rest = at + strlen(FOLDER)) {
		ws_buf_printf(got, "%.*s$FOLDER", (int)(at - rest), rest);
	}
	ws_buf_puts(got, rest);
}

struct parts {
	struct ws_json_doc doc;
	union {
		struct ws_matrix matrix;
		struct ws_recipe recipe;
		struct ws_user_config config;
		struct ws_kit_def kit;
		struct ws_facts facts;
	};
};

static bool
read_matrix(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_matrix_parse(&p->doc, FOLDER, "/home/me", a, &p->matrix, err);
}

static bool
read_recipe(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_recipe_parse(&p->doc, FOLDER, a, &p->recipe, err);
}

static bool
read_config(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_user_config_parse(&p->doc, FOLDER, "/home/me", a, &p->config, err);
}

static bool
read_kit(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_kit_def_parse(&p->doc, a, &p->kit, err);
}

static bool
read_torch_facts(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_facts_parse(WS_FACTS_TORCH, &p->doc, a, &p->facts, err);
}

static bool
read_cuda_facts(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_facts_parse(WS_FACTS_CUDA, &p->doc, a, &p->facts, err);
}

static bool
read_known_bad(struct parts *p, struct ws_arena *a, struct ws_err *err)
{
	return ws_facts_parse(WS_FACTS_KNOWN_BAD, &p->doc, a, &p->facts, err);
}

static const struct {
	const char *section;
	bool (*read)(struct parts *p, struct ws_arena *a, struct ws_err *err);
} readers[] = {
	{"matrix", read_matrix},
	{"recipe", read_recipe},
	{"config", read_config},
	{"kit", read_kit},
	{"torch", read_torch_facts},
	{"cuda", read_cuda_facts},
	{"known_bad", read_known_bad},
};

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	for (size_t i = 0; i < WS_LEN(readers); i++) {
		const char *text = ws_case_text(c, readers[i].section);
		struct parts *p = WS_NEW(a, struct parts);
		struct ws_err err = {0};
		if (!text) {
			continue;
		}
		const char *name = ws_arena_printf(a, "%s.json", readers[i].section);
		bool ok = ws_json_parse(name, text, strlen(text), WS_JSON_RELAXED, a, &p->doc, &err)
			&& readers[i].read(p, a, &err);
		show(ok, &err, got);
	}
}

WS_TEST(cases)
{
	ws_cases_check(FOLDER, run_case);
}
