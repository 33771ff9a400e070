/* rule_archs.c - what a toolkit has, what a recipe can be built for, what is known to be bad. */
#include "plan/rule_archs.h"

#include "base/buf.h"

#include <string.h>

bool
ws_rule_is_compiled(const struct ws_cell *cell)
{
	return ws_recipe_binding(cell->recipe) != WS_BINDING_NONE;
}

const char *
ws_rule_ask_target(const struct ws_axes *axes, struct ws_cell *cell)
{
	WS_AUTO_BUF struct ws_buf missing = {0};
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	const struct ws_arch_set *asked = &cell->point.arch->set;
	unsigned count = 0;
	if (!ws_rule_is_compiled(cell) || !cuda || !cuda->toolkit) {
		return NULL;
	}
	for (size_t i = 0; i < asked->count; i++) {
		if (!ws_cuda_has_target(cuda->toolkit, &asked->at[i])) {
			ws_buf_printf(
				&missing, "%s%s", count++ ? ", " : "", ws_arch_text(&asked->at[i], axes->a));
		}
	}
	return count ? ws_arena_printf(axes->a, "CUDA %s has no target%s %s", cuda->name,
			   count > 1 ? "s" : "", ws_buf_text(&missing))
				 : NULL;
}

/* "9.0" of a recipe allows 9.0a too. */
static bool
can_build(const struct ws_recipe *recipe, const struct ws_arch *arch)
{
	for (size_t i = 0; i < recipe->archs.count; i++) {
		if (recipe->archs.at[i].number == arch->number) {
			return true;
		}
	}
	return recipe->archs.count == 0;
}

static const struct ws_known_bad *
find_known_bad(const struct ws_cell *cell, const struct ws_arch *arch)
{
	struct ws_point_view view = ws_point_see(&cell->point);
	view.archs = (struct ws_arch_set){arch, 1};
	for (size_t i = 0; i < cell->recipe->known_bad_count; i++) {
		const struct ws_known_bad *bad = &cell->recipe->known_bad[i];
		if (!bad->gcc && ws_condition_names_archs(&bad->when)
			&& ws_condition_holds(&bad->when, &view)) {
			return bad;
		}
	}
	return NULL;
}

/* True, and why, when @a arch must leave. */
static bool
must_leave(const struct ws_axes *axes, const struct ws_cell *cell, const struct ws_arch *arch,
	struct ws_dropped_arch *dropped)
{
	*dropped = (struct ws_dropped_arch){.arch = *arch, .rule = WS_RULE_ARCHS};
	if (!can_build(cell->recipe, arch)) {
		dropped->why = ws_arena_printf(
			axes->a, "%s %s has no kernels for it", cell->recipe->name, cell->recipe->version.text);
		return true;
	}
	const struct ws_known_bad *bad = find_known_bad(cell, arch);
	if (bad) {
		dropped->rule = WS_RULE_KNOWN_BAD;
		dropped->why = bad->why;
		dropped->see = bad->see;
	}
	return bad;
}

/* The cell's set without what left it; nearly always all of it, which is then shared. */
static void
drop_archs(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_arch_set *asked = &cell->point.arch->set;
	struct ws_dropped_arch *dropped = NULL;
	struct ws_arch *left = NULL;
	size_t kept = 0;
	for (size_t i = 0; i < asked->count; i++) {
		struct ws_dropped_arch leaving;
		bool leaves = must_leave(axes, cell, &asked->at[i], &leaving);
		if (leaves && !dropped) {
			dropped = WS_NEW_N(axes->a, struct ws_dropped_arch, asked->count);
			left = WS_NEW_N(axes->a, struct ws_arch, asked->count);
			for (kept = 0; kept < i; kept++) {
				left[kept] = asked->at[kept];
			}
		}
		if (leaves) {
			dropped[cell->dropped_count++] = leaving;
		} else if (left) {
			left[kept++] = asked->at[i];
		}
	}
	if (left) {
		cell->dropped = dropped;
		cell->point.archs = (struct ws_arch_set){left, kept};
	}
}

const char *
ws_rule_dropped_text(const struct ws_cell *cell, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < cell->dropped_count; i++) {
		const struct ws_dropped_arch *dropped = &cell->dropped[i];
		const char *before = i > 0 ? cell->dropped[i - 1].why : NULL;
		if (before && strcmp(before, dropped->why) == 0) {
			ws_buf_puts(&b, ", ");
		} else if (before) {
			ws_buf_printf(&b, ": %s; ", before);
		}
		ws_buf_puts(&b, ws_arch_text(&dropped->arch, a));
	}
	ws_buf_printf(&b, ": %s", cell->dropped[cell->dropped_count - 1].why);
	return ws_buf_copy(&b, a);
}

const char *
ws_rule_ask_archs(const struct ws_axes *axes, struct ws_cell *cell)
{
	if (!ws_rule_is_compiled(cell)) {
		return NULL;
	}
	drop_archs(axes, cell);
	return cell->point.archs.count == 0 ? ws_rule_dropped_text(cell, axes->a) : NULL;
}
