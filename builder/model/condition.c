/* condition.c - whether a condition holds at a point. An axis that the point lacks meets no
 * condition that names it. */
#include "model/condition.h"

/* Pre-releases count: a condition on torch ">=2.6" means a 2.7 nightly as well. */
static bool
is_in(const struct ws_version *version, const struct ws_specifiers *set)
{
	return !set || (version && ws_specifiers_contain(set, version, true));
}

/* PTX only matters where the condition asks for it: "9.0" means 9.0+PTX too. */
static bool
means_arch(const struct ws_arch *named, const struct ws_arch *arch)
{
	return named->number == arch->number && named->suffix == arch->suffix
		&& (!named->ptx || arch->ptx);
}

static bool
shares_arch(const struct ws_arch_set *named, const struct ws_arch_set *archs)
{
	for (size_t i = 0; i < named->count; i++) {
		for (size_t j = 0; j < archs->count; j++) {
			if (means_arch(&named->at[i], &archs->at[j])) {
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
ws_condition_names_archs(const struct ws_condition *when)
{
	return when->archs.count > 0;
}
