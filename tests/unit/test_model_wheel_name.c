/* test_model_wheel_name.c - wheel names and tags against what `packaging` answers
 * (tests/support/tag_oracle.py). cases/tag: its test vectors, the whole order of tags for CPython
 * 3.8 to 3.15 and glibc 2.3 to 3.2, and a corpus generated from a fixed seed. Then platform tags
 * and labels of wheels. */
#include "test.h"

#include "model/wheel_name.h"
#include "oracle.h"

#define CASES WS_TESTS_DIR "/cases/tag/"

static struct ws_wheel_name
must_parse(const char *filename, struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why = NULL;
	if (!ws_wheel_name_parse(filename, a, &name, &why)) {
		fail_msg("%s: %s", filename, why);
	}
	return name;
}

static struct ws_python_tag
must_parse_python(const char *text)
{
	struct ws_python_tag tag;
	if (!ws_python_tag_parse(text, &tag)) {
		fail_msg("'%s' is a Python", text);
	}
	return tag;
}

/* Every tag of the expanded product, sorted, each once, spaces between. */
static const char *
expanded(const struct ws_wheel_name *name, struct ws_arena *a)
{
	WS_VEC(const char *) tags = {0};
	for (size_t i = 0; i < name->python_count; i++) {
		for (size_t j = 0; j < name->abi_count; j++) {
			for (size_t k = 0; k < name->platform_count; k++) {
				*ws_vec_push(&tags, a) = ws_arena_printf(
					a, "%s-%s-%s", name->pythons[i], name->abis[j], name->platforms[k]);
			}
		}
	}
	qsort(tags.at, tags.len, sizeof(*tags.at), ws_cmp_strings);
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < tags.len; i++) {
		if (i == 0 || strcmp(tags.at[i - 1], tags.at[i]) != 0) {
			ws_buf_printf(&b, "%s%s", i > 0 ? " " : "", tags.at[i]);
		}
	}
	return ws_buf_copy(&b, a);
}

static void
check_wheel(const struct oracle_line *line, struct ws_arena *a)
{
	struct ws_wheel_name name;
	const char *why = NULL;
	bool is_wheel = ws_wheel_name_parse(line->field[1], a, &name, &why);
	if (is_wheel != (line->field[3] != NULL) || (!is_wheel && !why)) {
		fail_msg("line %u: '%s': %s", line->number, line->field[1], why ? why : "taken");
	}
	if (!is_wheel) {
		return;
	}
	assert_string_equal(name.distribution, line->field[2]);
	assert_string_equal(name.version.text, line->field[3]);
	assert_string_equal(name.build ? name.build : "", line->field[4]);
	assert_string_equal(expanded(&name, a), line->field[5]);
}

/* The fits of one environment, to be compared with each other. */
struct seen {
	unsigned place, fit;
};
static struct ws_arena *session;
static WS_VEC(struct seen) seen;
static const char *environment;
static size_t fits;

static void
check_fit(const struct oracle_line *line, struct ws_arena *a)
{
	const char *here = ws_arena_printf(a, "%s %s", line->field[1], line->field[2]);
	if (!ws_same(here, environment)) {
		environment = ws_arena_strdup(session, here);
		seen.len = 0;
	}
	struct ws_python_tag python = must_parse_python(line->field[1]);
	struct ws_wheel_name name = must_parse(line->field[3], a);
	unsigned minor = (unsigned)atoi(line->field[2] + 2);
	unsigned fit = ws_wheel_fit(&name, &python, ws_machine_named("x86_64"), 2, minor);
	fits++;
	if ((fit > 0) == ws_same(line->field[4], "-")) {
		fail_msg("line %u: %s has fit %u", line->number, line->field[3], fit);
	}
	if (fit == 0) {
		return;
	}
	unsigned place = (unsigned)atoi(line->field[4]);
	for (size_t i = 0; i < seen.len; i++) {
		if ((seen.at[i].place < place) != (seen.at[i].fit > fit)
			|| (seen.at[i].place == place) != (seen.at[i].fit == fit)) {
			fail_msg("line %u: %s has fit %u", line->number, line->field[3], fit);
		}
	}
	*ws_vec_push(&seen, session) = (struct seen){place, fit};
}

static void
check_line(const struct oracle_line *line, struct ws_arena *a)
{
	const char *kind = line->field[0];
	if (ws_same(kind, "name")) {
		assert_string_equal(ws_package_normal(line->field[1], a), line->field[2]);
	} else if (ws_same(kind, "wheel")) {
		check_wheel(line, a);
	} else if (ws_same(kind, "fit")) {
		check_fit(line, a);
	} else {
		fail_msg("line %u: no such kind", line->number);
	}
}

WS_TEST(the_vectors_of_packaging_hold)
{
	assert_true(oracle_read(CASES "vectors.txt", check_line) > 40);
}

WS_TEST(a_generated_corpus_holds)
{
	session = a;
	assert_true(oracle_read(CASES "corpus.txt", check_line) > 3900);
	assert_true(fits > 2300);
}

struct order {
	const char *key;
	const char *list;
};
static WS_VEC(struct order) pairs, anys, platforms;

static void
keep_order(const struct oracle_line *line, struct ws_arena *a WS_UNUSED)
{
	struct order order = {
		ws_arena_strdup(session, line->field[1]), ws_arena_strdup(session, line->field[2])};
	if (ws_same(line->field[0], "pairs")) {
		*ws_vec_push(&pairs, session) = order;
	} else if (ws_same(line->field[0], "anys")) {
		*ws_vec_push(&anys, session) = order;
	} else {
		*ws_vec_push(&platforms, session) = order;
	}
}

/* That the fit of @a tag is just below the one before. */
static void
check_next(const char *tag, const struct ws_python_tag *python, const char *glibc, unsigned *before,
	struct ws_arena *a)
{
	struct ws_wheel_name name = must_parse(ws_arena_printf(a, "x-1-%s.whl", tag), a);
	unsigned fit = ws_wheel_fit(&name, python, ws_machine_named("x86_64"),
		(unsigned)(glibc[0] - '0'), (unsigned)atoi(strchr(glibc, '.') + 1));
	if (fit == 0 || (*before && fit != *before - 1)) {
		fail_msg("%s has fit %u after %u", tag, fit, *before);
	}
	*before = fit;
}

static size_t
check_order(const struct order *pair, const struct order *any, const struct order *platform)
{
	struct ws_python_tag python = must_parse_python(pair->key);
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	unsigned before = 0;
	size_t count = 0;
	struct ws_str rest = ws_str_of(pair->list);
	while (rest.s) {
		struct ws_str tag = ws_str_cut(&rest, ' ');
		struct ws_str hosts = ws_str_of(platform->list);
		for (; hosts.s; count++) {
			struct ws_str host = ws_str_cut(&hosts, ' ');
			const char *text = ws_arena_printf(a, "%.*s-%.*s", WS_STR_ARGS(tag), WS_STR_ARGS(host));
			check_next(text, &python, platform->key, &before, a);
		}
	}
	for (rest = ws_str_of(any->list); rest.s; count++) {
		const char *text = ws_str_copy(ws_str_cut(&rest, ' '), a);
		check_next(text, &python, platform->key, &before, a);
	}
	assert_int_equal(before, 1); /* no wheel fits worse than the last tag of the list */
	return count;
}

WS_TEST(fits_follow_the_whole_order_of_tags)
{
	session = a;
	oracle_read(CASES "orders.txt", keep_order);
	size_t count = 0;
	for (size_t i = 0; i < pairs.len; i++) {
		assert_string_equal(pairs.at[i].key, anys.at[i].key);
		for (size_t j = 0; j < platforms.len; j++) {
			count += check_order(&pairs.at[i], &anys.at[i], &platforms.at[j]);
		}
	}
	assert_true(pairs.len == 11 && platforms.len == 30);
	assert_true(count > 250000);
}

WS_TEST(a_name_that_no_index_should_serve_is_not_a_wheel)
{
	char longer[400];
	memset(longer, 'x', sizeof(longer));
	snprintf(longer + 240, 160, "-1.0-py3-none-any.whl");
	struct ws_wheel_name name;
	static const char *const bad[] = {"../x-1.0-py3-none-any.whl", "x-1.0-py3-none-any/y.whl",
		"x-1.0-py3-none-any\\y.whl", "x-1.0-py3-none-any\n.whl", "x-1.0-py3-none-\xc3\xa4.whl"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		const char *why = NULL;
		assert_false(ws_wheel_name_parse(bad[i], a, &name, &why));
		assert_non_null(why);
	}
	const char *why = NULL;
	assert_false(ws_wheel_name_parse(longer, a, &name, &why));
	assert_contains(why, "too long");
	longer[239] = '-';
	assert_true(ws_wheel_name_parse("x-1.0-py3-none-any.whl", a, &name, &why));
}

WS_TEST(tags_of_a_machine_fit_that_machine)
{
	static const struct {
		const char *tag;
		bool fits;
	} wheels[] = {
		{"cp312-cp312-manylinux_2_17_aarch64.manylinux2014_aarch64", true},
		{"cp312-cp312-manylinux_2_28_aarch64", true},
		{"cp312-cp312-linux_aarch64", true},
		{"py3-none-any", true},
		{"cp312-cp312-manylinux_2_29_aarch64", false},
		{"cp312-cp312-manylinux_2_12_aarch64", false}, /* packaging has none below 2.17 there */
		{"cp312-cp312-manylinux1_aarch64", false},
		{"cp312-cp312-manylinux_2_28_x86_64", false},
	};
	struct ws_python_tag python = must_parse_python("3.12");
	for (size_t i = 0; i < WS_LEN(wheels); i++) {
		struct ws_wheel_name name = must_parse(ws_arena_printf(a, "x-1-%s.whl", wheels[i].tag), a);
		assert_int_equal(
			ws_wheel_fit(&name, &python, ws_machine_named("aarch64"), 2, 28) > 0, wheels[i].fits);
	}
	struct ws_wheel_name arm = must_parse("x-1-cp312-cp312-manylinux_2_17_aarch64.whl", a),
						 any = must_parse("x-1-py3-none-any.whl", a);
	assert_string_equal(ws_wheel_name_machine(&arm)->name, "aarch64");
	assert_null(ws_wheel_name_machine(&any));
}

WS_TEST(names_for_files)
{
	assert_string_equal(ws_package_file_part("Causal-Conv1D", a), "causal_conv1d");
	assert_string_equal(ws_package_file_part("oslo.._-config", a), "oslo_config");
	assert_string_equal(ws_package_normal("flash_attn", a), "flash-attn");
}

WS_TEST(interpreters_are_written_in_five_ways)
{
	static const struct {
		const char *text, *python, *abi, *version;
	} good[] = {
		{"3.11", "cp311", "cp311", "3.11"},
		{"3.9", "cp39", "cp39", "3.9"},
		{"3.13t", "cp313", "cp313t", "3.13t"},
		{"3.11.7", "cp311", "cp311", "3.11"},
		{"cp311", "cp311", "cp311", "3.11"},
		{"cp314t", "cp314", "cp314t", "3.14t"},
	};
	for (size_t i = 0; i < WS_LEN(good); i++) {
		struct ws_python_tag tag = must_parse_python(good[i].text);
		assert_string_equal(ws_python_tag_text(&tag, false, a), good[i].python);
		assert_string_equal(ws_python_tag_text(&tag, true, a), good[i].abi);
		assert_string_equal(ws_python_version_text(&tag, a), good[i].version);
	}
	static const char *const bad[] = {"", "3", "3.", "3.011", "2.7", "cp27", "cp3", "3.12t",
		"cp39t", "3.11.", "3.11.x", "3.13.1t", "3.11rc1", "py311", "3.11 ", " 3.11", "3.1111",
		"cp311.2", "4.0", "3.13tt", "host"};
	struct ws_python_tag tag;
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		if (ws_python_tag_parse(bad[i], &tag)) {
			fail_msg("'%s' is not a Python", bad[i]);
		}
	}
}

/* ---- platform tags, from the measured and the linked versions ---- */

WS_TEST(a_wheel_has_the_tag_that_was_measured_and_the_one_it_was_linked_for)
{
	static const struct {
		const char *measured, *glibc, *tags;
	} wheels[] = {
		{"manylinux_2_24_x86_64", "2.28", "manylinux_2_24_x86_64.manylinux_2_28_x86_64"},
		{"manylinux_2_24_aarch64", "2.28", "manylinux_2_24_aarch64.manylinux_2_28_aarch64"},
		{"manylinux_2_28_x86_64", "2.28", "manylinux_2_28_x86_64"},
		{"manylinux_2_34_x86_64", NULL, "manylinux_2_34_x86_64"},
		{"manylinux_2_17_x86_64", "2.17", "manylinux2014_x86_64.manylinux_2_17_x86_64"},
		{"manylinux_2_17_aarch64", "2.31",
			"manylinux2014_aarch64.manylinux_2_17_aarch64.manylinux_2_31_aarch64"},
		{"manylinux_2_12_x86_64", "2.17",
			"manylinux_2_12_x86_64.manylinux2014_x86_64.manylinux_2_17_x86_64"},
		/* A module that needs more than its link target, or an unknown policy, gets the tag of its
		 * real needs. */
		{"manylinux_2_34_x86_64", "2.28", "manylinux_2_34_x86_64"},
		{"linux_x86_64", "2.28", "linux_x86_64"},
	};
	for (size_t i = 0; i < WS_LEN(wheels); i++) {
		assert_string_equal(
			ws_manylinux_tags(wheels[i].measured, wheels[i].glibc, a), wheels[i].tags);
	}
}

/* ---- labels as upstreams write them ---- */

struct row {
	const char *label; /* as in a file name */
	const char *torch, *cuda;
	int cxx11abi;
	const char *archs; /* "" none */
	bool cpu;
};

WS_TEST(labels_of_upstreams)
{
	static const struct row rows[] = {
		/* flash-attn 2.6.1, 2.8.3, causal-conv1d */
		{"cu123torch2.4cxx11abiFALSE", "2.4", "12.3", 0, "", false},
		{"cu12torch2.10cxx11abiTRUE", "2.10", "12", 1, "", false},
		{"cu118torch2.0cxx11abiFALSE", "2.0", "11.8", 0, "", false},
		{"cu12torch25.01cxx11abiTRUE", "25.01", "12", 1, "", false},
		/* flash-attention-prebuild-wheels */
		{"cu124torch2.5", "2.5", "12.4", -1, "", false},
		{"cu130torch2.10", "2.10", "13.0", -1, "", false},
		/* dotted; ours */
		{"cu.12.8.torch.2.11", "2.11", "12.8", -1, "", false},
		{"cu.12.4.torch.2.5.sm.80.90ptx", "2.5", "12.4", -1, "8.0;9.0+PTX", false},
		{"cu.12.4.torch.2.5.sm.90a.cxx11abi.1.tcu.12.1", "2.5", "12.4", 1, "9.0a", false},
		{"cu.12.sm.86", NULL, "12", -1, "8.6", false},
		/* torch's own, torch-scatter's, others */
		{"cu124", NULL, "12.4", -1, "", false},
		{"cpu", NULL, NULL, -1, "", true},
		{"pt24cu121", "2.4", "12.1", -1, "", false},
		{"pt210cu128", "2.10", "12.8", -1, "", false},
		{"pt21cu118", "2.1", "11.8", -1, "", false},
		{"cu124torch251", "2.5", "12.4", -1, "", false},
		{"cu130torch2110cxx11abitrue.0a1b2c.sm80sm89sm90sm100", "2.11", "13.0", 1,
			"8.0;8.9;9.0;10.0", false},
		{"sm.99999999999", NULL, NULL, -1, "", false},
		{"torch2.9.cu124", "2.9", "12.4", -1, "", false},
		{"d1234", NULL, NULL, -1, "", false},
	};
	for (size_t i = 0; i < WS_LEN(rows); i++) {
		const char *file = ws_arena_printf(a, "demo-1.0+%s-py3-none-any.whl", rows[i].label);
		struct ws_wheel_name name;
		const char *why;
		assert_true(ws_wheel_name_parse(file, a, &name, &why));
		struct ws_wheel_label label = ws_wheel_label_read(name.version.local, a);
		if (!ws_same(label.torch, rows[i].torch) || !ws_same(label.cuda, rows[i].cuda)) {
			fail_msg("%s: torch %s, cuda %s", rows[i].label, label.torch, label.cuda);
		}
		assert_int_equal(label.cxx11abi, rows[i].cxx11abi);
		assert_string_equal(ws_arch_set_text(&label.archs, a), rows[i].archs);
		assert_int_equal(label.cpu, rows[i].cpu);
	}
}

WS_TEST(no_label_says_nothing)
{
	struct ws_wheel_label label = ws_wheel_label_read(NULL, a);
	assert_null(label.torch);
	assert_null(label.cuda);
	assert_int_equal(label.cxx11abi, -1);
	assert_false(label.cpu);
}

WS_TEST(cuda_as_names_write_it)
{
	static const char *const words[][2] = {{"118", "11.8"}, {"12", "12"}, {"12.4", "12.4"},
		{"130", "13.0"}, {"1210", "121.0"}, {"", NULL}, {"x", NULL}, {"12.", NULL}, {"12x", NULL},
		{"12345", NULL}};
	for (size_t i = 0; i < WS_LEN(words); i++) {
		const char *cuda = ws_wheel_label_cuda(words[i][0], a);
		assert_true(ws_same(cuda, words[i][1]));
	}
}

WS_TEST(a_label_tells_torchs_own_build)
{
	struct ws_wheel_label label =
		ws_wheel_label_read("cu.12.4.torch.2.5.sm.90a.cxx11abi.1.tcu.12.1", a);
	assert_string_equal(label.torch_cuda, "12.1");
	assert_string_equal(label.cuda, "12.4");
	assert_null(ws_wheel_label_read("cu.12.4.torch.2.5", a).torch_cuda);
}
