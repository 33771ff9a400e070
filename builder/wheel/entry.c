/* entry.c - judging and ordering names. Touches no file. */
#include "base/arena.h"
#include "base/fs.h"
#include "base/str.h"
#include "wheel/pack.h"

#include <stdlib.h>
#include <string.h>

/* Spaces are fine for zip, but PyPI's rules for archives name them among what to avoid. */
static bool
is_portable(const char *name)
{
	for (const char *c = name; *c; c++) {
		if (*c <= ' ' || *c > '~') {
			return false;
		}
	}
	return ws_path_is_inside(name);
}

static bool
is_below(const char *name, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(name, folder, len) == 0 && name[len] == '/';
}

static int
cmp_entries(const void *x, const void *y, void *dist_info)
{
	const struct ws_wheel_entry *left = x;
	const struct ws_wheel_entry *right = y;
	const char *const *last = dist_info;
	bool left_last = is_below(left->name, *last);
	bool right_last = is_below(right->name, *last);
	return left_last == right_last ? strcmp(left->name, right->name) : left_last - right_last;
}

static bool
is_among(const char *name, const char *const *sorted, size_t count)
{
	return bsearch(&name, sorted, count, sizeof(*sorted), ws_cmp_strings) != NULL;
}

/* No name twice, letter case aside, and none that is a folder of another. */
static bool
check_collisions(const struct ws_wheel_entry *entries, size_t count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **folded = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		folded[i] = ws_lower_all(ws_arena_strdup(a, entries[i].name));
	}
	qsort(folded, count, sizeof(*folded), ws_cmp_strings);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(folded[i - 1], folded[i]) == 0) {
			return ws_err_set(err, WS_ERR_CONFIG,
				"two files of the wheel are named '%s', letter case aside", folded[i]);
		}
		char *folder = ws_arena_strdup(a, folded[i]);
		for (char *slash; (slash = strrchr(folder, '/'));) {
			*slash = '\0';
			if (is_among(folder, folded, count)) {
				return ws_err_set(err, WS_ERR_CONFIG,
					"'%s' is a file of the wheel and the folder of another", folder);
			}
		}
	}
	return true;
}

bool
ws_wheel_entries_order(
	struct ws_wheel_entry *entries, size_t count, const char *dist_info, struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		if (!is_portable(entries[i].name)) {
			ws_err_set(err, WS_ERR_CONFIG,
				"'%s' cannot be the name of a file in a wheel: only printable ASCII, no spaces",
				entries[i].name);
			return ws_err_cure(err, "leave it out of the wheel (\"exclude\" in the recipe)");
		}
	}
	if (!check_collisions(entries, count, err)) {
		return false;
	}
	qsort_r(entries, count, sizeof(*entries), cmp_entries, &dist_info);
	return true;
}
