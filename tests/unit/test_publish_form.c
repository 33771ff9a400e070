/* test_publish_form.c - METADATA of a wheel cannot replace the fields that are measured. */
#include "test.h"

#include "publish/server/form.h"

static unsigned
count(const struct ws_buf *text, const char *part)
{
	unsigned n = 0;
	for (const char *at = ws_buf_text(text); (at = strstr(at, part)); at++) {
		n++;
	}
	return n;
}

WS_TEST(each_measured_field_stands_there_once)
{
	static const char *const own[] = {
		"content", "filetype", "pyversion", "protocol_version", "sha256_digest"};
	WS_AUTO_BUF struct ws_buf head = {0};
	WS_AUTO_BUF struct ws_buf tail = {0};
	struct ws_wheel_name name;
	const char *why;
	assert_true(ws_wheel_name_parse("demo-1.0-py3-none-any.whl", a, &name, &why));
	struct ws_index_form form = {
		.file = "demo-1.0-py3-none-any.whl",
		.name = &name,
		.sha256 = "33",
		.metadata = ws_str_of("Metadata-Version: 2.1\nName: demo\nVersion: 1.0\nContent: other\n"
							  "Filetype: sdist\nPyversion: source\nProtocol-Version: 9\n"
							  "Md5-Digest: 0\nSHA256-Digest: 0\nBlake2-256-Digest: 0\n"
							  "Attestations: []\nGpg-Signature: x\nSummary: short\n"),
		.boundary = "b",
	};
	ws_index_form_write(&form, a, &head, &tail);
	for (size_t i = 0; i < WS_LEN(own); i++) {
		assert_int_equal(count(&head, ws_arena_printf(a, "name=\"%s\"", own[i])), 1);
	}
	assert_int_equal(count(&head, "name=\"attestations\""), 0);
	assert_int_equal(count(&head, "name=\"gpg_signature\""), 0);
	assert_int_equal(count(&head, "name=\"summary\""), 1);
}
