/* fuzz_index_page.c - any bytes as an index page of either form: every file that comes out has a
 * name that stays in its folder, an http URL without a login, and a digest or none. */
#include "base/fs.h"
#include "net/index_page.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
must(bool truth)
{
	if (!truth) {
		abort();
	}
}

static void
check(const char *type, struct ws_str text, struct ws_arena *a)
{
	struct ws_err err = {0};
	struct ws_index_page page = {.url = "https://h/simple/x/", .package = "x"};
	if (!ws_index_page_parse(&page, type, text, a, &err)) {
		must(err.kind == WS_ERR_FETCH && err.text[0]);
		return;
	}
	for (size_t i = 0; i < page.count; i++) {
		const struct ws_index_file *file = &page.files[i];
		must(ws_path_is_inside(file->name) && !strchr(file->name, '/'));
		must(ws_starts_with(file->url, "http://") || ws_starts_with(file->url, "https://"));
		must(!strchr(file->url, '#'));
		must(file->sha256[0] == '\0' || strspn(file->sha256, "0123456789abcdef") == 64);
		must(file->yanked_why && file->requires_python);
	}
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_str text = {(const char *)bytes, len};
	check("text/html", text, a);
	check("application/vnd.pypi.simple.v1+json", text, a);
	return 0;
}
