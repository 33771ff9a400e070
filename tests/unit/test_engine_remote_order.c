/* Orders and reports of commands that run on other hosts: what is written is read again, and what a
 * stranger sends is refused. */
#include "test.h"

#include "base/fs.h"
#include "engine/remote_order.h"
#include "sys/child.h"

#include <time.h>

static const char digest[] = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

static bool
find_reads(const struct ws_action *action, const char *work, const char *log, struct ws_arena *a,
	struct ws_reads *reads, struct ws_err *err)
{
	(void)action, (void)work, (void)log, (void)a, (void)reads, (void)err;
	return true;
}

WS_TEST(an_order_is_read_as_it_was_written)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *const argv[] = {"{cxx}", "-DX=\"a b\nc\"", "", "-c", NULL};
	const char *const env[] = {"HOME={work}/tmp", NULL};
	const char *const outputs[] = {"unit.o"}, *const seeds[] = {"src/a b.cpp"};
	const char *const search[] = {"/usr/include"};
	const struct ws_token tokens[] = {{"{cxx}", "/opt/a b/g++"}};
	const struct ws_host_file files[] = {{"/usr/bin/a b", digest}};
	const struct ws_mount mounts[] = {{.name = "src", .path = "/x"}};
	const struct ws_action action = {.subject = "a b.cpp",
		.tool = {.program = "{cxx}"},
		.argv = argv,
		.env = env,
		.tokens = tokens,
		.token_count = 1,
		.host_files = files,
		.host_file_count = 1,
		.mounts = mounts,
		.mount_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.seeds = seeds,
		.seed_count = 1,
		.search = search,
		.search_count = 1,
		.find_reads = find_reads};
	ws_order_write(&action, digest, &text);
	const struct ws_action *read = ws_order_read(ws_buf_str(&text), "/w/in", a, NULL);
	assert_non_null(read);
	for (size_t i = 0; i < WS_LEN(argv) - 1; i++) {
		assert_string_equal(read->argv[i], argv[i]);
	}
	assert_null(read->argv[WS_LEN(argv) - 1]);
	assert_string_equal(read->env[0], env[0]);
	assert_string_equal(read->subject, "a b.cpp");
	assert_string_equal(read->tokens[0].value, "/opt/a b/g++");
	assert_string_equal(read->host_files[0].path, "/usr/bin/a b");
	assert_string_equal(read->host_files[0].digest, digest);
	assert_string_equal(read->mounts[0].path, "/w/in/src");
	assert_non_null(read->mounts[0].tree);
	assert_string_equal(read->outputs[0], "unit.o");
	assert_string_equal(read->seeds[0], "src/a b.cpp");
	assert_string_equal(read->search[0], "/usr/include");
	for (size_t cut = 0; cut < text.len; cut++) { /* no prefix is an order that runs */
		const struct ws_action *part =
			ws_order_read((struct ws_str){text.data, cut}, "/w/in", a, NULL);
		assert_true(!part || part->subject);
	}
}

WS_TEST(programs_that_go_along_have_the_names_that_they_have_there)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *const argv[] = {"{cicc}", NULL}, *const env[] = {"D={libdevice}", NULL};
	const struct ws_token tokens[] = {
		{"{cicc}", "/kit/bin/cicc"}, {"{libdevice}", "/kit/lib"}, {"{other}", "/kit"}};
	const struct ws_host_file files[] = {{"/kit/bin/cicc", digest}, {"/kit/lib/device.bc", digest}};
	const struct ws_action action = {.subject = "a.cu",
		.tool = {.program = "{cicc}"},
		.argv = argv,
		.env = env,
		.tokens = tokens,
		.token_count = WS_LEN(tokens),
		.tool_files = files,
		.tool_file_count = WS_LEN(files)};
	ws_order_write(&action, digest, &text);
	const struct ws_action *read = ws_order_read(ws_buf_str(&text), "/w/in", a, NULL);
	assert_non_null(read);
	assert_string_equal(read->tokens[0].name, "{cicc}");
	assert_string_equal(read->tokens[0].value, "/w/in/tool/cicc");
	assert_string_equal(read->tokens[1].value, "/w/in/tool/.");
	assert_string_equal(read->tokens[2].value, "/kit");
	assert_int_equal(read->host_file_count, 0);
}

WS_TEST(a_report_is_read_as_it_was_written)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_report report = {.signal = 9, .wall_ms = 5, .cpu_ms = 4, .rss_bytes = 3}, read;
	*ws_vec_push(&report.reads.files, a) = "src/a b.cpp";
	*ws_vec_push(&report.reads.files, a) = "/usr/include/a b.h";
	*ws_vec_push(&report.reads.absent, a) = "torch/c d.h";
	*ws_vec_push(&report.reads.folders, a) = "/usr/include";
	ws_map_put(&report.outside, "/usr/include/a b.h", ws_arena_strdup(a, digest), a);
	report.reads.uncacheable = "it holds a time";
	report.order = digest;
	ws_map_put(&report.made, "a b.o", digest, a);
	ws_report_write(&report, &text);
	assert_true(ws_report_read(ws_buf_str(&text), a, &read, NULL));
	assert_int_equal(read.signal, 9);
	assert_int_equal(read.rss_bytes, 3);
	assert_int_equal(read.reads.files.len, 2);
	assert_string_equal(read.reads.files.at[1], "/usr/include/a b.h");
	assert_string_equal(ws_map_get(&read.outside, "/usr/include/a b.h"), digest);
	assert_null(ws_map_get(&read.outside, "src/a b.cpp"));
	assert_string_equal(read.reads.absent.at[0], "torch/c d.h");
	assert_string_equal(read.reads.folders.at[0], "/usr/include");
	assert_string_equal(read.reads.uncacheable, "it holds a time");
	assert_null(read.differs);
	assert_string_equal(read.order, digest);
	assert_string_equal(ws_map_get(&read.made, "a b.o"), digest);
}

static bool
reads(const char *text, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_report report;
	struct ws_err err = {0};
	bool good = ws_report_read((struct ws_str){text, len}, a, &report, &err);
	assert_int_equal(good, err.kind == WS_ERR_NONE);
	return good;
}

#define READS(text) reads(text, sizeof(text) - 1)

WS_TEST(a_text_that_is_not_a_report_is_refused)
{
	assert_true(READS("wheelsmith.report/1 0\0file src/a\0"));
	assert_false(READS(""));
	assert_false(READS("file src/a\0"));
	assert_false(READS("wheelsmith.report/1 0"));
	assert_false(READS("wheelsmith.report/1 256\0"));
	assert_false(READS("wheelsmith.report/1 0\0file a\nf b\0"));
	assert_false(READS("wheelsmith.report/1 0\0file \0"));
	assert_false(READS("wheelsmith.report/1 0\0differs /usr/\033[2J\0"));
	assert_false(READS("wheelsmith.report/1 0\0rss_bytes 18446744073709551615\0"));
	assert_false(READS("wheelsmith.report/1 0\0outside abc /usr/x\0"));
	assert_false(READS("wheelsmith.report/1 0\0made abc x.o\0"));
	assert_false(READS("wheelsmith.report/1 0\0signal 65\0"));
	assert_false(READS("wheelsmith.report/1 0\0what 1\0"));
	assert_false(READS("wheelsmith.report/1 0\0wall_ms -1\0"));
}

/* ---- the program on the worker ---- */

/* Runs the order in @a folder; the report. */
static struct ws_report
carry_out(const char *folder, const struct ws_action *action, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf order = {0}, text = {0}, output = {0};
	const char *helper = ws_path_join(a, ws_path_dir(a, WS_PROGRAM), "wheelsmith-exec", NULL);
	const char *const argv[] = {helper, NULL};
	struct ws_report report;
	struct ws_err err;
	ws_order_write(action, "", &order);
	assert_ok(ws_fs_write(ws_path_join(a, folder, WS_REMOTE_ORDER, NULL), order.data, order.len,
				  0644, &err),
		err);
	struct ws_child_order child = {.argv = argv, .dir = folder};
	assert_ok(ws_child_ask(&child, &output, &err), err);
	assert_ok(ws_fs_read(ws_path_join(a, folder, "report", NULL), &text, &err), err);
	assert_ok(ws_report_read(ws_buf_str(&text), a, &report, &err), err);
	return report;
}

/* The digests of a report are taken after the command: a header may be another by then. */
WS_TEST(a_header_that_changes_on_the_worker_is_reported)
{
	const char *folder = ws_test_dir(a), *header = ws_path_join(a, folder, "x.h", NULL);
	const char *script = ws_arena_printf(a,
		"echo \"unit.o: %s\" > unit.d; : > unit.o; if [ $0 = change ]; then echo b > %s; fi",
		header, header);
	static const char *const outputs[] = {"unit.o"}, *const env[] = {NULL};
	const char *argv[] = {"sh", "-c", script, "keep", NULL}, *const search[] = {folder};
	struct ws_action action = {.subject = "x",
		.tool = {"sh", "/bin/sh", "f00d"},
		.argv = argv,
		.env = env,
		.outputs = outputs,
		.output_count = 1,
		.search = search,
		.search_count = 1,
		.find_reads = find_reads};
	struct ws_err err;
	assert_ok(ws_fs_write(header, "a\n", 2, 0644, &err), err);
	nanosleep(&(struct timespec){.tv_nsec = 20 * 1000 * 1000}, NULL);
	assert_null(carry_out(folder, &action, a).changed);
	argv[3] = "change";
	assert_string_equal(carry_out(folder, &action, a).changed, header);
}
