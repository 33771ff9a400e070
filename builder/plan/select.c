#include "plan/steps.h"

#include <fnmatch.h>

/* Values that a host decides are words: all hosts must write the same text. */
static void
write_name(const struct ws_recipe *recipe, const struct ws_point *point, struct ws_buf *b)
{
	const struct ws_torch_choice *torch = point->torch;
	enum ws_binding binding = ws_recipe_binding(recipe);
	const char *cuda = !point->cuda_auto ? point->cuda->name
		: torch && torch->cuda           ? torch->cuda
										 : "auto";
	ws_buf_printf(b, "%s %s", recipe->name, recipe->version.text);
	if (binding == WS_BINDING_NONE) {
		return;
	}
	bool major = binding == WS_BINDING_C_ABI;
	ws_buf_printf(b, " %.*s %s", (int)(major ? strcspn(cuda, ".") : strlen(cuda)), cuda,
		point->arch->fixed ? point->arch->name : "host");
	if (binding < WS_BINDING_STABLE_ABI && torch->installed) {
		ws_buf_puts(b, " installed");
	} else if (binding < WS_BINDING_STABLE_ABI) {
		ws_buf_printf(
			b, " %s %s %d", torch->minor, torch->cuda ? torch->cuda : "cpu", point->cxx11abi);
	}
}

/* How much of a point's group a host decides. */
static int
looseness(const struct ws_point *point)
{
	return point->cuda_auto + !point->arch->fixed + (point->torch && point->torch->installed);
}

void
ws_groups_add(struct ws_groups *groups, struct ws_cell *cell, const struct ws_point *point,
	bool alive, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf name = {0};
	write_name(cell->recipe, point, &name);
	uintptr_t number = (uintptr_t)ws_map_get(&groups->numbers, ws_buf_text(&name));
	if (number == 0) {
		ws_vec_push(&groups->at, a);
		number = groups->at.len;
		ws_map_put(&groups->numbers, ws_buf_copy(&name, a), (void *)number, a);
	}
	struct ws_group *group = &groups->at.at[number - 1];
	group->alive = group->alive || alive;
	group->recipe = cell->recipe;
	group->archs = point->arch->fixed && point->arch->set.count > 0 ? point->arch->set.count : 1;
	group->points += alive;
	if (looseness(point) < cell->looseness) {
		cell->group = (unsigned)number - 1;
		cell->looseness = looseness(point);
	}
}

/* ---- what groups cost, for all machines alike ---- */

#define UNKNOWN_MS 30000 /* CPU of a unit for one architecture, where a recipe estimates none */
#define OTHER_MS 5000    /* links, check and pack of a point */

/* CPU time of a recipe's units, per architecture and per point. */
struct weight {
	const struct ws_recipe *recipe;
	uint64_t arch_ms, point_ms;
};

static struct weight
weigh_recipe(const struct ws_recipe *recipe, struct ws_arena *a)
{
	struct weight weight = {.recipe = recipe, .point_ms = OTHER_MS};
	for (size_t i = 0; i < recipe->extension_count; i++) {
		struct ws_recipe_module module = ws_recipe_module(recipe, i, NULL, NULL, a, NULL);
		for (size_t j = 0; j < module.unit_count; j++) {
			const struct ws_unit *unit = &module.units[j];
			const struct ws_estimate *estimate = ws_recipe_estimate(recipe, unit->path);
			uint64_t ms = unit->files * (estimate ? estimate->cpu_s * (uint64_t)1000 : UNKNOWN_MS);
			weight.arch_ms += ws_unit_is_nvcc(unit->kind) ? ms : 0;
			weight.point_ms += ws_unit_is_nvcc(unit->kind) ? 0 : ms;
		}
	}
	return weight;
}

/* A group and its estimated cost. */
struct share {
	size_t group;
	uint64_t ms;
};

static int
cmp_dearest_first(const void *one, const void *other)
{
	const struct share *a = one, *b = other;
	return a->ms != b->ms ? (a->ms < b->ms) - (a->ms > b->ms)
						  : (a->group > b->group) - (a->group < b->group);
}

static struct share *
weigh_groups(const struct ws_groups *groups, struct ws_arena *a)
{
	WS_VEC(struct weight) known = {0};
	struct share *shares = WS_NEW_N(a, struct share, groups->at.len);
	for (size_t i = 0; i < groups->at.len; i++) {
		const struct ws_group *group = &groups->at.at[i];
		size_t place = 0;
		while (place < known.len && known.at[place].recipe != group->recipe) {
			place++;
		}
		if (place == known.len) {
			*ws_vec_push(&known, a) = weigh_recipe(group->recipe, a);
		}
		const struct weight *weight = &known.at[place];
		shares[i] = (struct share){i,
			group->alive ? weight->arch_ms * group->archs + weight->point_ms * group->points : 0};
	}
	qsort(shares, groups->at.len, sizeof(*shares), cmp_dearest_first);
	return shares;
}

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

bool
ws_only_matches(const char *only, const char *name)
{
	char glob[512]; /* fnmatch needs a terminator */
	struct ws_str rest = ws_str_of(only);
	while (rest.s) {
		struct ws_str part = ws_str_trim(ws_str_cut(&rest, ','));
		if (part.n < sizeof(glob)) {
			snprintf(glob, sizeof(glob), "%.*s", WS_STR_ARGS(part));
			if (fnmatch(glob, name, 0) == 0) {
				return true;
			}
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

bool
ws_select(const struct ws_plan_input *in, const struct ws_groups *groups, ws_cell_list *cells,
	struct ws_arena *a, struct ws_err *err)
{
	unsigned *shard_of = WS_NEW_N(a, unsigned, groups->at.len); /* by group */
	uint64_t *loads = WS_NEW_N(a, uint64_t, in->shards);
	const struct share *shares = in->shards > 1 ? weigh_groups(groups, a) : NULL;
	for (size_t i = 0; shares && i < groups->at.len; i++) {
		unsigned least = 0;
		for (unsigned shard = 1; shard < in->shards; shard++) {
			least = loads[shard] < loads[least] ? shard : least;
		}
		loads[least] += shares[i].ms;
		shard_of[shares[i].group] = least + 1;
	}
	size_t kept = 0;
	bool matched = false;
	for (size_t i = 0; i < cells->len; i++) {
		struct ws_cell *cell = cells->at[i];
		bool matches = ws_only_matches(in->only, cell->name);
		matched = matched || matches;
		if (matches && (!shares || shard_of[cell->group] == in->shard)) {
			cells->at[kept++] = cell;
		}
	}
	/* An empty shard is fine if --only matches some cell of the matrix. */
	if (in->only && !matched) {
		return fail_unmatched(cells->at, cells->len, in->only, err);
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
		ws_err_cure(err, "... and %u more", matches - listed);
	}
	return NULL;
}
