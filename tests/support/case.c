/* case.c - see case.h. */
#include "case.h"

#include "test.h"

#include "base/fs.h"

struct run {
	ws_case_run run;
	unsigned cases, failures;
	bool update;
};

const char *
ws_case_text(const struct ws_case *c, const char *name)
{
	for (size_t i = 0; i < c->count; i++) {
		if (strcmp(c->names[i], name) == 0) {
			return c->texts[i];
		}
	}
	return NULL;
}

/* The length of @a text up to the next line that starts with '@'. */
static size_t
section_len(const char *text)
{
	if (text[0] == '@') {
		return 0;
	}
	const char *next = strstr(text, "\n@");
	return next ? (size_t)(next + 1 - text) : strlen(text);
}

static struct ws_str
trim_end(const char *text, size_t len)
{
	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == ' ')) {
		len--;
	}
	return (struct ws_str){text, len};
}

/* Reads the case at @a text; returns where its expectation starts. */
static const char *
read_case(const char *text, struct ws_case *c, struct ws_arena *a)
{
	text += section_len(text);
	while (*text == '@') {
		size_t name = strcspn(text + 1, " \n");
		const char *word = ws_arena_copy(a, text + 1, name);
		text += 1 + name + strspn(text + 1 + name, " ");
		if (strcmp(word, "expect") == 0) {
			return text + (*text == '\n');
		}
		text += *text == '\n';
		size_t len = section_len(text);
		struct ws_str body = trim_end(text, len);
		if (strcmp(word, "case") == 0) {
			c->title = ws_str_copy(body, a);
		} else if (c->count < WS_LEN(c->names)) {
			c->names[c->count] = word;
			c->texts[c->count++] = ws_str_copy(body, a);
		}
		text += len;
	}
	return NULL;
}

static void
compare(struct run *run, const struct ws_case *c, struct ws_str expected, struct ws_str got)
{
	run->cases++;
	if (!ws_str_eq(expected, got)) {
		run->failures++;
		print_error("%s: %s\n--- expected\n%.*s\n--- got\n%.*s\n\n", ws_path_base(c->file),
			c->title, WS_STR_ARGS(expected), WS_STR_ARGS(got));
	}
}

static bool
run_file(void *self, const struct ws_fs_entry *entry, struct ws_err *err)
{
	struct run *run = self;
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0}, updated = {0};
	if (!ws_ends_with(entry->name, ".case")) {
		return true;
	}
	if (!ws_fs_read(entry->path, &text, err)) {
		return false;
	}
	const char *rest = ws_buf_text(&text);
	for (;;) {
		WS_AUTO_BUF struct ws_buf got = {0};
		struct ws_case c = {.file = entry->path, .title = ws_path_base(entry->path)};
		const char *expect = read_case(rest, &c, a);
		if (!expect) {
			break;
		}
		run->run(&c, a, &got);
		struct ws_str came = trim_end(ws_buf_text(&got), got.len);
		size_t len = section_len(expect);
		ws_buf_add(&updated, rest, (size_t)(expect - rest));
		ws_buf_printf(&updated, "%.*s\n%s", WS_STR_ARGS(came), expect[len] ? "\n" : "");
		compare(run, &c, trim_end(expect, len), came);
		rest = expect + len;
	}
	return !run->update || ws_fs_write(entry->path, updated.data, updated.len, 0644, err);
}

void
ws_cases_check(const char *folder, ws_case_run run)
{
	struct run all = {.run = run, .update = getenv("WS_UPDATE_GOLDEN")};
	struct ws_err err = {0};
	assert_ok(ws_fs_walk(folder, run_file, &all, &err), err);
	assert_true(all.cases > 0);
	if (all.failures > 0 && !all.update) {
		fail_msg(
			"%u of %u cases differ; WS_UPDATE_GOLDEN=1 takes what came", all.failures, all.cases);
	}
}
