/* probe.c - the store's answers about pins and sources, the index's about torch releases. */
#include "produce/probe.h"

#include "fetch/source.h"
#include "fetch/source_tree.h"
#include "net/index.h"
#include "net/index_config.h"
#include "produce/selection_request.h"
#include "recipe/units.h"

#include <string.h>

/* ---- sources ---- */

/* Patches change what files hold, seldom which there are: those that only some cells want are left
 * out. */
static bool
recall_source(const struct ws_context *ctx, const struct ws_lock *lock,
	const struct ws_recipe *recipe, struct ws_tree *tree)
{
	struct ws_source_wish wish = {
		.name = recipe->name,
		.version = recipe->version.text,
		.specs = recipe->sources,
		.spec_count = recipe->source_count,
		.pin = ws_lock_source(lock, recipe->name, recipe->version.text),
	};
	wish.patches = ws_recipe_patches(recipe, NULL, ctx->a, &wish.patch_count);
	return ws_source_recall(ctx->store, &wish, ctx->a, tree);
}

/* The digest of the sources that @a spec means, as far as it is known without asking anybody: of a
 * local folder as it is now, else of what the store has from there. NULL: not known. */
static const char *
find_tree(
	const struct ws_context *ctx, const struct ws_recipe *recipe, const struct ws_source_spec *spec)
{
	struct ws_source_wish wish = {
		.name = recipe->name, .version = recipe->version.text, .specs = spec, .spec_count = 1};
	struct ws_digest digest;
	struct ws_tree tree;
	if (spec->kind == WS_SOURCE_FOLDER) {
		return ws_folder_digest(spec->path, ctx->ledger, &digest)
			? ws_arena_strdup(ctx->a, digest.hex)
			: NULL;
	}
	return ws_source_recall(ctx->store, &wish, ctx->a, &tree)
		? ws_arena_strdup(ctx->a, tree.digest.hex)
		: NULL;
}

/* The first way to the sources of which anything is known: it is what a build would take. */
static void
see_source(const struct ws_context *ctx, const struct ws_recipe *recipe, struct ws_lock *seen)
{
	const struct ws_pin_source *known = ws_lock_source(seen, recipe->name, recipe->version.text);
	for (size_t i = 0; i < recipe->source_count; i++) {
		const struct ws_source_spec *spec = &recipe->sources[i];
		struct ws_pin_source pin = {
			.package = recipe->name,
			.version = recipe->version.text,
			.how = ws_source_kind_name(spec->kind),
			.from = ws_source_spec_from(spec),
			.sha256 = spec->sha256,
			.commit = spec->commit,
		};
		bool locked = known && ws_same(known->how, "folder") && spec->kind == WS_SOURCE_FOLDER;
		pin.tree = !known || locked ? find_tree(ctx, recipe, spec) : NULL;
		/* Nobody can tell what lies there now: then no wheel is known to be made of it. */
		pin.tree = pin.tree || !locked ? pin.tree : "not known";
		if (pin.tree) {
			ws_lock_put(seen, WS_PIN_SOURCE, &pin, ctx->a);
			return;
		}
	}
}

void
ws_probe_pins(const struct ws_context *ctx, const struct ws_pins *pins, struct ws_plan_input *input)
{
	static const struct ws_lock none;
	struct ws_lock *seen = WS_NEW(ctx->a, struct ws_lock);
	ws_lock_merge(seen, &none, &pins->lock, ctx->a);
	for (size_t i = 0; i < input->matrix->package_count; i++) {
		see_source(ctx, &input->recipes[i], seen);
	}
	input->lock = seen;
	input->known = ws_pins_of_store(pins);
}

void
ws_probe_sources(
	const struct ws_context *ctx, const struct ws_lock *lock, struct ws_plan_input *input)
{
	size_t count = input->matrix->package_count;
	struct ws_listing *listings = WS_NEW_N(ctx->a, struct ws_listing, count);
	for (size_t i = 0; i < count; i++) {
		struct ws_tree tree;
		if (recall_source(ctx, lock, &input->recipes[i], &tree)) {
			listings[i] = ws_tree_listing(&tree);
		}
	}
	input->listings = listings;
}

/* ---- releases of torch ---- */

static bool
is_known(
	const struct ws_context *ctx, const struct ws_lock *lock, const struct ws_torch_value *value)
{
	return ws_facts_torch(ctx->facts, &value->version) || ws_lock_torch(lock, value->version.text);
}

static bool
suggest_release(const struct ws_context *ctx, const struct ws_matrix *matrix,
	const struct ws_torch_value *value, struct ws_err *err)
{
	if (matrix->doc && value->place.len > 0) {
		ws_err_at(err, matrix->doc->name, matrix->doc->text, value->place.offset, value->place.len);
	}
	const char *near = ws_facts_torch_suggest(ctx->facts, &value->version, ctx->a);
	if (near) {
		ws_err_cure(err, "did you mean \"%s\"?", near);
	}
	return false;
}

static bool
look_up(const struct ws_context *ctx, const struct ws_matrix *matrix,
	const struct ws_torch_value *value, struct ws_err *err)
{
	const char *version = value->version.text;
	if (!ctx->fetch || ctx->fetch->offline) {
		ws_err_set(err, WS_ERR_CONFIG, "torch '%s' is unknown, and was not looked up", version);
		suggest_release(ctx, matrix, value, err);
		return ws_err_cure_code(err, WS_CURE_LOCK, NULL);
	}
	struct ws_index_list list = ws_index_config_list(ctx->fetch->indexes, "torch", ctx->a);
	const struct ws_index_wheel *wheels;
	size_t count;
	if (!ws_index_wheels(
			ctx->fetch->index, &list, "torch", &value->version, &wheels, &count, err)) {
		ws_err_wrap(err, "torch '%s' is unknown, and could not be looked up", version);
		return suggest_release(ctx, matrix, value, err);
	}
	if (count == 0) {
		ws_err_set(err, WS_ERR_CONFIG, "no torch release '%s'", version);
		return suggest_release(ctx, matrix, value, err);
	}
	return true;
}

bool
ws_probe_torch_releases(const struct ws_context *ctx, const struct ws_lock *lock,
	const struct ws_matrix *matrix, struct ws_err *err)
{
	struct ws_selection_request request = ws_selection_request_of(matrix, ctx->a);
	for (size_t i = 0; i < request.torch.len; i++) {
		const struct ws_torch_value *value = request.torch.at[i];
		if (!is_known(ctx, lock, value) && !look_up(ctx, matrix, value, err)) {
			return false;
		}
	}
	return true;
}
