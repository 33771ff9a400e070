/* condition.c - whether a condition holds at a point. An axis that the point lacks meets no
 * condition that names it. */
#include "model/condition.h"

#include <fnmatch.h>

/* Pre-releases count: a condition on torch ">=2.6" means a 2.7 nightly as well. */
static bool
is_in(const struct ws_version *version, const struct ws_specifiers *set)
{
	return !set || (version && ws_specifiers_contain(set, version, true));
}

/* PTX only matters where the condition asks for it: "9.0" means 9.0+PTX too. */
static bool
shares_arch(const struct ws_arch_set *named, const struct ws_arch_set *archs)
{
	for (size_t i = 0; i < named->count; i++) {
		for (size_t j = 0; j < archs->count; j++) {
			const struct ws_arch *x = &named->at[i], *y = &archs->at[j];
			if (x->number == y->number && x->suffix == y->suffix && (!x->ptx || y->ptx)) {
				return true;
			}
		}
	}
	return named->count == 0;
}

bool
ws_condition_holds(const struct ws_condition *when, const struct ws_point_view *point)
{
	return (!when->machine || when->machine == point->machine) && is_in(point->torch, when->torch)
		&& is_in(point->cuda, when->cuda) && is_in(point->python, when->python)
		&& shares_arch(&when->archs, &point->archs)
		&& (when->cxx11abi < 0 || when->cxx11abi == point->cxx11abi)
		&& (when->free_threaded < 0 || (when->free_threaded == 1) == point->free_threaded);
}

bool
ws_condition_is_empty(const struct ws_condition *when)
{
	return !when->torch && !when->cuda && !when->python && !when->machine && when->archs.count == 0
		&& when->cxx11abi < 0 && when->free_threaded < 0;
}

bool
ws_shared_bad_concerns(
	const struct ws_shared_bad *bad, const char *package, const struct ws_version *version)
{
	/* A label is not part of what a range compares (">=2.8" with 2.8.2+cu12). */
	struct ws_version public = *version;
	public.text = version->public_text;
	public.local = NULL;
	return (!bad->package || strcmp(bad->package, package) == 0)
		&& (!bad->versions || ws_specifiers_contain(bad->versions, &public, true));
}

const struct ws_shared_bad *
ws_shared_bad_wheel(const struct ws_shared_bad *rules, size_t count,
	const struct ws_wheel_name *name, const struct ws_point_view *point)
{
	const char *local = name->version.local ? name->version.local : "";
	for (size_t i = 0; i < count; i++) {
		const struct ws_shared_bad *bad = &rules[i];
		bool named =
			bad->label ? fnmatch(bad->label, local, FNM_NOESCAPE) == 0 : bad->package != NULL;
		if (named && bad->rule.gcc == 0
			&& ws_shared_bad_concerns(bad, name->distribution, &name->version)
			&& ws_condition_holds(&bad->rule.when, point)) {
			return bad;
		}
	}
	return NULL;
}
