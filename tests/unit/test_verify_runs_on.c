/* test_verify_runs_on.c - which GPUs run which code: rules of machine code, a and f targets, and
 * PTX. */
#include "test.h"

#include "config/facts.h"
#include "verify/gpu_code.h"

/* "80 90a p80:8.4 | 75": images of two units. */
static struct ws_gpu_code
make_code(const char *text, struct ws_arena *a)
{
	struct ws_fatbin_image *images = WS_NEW_N(a, struct ws_fatbin_image, 16);
	struct ws_gpu_code code = {.images = images, .container_count = 1};
	struct ws_str rest = {text, strlen(text)};
	struct ws_arch *archs = WS_NEW_N(a, struct ws_arch, 16);
	while (rest.s) {
		const char *word = ws_str_copy(ws_str_cut(&rest, ' '), a);
		if (ws_same(word, "|")) {
			code.container_count++;
			continue;
		}
		struct ws_fatbin_image *image = &images[code.image_count];
		image->kind = word[0] == 'p' ? WS_FATBIN_PTX : WS_FATBIN_CUBIN;
		image->container = code.container_count - 1;
		char suffix[2] = "";
		int read = sscanf(word + (word[0] == 'p'), "%u%1[af]:%u.%u", &image->sm, suffix,
			&image->major, &image->minor);
		if (read == 1) {
			(void)sscanf(strchr(word, ':') ? strchr(word, ':') + 1 : "", "%u.%u", &image->major,
				&image->minor);
		}
		image->suffix = suffix[0];
		archs[code.image_count++] = (struct ws_arch){.number = image->sm, .suffix = image->suffix};
	}
	code.archs = ws_arch_set_of(archs, code.image_count);
	return code;
}

/* The finding about @code on the GPUs @gpus, if the driver reads @ptx. */
static const char *
on(const char *code_text, const char *gpus, const char *ptx, struct ws_arena *a)
{
	struct ws_facts facts;
	struct ws_err err = {0};
	const char *why;
	assert_ok(ws_facts_read(WS_SOURCE_DATA_DIR "/matrix/facts", a, &facts, &err), err);
	struct ws_load_place around = {
		.ptx = ptx, .families = facts.families, .family_count = facts.family_count};
	assert_true(ws_arch_set_parse(gpus, a, &around.archs, &why));
	struct ws_gpu_code code = make_code(code_text, a);
	ws_finding_list list = {0};
	ws_runs_on(&code, "m", &around, a, &list);
	WS_AUTO_BUF struct ws_buf text = {0};
	for (size_t i = 0; i < list.len; i++) {
		ws_buf_printf(&text, "%s%s %s", i ? "; " : "",
			list.at[i].verdict == WS_VERDICT_OK ? "ok" : "fails", list.at[i].text);
	}
	return ws_buf_copy(&text, a);
}

WS_TEST(machine_code_runs_on_its_own_and_later_minors_of_its_major)
{
	assert_string_equal(on("80", "8.0", NULL, a), "ok m has code that runs on 8.0");
	assert_string_equal(on("80", "8.6", NULL, a), "ok m has code that runs on 8.6");
	assert_string_equal(
		on("86", "8.0", NULL, a), "fails m has no code that runs on 8.0, only for 8.6");
	assert_string_equal(
		on("80", "9.0", NULL, a), "fails m has no code that runs on 9.0, only for 8.0");
	assert_string_equal(on("80 90", "8.6;9.0", NULL, a),
		"ok m has code that runs on 8.6; ok m has code that runs on 9.0");
}

WS_TEST(an_a_target_runs_on_that_gpu_alone_and_an_f_target_on_its_family)
{
	assert_string_equal(on("90a", "9.0", NULL, a), "ok m has code that runs on 9.0");
	assert_string_equal(
		on("100a", "10.3", NULL, a), "fails m has no code that runs on 10.3, only for 10.0a");
	assert_string_equal(
		on("p90a:8.4", "10.0", NULL, a), "fails m has no code that runs on 10.0, only for 9.0a");
	assert_string_equal(on("100f", "10.3", NULL, a), "ok m has code that runs on 10.3");
	assert_string_equal(on("120f", "12.1", NULL, a), "ok m has code that runs on 12.1");
	assert_string_equal(
		on("100f", "12.0", NULL, a), "fails m has no code that runs on 12.0, only for 10.0f");
	assert_string_equal(
		on("121f", "12.0", NULL, a), "fails m has no code that runs on 12.0, only for 12.1f");
}

WS_TEST(ptx_runs_on_later_gpus_whose_driver_reads_it)
{
	assert_string_equal(on("p80:8.4", "9.0", "8.4", a),
		"ok m runs on 9.0, compiled from PTX 8.4 when it is loaded");
	assert_string_equal(
		on("p80:8.4", "9.0", NULL, a), "ok m runs on 9.0, compiled from PTX 8.4 when it is loaded");
	assert_string_equal(on("p80:8.7", "9.0", "8.4", a),
		"fails m has PTX 8.7 for 9.0; the driver here reads PTX 8.4 at most");
	assert_string_equal(on("90 p80:8.7", "9.0", "8.4", a), "ok m has code that runs on 9.0");
	assert_string_equal(
		on("p90:8.0", "8.6", NULL, a), "fails m has no code that runs on 8.6, only for 9.0");
}

WS_TEST(ptx_that_is_asked_for_must_be_of_that_gpu_or_an_older_one)
{
	assert_string_equal(on("90 p80:8.0", "9.0+PTX", NULL, a), "ok m has code that runs on 9.0");
	assert_string_equal(on("90", "9.0+PTX", NULL, a), "fails m has no PTX for GPUs later than 9.0");
	assert_string_equal(
		on("90 p100:8.7", "9.0+PTX", NULL, a), "fails m has no PTX for GPUs later than 9.0");
}

WS_TEST(units_may_serve_some_gpus_only)
{
	assert_string_equal(
		on("80 | 90a", "8.0", NULL, a), "ok m has code that runs on 8.0, in 1 of 2 units");
	assert_string_equal(
		on("80 | 90a", "7.5", NULL, a), "fails m has no code that runs on 7.5, only for 8.0;9.0a");
}

WS_TEST(a_driver_reads_the_ptx_of_its_toolkit)
{
	struct ws_facts facts;
	struct ws_err err = {0};
	assert_ok(ws_facts_read(WS_SOURCE_DATA_DIR "/matrix/facts", a, &facts, &err), err);
	assert_string_equal(ws_facts_ptx_of_driver(&facts, "550.54.14"), "8.4");
	assert_string_equal(ws_facts_ptx_of_driver(&facts, "550.54.13"), "8.3");
	assert_string_equal(ws_facts_ptx_of_driver(&facts, "580.159.04"), "9.0");
	assert_string_equal(ws_facts_ptx_of_driver(&facts, "470.1"), "0");
}
