/* test_model_version.c - PEP 440 against what `packaging` answers
 * (tests/support/version_oracle.py). cases/version: packaging's own test vectors, and a corpus
 * generated from a fixed seed. */
#include "test.h"

#include "model/version.h"
#include "oracle.h"

#include <limits.h>

#define CASES WS_TESTS_DIR "/cases/version/"

static size_t pairs; /* comparisons and memberships seen, a version and its normal form included */

static struct ws_version
must_parse(const char *text, struct ws_arena *a)
{
	struct ws_version version;
	if (!ws_version_parse(text, a, &version)) {
		fail_msg("'%s' is a version", text);
	}
	return version;
}

static void
check_version(const struct oracle_line *line, struct ws_arena *a)
{
	struct ws_version version;
	const char *normal = ws_version_parse(line->field[1], a, &version) ? version.text : "-";
	if (strcmp(normal, line->field[2]) != 0) {
		fail_msg("line %u: '%s' is read as %s", line->number, line->field[1], normal);
	}
}

static void
check_order(const struct oracle_line *line, struct ws_arena *a)
{
	struct ws_version x = must_parse(line->field[1], a);
	struct ws_version y = must_parse(line->field[3], a);
	int order = ws_version_cmp(&x, &y);
	char sign = order < 0 ? '<' : order > 0 ? '>' : '=';
	int back = ws_version_cmp(&y, &x);
	if (sign != line->field[2][0] || (order > 0) != (back < 0) || (order == 0) != (back == 0)) {
		fail_msg("line %u: %s %c %s", line->number, x.text, sign, y.text);
	}
}

static void
check_set(const struct oracle_line *line, struct ws_arena *a)
{
	const struct ws_specifiers *set = ws_specifiers_parse(line->field[1], a);
	const char *normal = set ? ws_specifiers_text(set) : "-";
	if (strcmp(normal, line->field[2]) != 0) {
		fail_msg("line %u: '%s' is read as %s", line->number, line->field[1], normal);
	}
}

static void
check_membership(const struct oracle_line *line, struct ws_arena *a)
{
	const struct ws_specifiers *set = ws_specifiers_parse(line->field[1], a);
	struct ws_version version = must_parse(line->field[2], a);
	assert_non_null(set);
	const char answer[] = {
		ws_specifiers_contain(set, &version, false) ? 'Y' : 'N',
		ws_specifiers_contain(set, &version, true) ? 'Y' : 'N',
		'\0',
	};
	if (strcmp(answer, line->field[3]) != 0) {
		fail_msg("line %u: %s in '%s' gives %s, not %s", line->number, version.text, line->field[1],
			answer, line->field[3]);
	}
}

static void
check_line(const struct oracle_line *line, struct ws_arena *a)
{
	const char *kind = line->field[0];
	if (ws_same(kind, "version")) {
		check_version(line, a);
	} else if (ws_same(kind, "order")) {
		check_order(line, a);
		pairs++;
	} else if (ws_same(kind, "set")) {
		check_set(line, a);
	} else if (ws_same(kind, "in")) {
		check_membership(line, a);
		pairs++;
	} else {
		fail_msg("line %u: no such kind", line->number);
	}
}

static struct ws_arena *session;
static WS_VEC(struct ws_version) ascending;

static void
keep_version(const struct oracle_line *line, struct ws_arena *a WS_UNUSED)
{
	*ws_vec_push(&ascending, session) =
		must_parse(ws_arena_strdup(session, line->field[1]), session);
}

WS_TEST(the_vectors_of_packaging_hold)
{
	assert_true(oracle_read(CASES "versions.txt", check_line) > 400);
	assert_true(oracle_read(CASES "sets.txt", check_line) > 400);
	assert_true(oracle_read(CASES "contains.txt", check_line) > 1400);
}

WS_TEST(the_ordered_versions_are_in_order)
{
	session = a;
	assert_true(oracle_read(CASES "order.txt", keep_version) > 90);
	for (size_t i = 0; i < ascending.len; i++) {
		for (size_t j = 0; j < ascending.len; j++) {
			int order = ws_version_cmp(&ascending.at[i], &ascending.at[j]);
			if ((order > 0) - (order < 0) != (i > j) - (i < j)) {
				fail_msg("%s and %s", ascending.at[i].text, ascending.at[j].text);
			}
		}
	}
}

WS_TEST(at_least_five_thousand_generated_pairs_hold)
{
	pairs = 0;
	oracle_read(CASES "corpus.txt", check_line);
	assert_true(pairs >= 5000);
}

WS_TEST(the_parts_of_a_version)
{
	struct ws_version v = must_parse(" V1!02.5.1-RC_3.post4.DEV005+Cu-012_x ", a);
	assert_string_equal(v.text, "1!2.5.1rc3.post4.dev5+cu.12.x");
	assert_string_equal(v.public_text, "1!2.5.1rc3.post4.dev5");
	assert_string_equal(v.local, "cu.12.x");
	assert_string_equal(v.epoch, "1");
	assert_int_equal(v.release_count, 3);
	assert_string_equal(v.release[0], "2");
	assert_int_equal(v.pre, WS_PRE_RC);
	assert_string_equal(v.pre_number, "3");
	assert_string_equal(v.post_number, "4");
	assert_string_equal(v.dev_number, "5");
	assert_true(ws_version_is_prerelease(&v));
	v = must_parse("2.5.1", a);
	assert_null(v.local);
	assert_null(v.pre_number);
	assert_ptr_equal(v.text, v.public_text);
}

WS_TEST(numbers_of_a_release)
{
	struct ws_version v = must_parse("2.4294967295.4294967296.99999999999999999999", a);
	assert_int_equal(v.major, 2);
	assert_int_equal(v.minor, UINT_MAX);
	v = must_parse("99999999999999999999.4294967296", a);
	assert_int_equal(v.major, UINT_MAX);
	assert_int_equal(v.minor, UINT_MAX);
	v = must_parse("7", a);
	assert_int_equal(v.minor, 0);
	v = must_parse("2.10.1+cu130", a);
	assert_string_equal(ws_version_minor(&v, a), "2.10");
	v = must_parse("2", a);
	assert_string_equal(ws_version_minor(&v, a), "2.0");
}

WS_TEST(labels_sort_by_number_and_may_be_ignored)
{
	struct ws_version five = must_parse("2.8.3+cu.12.4.torch.2.5", a);
	struct ws_version ten = must_parse("2.8.3+cu.12.4.torch.2.10", a);
	struct ws_version bare = must_parse("2.8.3", a);
	assert_true(ws_version_cmp(&five, &ten) < 0);
	assert_true(ws_version_cmp(&bare, &five) < 0);
	assert_int_equal(ws_version_cmp_public(&five, &ten), 0);
	assert_int_equal(ws_version_cmp_public(&bare, &ten), 0);
}

WS_TEST(a_series_is_the_first_numbers)
{
	struct ws_version patch = must_parse("2.5.1", a);
	struct ws_version minor = must_parse("2.5", a);
	struct ws_version other = must_parse("2.50.1", a);
	struct ws_version epoch = must_parse("1!2.5", a);
	assert_true(ws_version_in_series(&patch, &minor, 2));
	assert_false(ws_version_in_series(&patch, &minor, 3));
	assert_false(ws_version_in_series(&other, &minor, 2));
	assert_false(ws_version_in_series(&epoch, &minor, 2));
}

WS_TEST(numbers_have_any_length)
{
	char longer[6000] = "1.";
	memset(longer + 2, '9', sizeof(longer) - 3);
	longer[sizeof(longer) - 1] = '\0';
	struct ws_version x = must_parse(longer, a);
	longer[sizeof(longer) - 2] = '8';
	struct ws_version y = must_parse(longer, a);
	assert_true(ws_version_cmp(&x, &y) > 0);
	assert_int_equal(strlen(x.release[1]), sizeof(longer) - 3);
}

WS_TEST(characters_beyond_ascii_are_not_a_version)
{
	struct ws_version v;
	static const char *const bad[] = {"1.0\xc2\xa0", "1.0+\xc4\xb0", "\xd9\xa1.0", "1.0\xff"};
	for (size_t i = 0; i < WS_LEN(bad); i++) {
		assert_false(ws_version_parse(bad[i], a, &v));
	}
	assert_null(ws_specifiers_parse("==1.0\xc2\xa0", a));
}

WS_TEST(no_set_admits_what_is_before_everything)
{
	struct ws_version v = must_parse("0.dev0", a);
	assert_false(ws_specifiers_contain(ws_specifiers_parse("<0", a), &v, true));
	assert_false(ws_specifiers_contain(ws_specifiers_parse("<0.dev0", a), &v, true));
	assert_true(ws_specifiers_contain(ws_specifiers_parse("", a), &v, true));
	assert_false(ws_specifiers_contain(ws_specifiers_parse(" , ", a), &v, false));
}

WS_TEST(a_set_of_absurd_length_is_none)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (int i = 0; i < 256; i++) {
		ws_buf_printf(&b, "!=%d,", i);
	}
	assert_non_null(ws_specifiers_parse(ws_buf_text(&b), a));
	ws_buf_puts(&b, "!=256");
	assert_null(ws_specifiers_parse(ws_buf_text(&b), a));
}
