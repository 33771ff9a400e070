/* test_config_cases.c - what people are told about their mistakes: tests/cases/config. */
#include "test.h"

#include "base/json.h"
#include "case.h"
#include "config/matrix.h"

static void
show(bool ok, const struct ws_err *err, struct ws_buf *got)
{
	char printed[WS_ERR_PRINTED];
	if (ok) {
		ws_buf_puts(got, "ok\n");
		return;
	}
	assert_int_equal(err->kind, WS_ERR_CONFIG);
	ws_buf_puts(got, ws_err_print(err, printed));
}

static void
read_matrix(const char *text, struct ws_arena *a, struct ws_buf *got)
{
	struct ws_json_doc doc;
	struct ws_matrix matrix;
	struct ws_err err = {0};
	bool ok = ws_json_parse("matrix.json", text, strlen(text), WS_JSON_RELAXED, a, &doc, &err)
		&& ws_matrix_parse(&doc, "/home/me", a, &matrix, &err);
	show(ok, &err, got);
}

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	const char *text;
	if ((text = ws_case_text(c, "matrix"))) {
		read_matrix(text, a, got);
	}
}

WS_TEST(cases)
{
	ws_cases_check(WS_TESTS_DIR "/cases/config", run_case);
}
