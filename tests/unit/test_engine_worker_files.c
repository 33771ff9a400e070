/* Reports of farm workers about files outside of trees: agreement, contradictions, and manifests
 * that are checked against them. */
#include "test.h"

#include "engine/reads_manifest.h"
#include "engine/remote_order.h"
#include "engine/worker_files.h"

#define ONE "1111111111111111111111111111111111111111111111111111111111111111"
#define TWO "2222222222222222222222222222222222222222222222222222222222222222"

struct hosts {
	struct ws_worker_files platform; /* first */
	const struct ws_report *has;
	unsigned asked;
	char names[200];
};

static bool
ask(struct ws_worker_files *self, const struct ws_buf *names, struct ws_buf *told WS_UNUSED,
	struct ws_err *err)
{
	struct hosts *hosts = (struct hosts *)self;
	const char *name;
	hosts->asked++;
	snprintf(hosts->names, sizeof(hosts->names), "%s", names->data);
	return hosts->has ? ws_worker_files_add_report(self, hosts->has, &name)
					  : ws_err_set(err, WS_ERR_FETCH, "no worker has reported yet");
}

static struct ws_report
with_file(const char *name, const char *digest, struct ws_arena *a)
{
	struct ws_report report = {0};
	*ws_vec_push(&report.reads.files, a) = name;
	ws_map_put(&report.outside, name, digest, a);
	return report;
}

WS_TEST(contradicting_workers_are_reported_with_the_name_of_the_file)
{
	struct ws_worker_files platform = {.a = a};
	struct ws_report first = with_file("/usr/include/x.h", ONE, a);
	struct ws_report other = with_file("/usr/include/x.h", TWO, a);
	const char *name = NULL;
	*ws_vec_push(&first.reads.absent, a) = "/usr/include/y.h";
	*ws_vec_push(&first.reads.absent, a) = "torch/y.h"; /* in a tree: not theirs to tell */
	assert_true(ws_worker_files_add_report(&platform, &first, &name));
	assert_string_equal(ws_worker_files_digest(&platform, "/usr/include/x.h"), ONE);
	assert_true(ws_worker_files_knows(&platform, "/usr/include/y.h"));
	assert_false(ws_worker_files_has_file(&platform, "/usr/include/y.h"));
	assert_false(ws_worker_files_knows(&platform, "torch/y.h"));

	*ws_vec_push(&other.reads.absent, a) = "/usr/include/z.h";
	assert_false(ws_worker_files_add_report(&platform, &other, &name));
	assert_string_equal(name, "/usr/include/x.h");
	assert_false(
		ws_worker_files_knows(&platform, "/usr/include/z.h")); /* no part of it was taken */

	other = (struct ws_report){0};
	*ws_vec_push(&other.reads.present, a) = "/usr/include/y.h";
	assert_false(ws_worker_files_add_report(&platform, &other, &name));
	assert_string_equal(name, "/usr/include/y.h");
}

WS_TEST(the_more_detailed_report_counts_in_any_order)
{
	struct ws_worker_files platform = {.a = a};
	struct ws_report seen = {0}, read = with_file("/usr/include/x.h", ONE, a), folder = {0};
	const char *name;
	*ws_vec_push(&seen.reads.present, a) = "/usr/include/x.h";
	*ws_vec_push(&seen.reads.absent, a) = "/usr/include/sys"; /* no file */
	*ws_vec_push(&folder.reads.folders, a) = "/usr/include/sys";
	assert_true(ws_worker_files_add_report(&platform, &seen, &name));
	assert_true(ws_worker_files_has_file(&platform, "/usr/include/x.h"));
	assert_null(ws_worker_files_digest(&platform, "/usr/include/x.h"));
	assert_true(ws_worker_files_add_report(&platform, &read, &name));
	assert_true(ws_worker_files_add_report(&platform, &folder, &name));
	for (int again = 0; again < 2; again++) {
		assert_string_equal(ws_worker_files_digest(&platform, "/usr/include/x.h"), ONE);
		assert_true(ws_worker_files_has_folder(&platform, "/usr/include/sys"));
		assert_false(ws_worker_files_has_file(&platform, "/usr/include/sys"));
		assert_true(ws_worker_files_add_report(&platform, &seen, &name));
	}
	WS_AUTO_BUF struct ws_buf lines = {0};
	ws_worker_files_names(&platform, &lines);
	assert_string_equal(ws_buf_text(&lines), "/usr/include/sys\n/usr/include/x.h\n");
}

static bool
holds(const char *text, struct hosts *hosts, struct ws_arena *a, const char **why)
{
	static struct ws_tree tree;
	const struct ws_mount mounts[] = {{.name = "src", .path = "/x", .tree = &tree}};
	const struct ws_action action = {
		.subject = "x.cpp", .mounts = mounts, .mount_count = 1, .platform = &hosts->platform};
	struct ws_names names = {.a = a};
	*why = NULL;
	return ws_manifest_holds(ws_str_of(text), true, &action, &names, a, why);
}

WS_TEST(a_manifest_is_checked_against_the_files_of_workers)
{
	static const char text[] =
		"f " ONE " /usr/include/x.h\na /usr/include/y.h\nf " TWO " src/x.cpp\n";
	struct ws_report has = with_file("/usr/include/x.h", ONE, a);
	struct hosts hosts = {.platform = {.ask = ask, .a = a}, .has = &has};
	const char *why;
	struct ws_err err;
	*ws_vec_push(&has.reads.absent, a) = "/usr/include/y.h";
	assert_false(holds(text, &hosts, a, &why));
	assert_string_equal(why, "no worker has reported '/usr/include/x.h'");
	assert_false(holds(text, &hosts, a, &why));
	assert_false(
		ws_worker_files_ask_wanted(&(struct ws_worker_files){.a = a}, &err)); /* no file is */
	assert_true(ws_worker_files_ask_wanted(&hosts.platform, &err));
	assert_int_equal(hosts.asked, 1); /* about both at once */
	assert_string_equal(hosts.names, "/usr/include/x.h\n/usr/include/y.h\n");
	assert_true(holds(text, &hosts, a, &why));
	assert_false(holds("f " TWO " /usr/include/x.h\na /usr/include/z.h\n", &hosts, a, &why));
	assert_string_equal(why, "'/usr/include/x.h' changed");
	assert_false(ws_worker_files_ask_wanted(&hosts.platform, &err)); /* z.h would decide nothing */
	assert_string_equal(err.text, "");
	assert_int_equal(hosts.asked, 1);
}

WS_TEST(that_a_file_is_there_does_not_say_what_it_holds)
{
	struct ws_report seen = {0};
	struct hosts hosts = {.platform = {.ask = ask, .a = a}, .has = &seen};
	const char *why, *name;
	*ws_vec_push(&seen.reads.present, a) = "/usr/include/x.h";
	assert_true(ws_worker_files_add_report(&hosts.platform, &seen, &name));
	assert_true(holds("p /usr/include/x.h\n", &hosts, a, &why));
	assert_false(holds("f " ONE " /usr/include/x.h\n", &hosts, a, &why));
	assert_string_equal(why, "no worker has reported '/usr/include/x.h'");
	assert_int_equal(hosts.platform.wanted.len, 1);
}

WS_TEST(a_name_is_asked_for_once_and_hosts_that_do_not_answer_once)
{
	struct ws_report nothing = {0};
	struct hosts hosts = {.platform = {.ask = ask, .a = a}, .has = &nothing};
	const char *why;
	struct ws_err err;
	for (int again = 0; again < 2; again++) { /* they answered, and did not tell */
		assert_false(holds("a /usr/include/y.h\n", &hosts, a, &why));
		ws_worker_files_ask_wanted(&hosts.platform, &err);
		assert_int_equal(hosts.asked, 1);
	}
	hosts.has = NULL;
	for (int again = 0; again < 2; again++) {
		assert_false(holds("a /usr/include/z.h\na /usr/include/q.h\n", &hosts, a, &why));
		assert_false(ws_worker_files_ask_wanted(&hosts.platform, &err));
		assert_string_equal(err.text, again ? "" : "no worker has reported yet");
	}
	assert_true(hosts.platform.is_silent);
	assert_int_equal(hosts.asked, 2);
}

WS_TEST(a_cached_result_of_a_farm_is_confirmed_before_use)
{
	struct ws_report kept = with_file("/usr/include/x.h", ONE, a);
	struct ws_report today = with_file("/usr/include/x.h", TWO, a);
	struct hosts hosts = {.platform = {.ask = ask, .a = a}, .has = &today};
	struct ws_err err;
	const char *name;
	ws_worker_files_want_report(&hosts.platform, &kept);
	assert_true(ws_worker_files_ask_wanted(&hosts.platform, &err));
	assert_false(ws_worker_files_add_report(&hosts.platform, &kept, &name));
	ws_worker_files_want_report(&hosts.platform, &kept); /* it is known by now */
	assert_int_equal(hosts.platform.wanted.len, 0);
}
