/* select.c - globs and shards. How groups are made and dealt is group.c's. */
#include "plan/select.h"

#include "base/text.h"

#include <fnmatch.h>
#include <string.h>

#define MOST_LISTED 8

bool
ws_shard_parse(const char *text, unsigned *shard, unsigned *shards)
{
	struct ws_str rest = ws_str_of(text);
	struct ws_str first = ws_str_cut(&rest, '/');
	uint64_t part, parts;
	if (!rest.s || !ws_str_to_u64(first, &part) || !ws_str_to_u64(rest, &parts) || part == 0
		|| part > parts || parts > WS_MOST_SHARDS) {
		return false;
	}
	*shard = (unsigned)part;
	*shards = (unsigned)parts;
	return true;
}

/* One glob of a list with commas, NUL-terminated, so that fnmatch can take it. */
static bool
matches_one(struct ws_str glob, const char *name)
{
	char text[512];
	if (glob.n >= sizeof(text)) {
		return false;
	}
	memcpy(text, glob.s, glob.n);
	text[glob.n] = '\0';
	return fnmatch(text, name, 0) == 0;
}

bool
ws_only_matches(const char *only, const char *name)
{
	struct ws_str rest = ws_str_of(only);
	while (rest.s) {
		if (matches_one(ws_str_trim(ws_str_cut(&rest, ',')), name)) {
			return true;
		}
	}
	return !only;
}

static bool
fail_unmatched(struct ws_cell *const *cells, size_t count, const char *globs, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **names = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		names[i] = cells[i]->name;
	}
	ws_err_set(err, WS_ERR_USAGE, "no cell is called '%s'", globs);
	const char *near = ws_suggest(globs, names, count);
	if (near) {
		return ws_err_cure(err, "did you mean '%s'?", near);
	}
	return count > 0
		&& ws_err_cure(err, "cells are called like '%s'; '*' matches anything", names[0]);
}

/* Whether a cell is called so at all; only then an empty shard is not a mistake. */
static bool
check_only(const struct ws_plan_input *in, const ws_cell_list *cells, struct ws_err *err)
{
	for (size_t i = 0; i < cells->len; i++) {
		if (ws_only_matches(in->only, cells->at[i]->name)) {
			return true;
		}
	}
	return fail_unmatched(cells->at, cells->len, in->only, err);
}

bool
ws_select(const struct ws_plan_input *in, const struct ws_groups *groups, ws_cell_list *cells,
	struct ws_arena *a, struct ws_err *err)
{
	const unsigned *shards = in->shards > 1 ? ws_groups_deal(groups, in->shards, a) : NULL;
	size_t kept = 0;
	if (in->only && !check_only(in, cells, err)) {
		return false;
	}
	for (size_t i = 0; i < cells->len; i++) {
		struct ws_cell *cell = cells->at[i];
		bool dealt = !shards || shards[cell->group] == in->shard;
		if (dealt && ws_only_matches(in->only, cell->name)) {
			cells->at[kept++] = cell;
		}
	}
	cells->len = kept;
	return true;
}

const struct ws_cell *
ws_plan_find(const struct ws_plan *plan, const char *glob, struct ws_err *err)
{
	const struct ws_cell *found = NULL;
	unsigned matches = 0;
	for (size_t i = 0; i < plan->cell_count; i++) {
		if (ws_only_matches(glob, plan->cells[i]->name)) {
			found = matches++ ? found : plan->cells[i];
		}
	}
	if (matches == 0) {
		fail_unmatched(plan->cells, plan->cell_count, glob, err);
		return NULL;
	}
	if (matches == 1) {
		return found;
	}
	ws_err_set(err, WS_ERR_USAGE, "'%s' means %u cells; name one", glob, matches);
	unsigned listed = 0;
	for (size_t i = 0; i < plan->cell_count && listed < MOST_LISTED; i++) {
		if (ws_only_matches(glob, plan->cells[i]->name)) {
			ws_err_cure(err, "%s", plan->cells[i]->name);
			listed++;
		}
	}
	if (matches > listed) {
		ws_err_cure(err, "… and %u more", matches - listed);
	}
	return NULL;
}
