/**
 * test.h - what a unit test includes first
 *
 * `WS_TEST(adds_two) { assert_int_equal(...); }` registers itself; unit/main.c runs every test of
 * the program. Each test gets a fresh arena `a`, dropped afterwards.
 */
#ifndef WS_TESTS_UNIT_TEST_H
#define WS_TESTS_UNIT_TEST_H

#include "base/err.h"
#include "base/user_env.h"

#include <setjmp.h>
#include <sys/resource.h>

#include <cmocka.h>

/** Called by WS_TEST before main. */
void ws_test_register(const char *name, void (*run)(struct ws_arena *a));

#define WS_TEST(name) \
	static void test_##name(struct ws_arena *a); \
	__attribute__((constructor)) static void register_##name(void) \
	{ \
		ws_test_register(#name, test_##name); \
	} \
	static void test_##name(struct ws_arena *a WS_UNUSED)

/** The same, with an error `err` that is not set yet. */
#define WS_TEST_ERR(name) \
	static void try_##name(struct ws_arena *a, struct ws_err err); \
	WS_TEST(name) \
	{ \
		try_##name(a, (struct ws_err){0}); \
	} \
	static void try_##name(struct ws_arena *a WS_UNUSED, struct ws_err err)

/** A call that must succeed: prints its error otherwise. `assert_ok(f(..., &err), err)`. */
#define assert_ok(call, err) \
	do { \
		if (!(call)) { \
			char printed_[WS_ERR_PRINTED]; \
			fail_msg("%s", ws_err_print(&(err), printed_)); \
		} \
	} while (0)

/** A call that must fail with this kind. */
#define assert_fails(call, err, expected) \
	do { \
		assert_false(call); \
		assert_int_equal((err).kind, expected); \
	} while (0)

/** @a text must hold @a part. */
#define assert_contains(text, part) \
	do { \
		if (!strstr((text), (part))) { \
			fail_msg("'%s' is not in:\n%s", (part), (text)); \
		} \
	} while (0)

/** @a err must carry this cure; @a expected is its subject, or "". */
#define assert_cure(err, wanted, expected) \
	do { \
		bool found_ = false; \
		for (size_t i_ = 0; i_ < (err).cure_count; i_++) { \
			found_ = found_ \
				|| ((err).cures[i_].code == (wanted) \
					&& strcmp((err).cures[i_].subject, (expected)) == 0); \
		} \
		if (!found_) { \
			fail_msg("no cure '%s %s' for: %s", ws_cure_words[wanted], (expected), (err).text); \
		} \
	} while (0)

/** The environment of the test program. */
const struct ws_user_env *ws_test_env(void);

/** From now on no file can be opened; gives the limit to set again. */
struct rlimit ws_test_open_no_more(void);

/** A new folder that goes when the test program ends. */
const char *ws_test_dir(struct ws_arena *a);

/** Writes a file at @a below in @a folder, with the folders above it; returns its path. */
const char *ws_test_file(
	struct ws_arena *a, const char *folder, const char *below, const char *text, mode_t mode);

#endif
