/* known_bad.c - which rules are about which package and which wheel. */
#include "model/known_bad.h"

#include <fnmatch.h>
#include <string.h>

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

/* Whether the rule is about wheels of this name, wherever they are loaded. */
static bool
means_wheel(const struct ws_shared_bad *bad, const struct ws_wheel_name *name)
{
	const char *local = name->version.local ? name->version.local : "";
	bool named = bad->label ? fnmatch(bad->label, local, FNM_NOESCAPE) == 0 : bad->package != NULL;
	return named && bad->rule.gcc == 0
		&& ws_shared_bad_concerns(bad, name->distribution, &name->version);
}

const struct ws_shared_bad *
ws_shared_bad_wheel(const struct ws_shared_bad *rules, size_t count,
	const struct ws_wheel_name *name, const struct ws_point_view *point)
{
	for (size_t i = 0; i < count; i++) {
		if (means_wheel(&rules[i], name) && ws_condition_holds(&rules[i].rule.when, point)) {
			return &rules[i];
		}
	}
	return NULL;
}
