/* test_draft_cases.c - drafts of small source trees: tests/cases/draft. A section is a file; what
 * is expected is the draft without its fixed lines. */
#include "test.h"

#include "base/fs.h"
#include "case.h"
#include "draft/draft.h"

static void
run_case(const struct ws_case *c, struct ws_arena *a, struct ws_buf *got)
{
	static unsigned number;
	static const struct ws_source_spec spec = {.kind = WS_SOURCE_SDIST,
		.file = "demo-1.0.tar.gz",
		.sha256 = "0000000000000000000000000000000000000000000000000000000000000000"};
	const char *folder = ws_path_join(a, ws_test_dir(a), ws_arena_printf(a, "c%u", number++), NULL);
	struct ws_draft draft;
	struct ws_err err;
	for (size_t i = 0; i < c->count; i++) {
		const char *path = ws_path_join(a, folder, c->names[i], NULL);
		const char *text = ws_arena_printf(a, "%s\n", c->texts[i]);
		assert_ok(ws_fs_mkdirs(ws_path_dir(a, path), &err), err);
		assert_ok(ws_fs_write(path, text, strlen(text), 0644, &err), err);
	}
	const struct ws_draft_order order = {
		.reader = WS_SOURCE_DATA_DIR "/builder/draft/reader",
		.path_variable = "/usr/bin:/usr/local/bin:/bin",
		.partial = ws_test_dir(a),
		.folder = folder,
		.from = spec.file,
		.name = "demo",
		.distribution = "demo",
		.version = "1.0",
		.source = &spec,
	};
	assert_ok(ws_draft_make(&order, a, &draft, &err), err);
	const char *fixed = strstr(draft.text, "// A draft from");
	const char *rest = strstr(fixed, "\n  ],\n") + strlen("\n  ],\n");
	ws_buf_printf(got, "%.*s%s", (int)(fixed - draft.text), draft.text, rest);
}

WS_TEST(drafts_of_small_trees)
{
	ws_cases_check(WS_TESTS_DIR "/cases/draft", run_case);
}
