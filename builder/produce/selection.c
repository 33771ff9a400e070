#include "produce/selection.h"

#include "base/fs.h"
#include "config/facts.h"
#include "config/lock.h"
#include "config/matrix.h"
#include "config/recipes.h"
#include "prebuilt/candidates.h"
#include "produce/plan_input.h"

static bool
read_recipes(const struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *o, struct ws_selection *sel, struct ws_err *err)
{
	const struct ws_matrix *m = &sel->matrix;
	struct ws_recipe_catalog catalog;
	size_t count;
	const char *const *folders = ws_data_recipe_folders(
		ctx->data, o->recipes, m->recipes, user->recipes, user->recipe_count, ctx->a, &count);
	if (o->only_recipes) {
		folders = &o->only_recipes;
		count = 1;
	}
	if (!ws_recipes_list(folders, count, ctx->a, &catalog, err)) {
		return false;
	}
	struct ws_recipe *recipes = WS_NEW_N(ctx->a, struct ws_recipe, m->package_count);
	for (size_t i = 0; i < m->package_count; i++) {
		const struct ws_wanted *wanted = &m->packages[i];
		if (ws_recipe_find(&catalog, wanted->name, &wanted->version, ctx->a, &recipes[i], err)) {
			ws_known_bad_add(&recipes[i], ctx->facts, ctx->a);
			continue;
		}
		/* A recipe that exists and is wrong has its own place. */
		if (m->doc && !err->place[0]) {
			ws_err_at(err, m->doc->name, m->doc->text, wanted->place.offset, wanted->place.len);
		}
		return false;
	}
	sel->recipes = recipes;
	return true;
}

/* A bundle's matrix may name folders of prebuilt wheels that the host which wrote it had. */
static void
forget_folders(const struct ws_context *ctx, struct ws_matrix *m)
{
	struct ws_index_role *roles = WS_NEW_N(ctx->a, struct ws_index_role, m->indexes.count + 1);
	size_t count = 0;
	for (size_t i = 0; i < m->indexes.count; i++) {
		struct ws_index_role *role = &roles[count];
		const char **urls = WS_NEW_N(ctx->a, const char *, m->indexes.at[i].url_count + 1);
		*role = (struct ws_index_role){m->indexes.at[i].role, urls, 0};
		for (size_t k = 0; k < m->indexes.at[i].url_count; k++) {
			const char *url = m->indexes.at[i].urls[k];
			if (!ws_index_place_is_folder(url) || ws_fs_is_dir(url)) {
				urls[role->url_count++] = url;
			}
		}
		count += role->url_count > 0;
	}
	m->indexes = (struct ws_index_roles){roles, count};
}

bool
ws_selection_read(const struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *options, struct ws_selection *sel, struct ws_err *err)
{
	struct ws_matrix *m = &sel->matrix;
	*sel = (struct ws_selection){0};
	if (options->made) {
		*m = *options->made;
	} else if (!ws_matrix_read(
				   options->matrix, ws_user_env_get(ctx->env, "HOME"), ctx->a, m, err)) {
		return false;
	}
	ws_matrix_name_torch(m, ctx->facts, ctx->a);
	m->policy = options->policy ? *options->policy : m->policy_given ? m->policy : user->policy;
	m->torch_window = m->torch_window || options->torch_window;
	m->debug_info = options->debug_info ? *options->debug_info : m->debug_info;
	m->glibc = options->glibc ? options->glibc : m->glibc;
	if (options->only_recipes) {
		forget_folders(ctx, m);
	}
	/* This host's libraries do not serve another machine. */
	for (size_t i = 0; i < m->platform_count && ws_same(m->glibc, WS_GLIBC_HOST); i++) {
		if (m->platforms[i] != ws_machine_host()) {
			ws_err_set(err, WS_ERR_CONFIG,
				"glibc \"host\" is this host's, and has no libraries of %s", m->platforms[i]->name);
			return ws_err_cure(
				err, "name the oldest glibc to run on, \"2.28\", or none: torch's own");
		}
	}
	return read_recipes(ctx, user, options, sel, err);
}

/* ---- the lock ---- */

/* Beside the matrix; a selection without one has its own place in the store. */
static const char *
lock_path_of(const struct ws_context *ctx, const struct ws_selection_options *o,
	const struct ws_matrix *matrix)
{
	if (o->matrix) {
		return ws_lock_path(o->matrix, ctx->a);
	}
	struct ws_hasher *h = ws_hasher_make();
	for (size_t i = 0; i < matrix->package_count; i++) {
		const struct ws_wanted *wanted = &matrix->packages[i];
		ws_hasher_add_field(
			h, ws_arena_printf(ctx->a, "%s==%s", wanted->name, wanted->version.text));
	}
	struct ws_digest name = ws_hasher_finish(h);
	return ws_arena_printf(ctx->a, "%s/locks/%.16s.lock.json", ctx->store->path, name.hex);
}

static bool
read_pins(const struct ws_context *ctx, const struct ws_selection_options *o,
	struct ws_selection *sel, struct ws_err *err)
{
	const char **names = WS_NEW_N(ctx->a, const char *, o->forget_count + 1);
	for (size_t i = 0; i < o->forget_count; i++) {
		names[i] = ws_package_normal(o->forget[i], ctx->a);
	}
	sel->pins = (struct ws_pins){
		.a = ctx->a,
		.store = ctx->store,
		.events = ctx->events,
		.stop = ctx->stop,
		.locked = o->locked,
		.bundled = o->only_recipes != NULL,
	};
	/* Before planning, which takes what is pinned before anything else. */
	return ws_pins_read(&sel->pins, lock_path_of(ctx, o, &sel->matrix), err)
		&& ws_pins_renew(&sel->pins, names, o->forget_count, err);
}

/* ---- planning ---- */

/* Candidates are known after asking the indexes; then plan again. */
static bool
resolve_candidates(const struct ws_context *ctx, struct ws_selection *sel, struct ws_err *err)
{
	const struct ws_plan *plan = &sel->plan;
	const struct ws_product **wanted =
		WS_NEW_N(ctx->a, const struct ws_product *, plan->product_count + 1);
	size_t count = 0;
	/* A prebuilt wheel is preferred to a build, or nothing can be built. */
	enum ws_policy policy = sel->matrix.policy;
	bool first = policy == WS_POLICY_PREFER_PREBUILT || policy == WS_POLICY_PREBUILT_ONLY;
	for (size_t i = 0; i < plan->product_count; i++) {
		const struct ws_product *product = plan->products[i];
		bool stops = product->cells[0]->build_rule != WS_RULE_NONE;
		if (!product->wheel.file && !product->published
			&& (first || (policy == WS_POLICY_PREFER_BUILD && stops))) {
			wanted[count++] = product;
		}
	}
	return count == 0
		|| (ws_candidates_try(sel->candidates, wanted, count, err)
			&& ws_plan_make(sel->input, ctx->a, &sel->plan, err));
}

bool
ws_selection_plan(const struct ws_context *ctx, const struct ws_selection_options *options,
	struct ws_selection *sel, struct ws_err *err)
{
	struct ws_plan_input *input = WS_NEW(ctx->a, struct ws_plan_input);
	if (!read_pins(ctx, options, sel, err)) {
		return false;
	}
	sel->input = input;
	input->matrix = &sel->matrix;
	input->recipes = sel->recipes;
	input->facts = ctx->facts;
	input->only = options->only;
	input->shard = options->shard;
	input->shards = options->shards;
	input->against = options->against;
	input->host.builds_elsewhere = options->builds_elsewhere;
	sel->candidates =
		options->candidates ? ws_candidate_memory_open(ctx, &sel->pins, &sel->matrix) : NULL;
	if (!ws_plan_input_fill(ctx, &sel->pins, sel->candidates, input, err)) {
		return false;
	}
	if (options->afresh) {
		input->lookups.wheel = NULL;
	}
	return ws_plan_make(input, ctx->a, &sel->plan, err)
		&& (!options->resolve || !sel->candidates || resolve_candidates(ctx, sel, err));
}
