/**
 * explain.h - a sign that was found, in plain words: cause, evidence, cures
 *
 * Fills the texts of the sign's row (signs.h). Beside its captures they may name:
 *   {package} {version} {torch} {python}   of what is to be built, as far as that is known
 *   {build}                                the command that builds it (remedy.h)
 * What the text names is looked at where it lies on this host, never started.
 */
#ifndef WS_EXPLAIN_EXPLAIN_H
#define WS_EXPLAIN_EXPLAIN_H

#include "config/recipes.h"
#include "explain/finder.h"
#include "model/facts.h"

/** What explaining may use. */
struct ws_explaining {
	const struct ws_facts *facts;
	const char
		*exports; /**< folder of the export lists; NULL: names of symbols are not looked up */
	const struct ws_recipe_catalog *catalog; /**< NULL: none */
	const char *recipes;                     /**< the folder that --recipes named; NULL: none */
};

struct ws_explanation {
	const struct ws_found_sign *found;
	const char *cause;
	const char *const *evidence;
	size_t evidence_count;
	const char *const *cures;
	size_t cure_count;
};

/** False only when an export list cannot be read. */
bool ws_explain(const struct ws_explaining *with, const struct ws_found_sign *found,
	struct ws_arena *a, struct ws_explanation *explanation, struct ws_err *err);

/** The sign's cures for who builds by a recipe: what failed is known already, nothing is looked
 * up. */
const char *const *ws_explain_build(
	const struct ws_found_sign *found, struct ws_arena *a, size_t *count);

#endif
