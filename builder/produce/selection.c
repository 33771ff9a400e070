/* selection.c - reading what was asked for. What the host answers is probe.c's; planning is plan/'s. */
#include "produce/selection.h"

#include "base/vec.h"
#include "config/lock.h"
#include "config/matrix.h"
#include "config/recipes.h"
#include "plan/select.h"
#include "produce/lock_file.h"
#include "produce/probe.h"

#include <string.h>

/* ---- a matrix from options ---- */

static bool
add_package(const char *text, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	struct ws_wanted *wanted = (struct ws_wanted *)(uintptr_t)m->packages;
	const char *equals = strstr(text, "==");
	struct ws_wanted *w = &wanted[m->package_count];
	if (!equals || equals == text || !ws_version_parse(equals + 2, a, &w->version)) {
		return ws_err_set(
			err, WS_ERR_USAGE, "'%s' is no package and version: write NAME==1.2.3", text);
	}
	w->name = ws_package_normal(ws_arena_copy(a, text, (size_t)(equals - text)), a);
	m->package_count++;
	return true;
}

static bool
set_torch(const char *text, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	struct ws_torch_value *value = WS_NEW(a, struct ws_torch_value);
	value->installed = !text || strcmp(text, "installed") == 0;
	if (!value->installed && !ws_version_parse(text, a, &value->version)) {
		return ws_err_set(err, WS_ERR_USAGE, "--torch: '%s' is no version", text);
	}
	m->torch = value;
	m->torch_count = 1;
	return true;
}

static bool
set_cuda(const char *text, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	struct ws_cuda_value *value = WS_NEW(a, struct ws_cuda_value);
	value->automatic = !text || strcmp(text, "auto") == 0;
	if (!value->automatic && !ws_cuda_version_parse(text, a, &value->version)) {
		ws_err_set(err, WS_ERR_USAGE, "--cuda: '%s' is not a CUDA version", text);
		const char *minor = strchr(text, '.') ? "12.4" : ws_arena_printf(a, "%s.0", text);
		return ws_err_cure(err, "write major and minor: --cuda %s", minor);
	}
	m->cuda = value;
	m->cuda_count = 1;
	return true;
}

static bool
set_python(const char *text, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	struct ws_python_value *value = WS_NEW(a, struct ws_python_value);
	value->host = !text || strcmp(text, "host") == 0;
	if (!value->host && strchr(text, '/')) {
		value->path = text;
	} else if (!value->host && !ws_python_tag_parse(text, &value->tag)) {
		return ws_err_set(
			err, WS_ERR_USAGE, "--python: '%s' is no version (3.11, 3.13t) and no path", text);
	}
	m->python = value;
	m->python_count = 1;
	return true;
}

static void
set_arch(const char *text, struct ws_matrix *m, struct ws_arena *a)
{
	struct ws_arch_value *value = WS_NEW(a, struct ws_arch_value);
	value->text = text ? text : "host";
	value->host = strcmp(value->text, "host") == 0;
	m->arch = value;
	m->arch_count = 1;
}

static bool
set_abi(const char *text, struct ws_matrix *m, struct ws_arena *a, struct ws_err *err)
{
	int *value = WS_NEW(a, int);
	if (text && strcmp(text, "auto") != 0 && strcmp(text, "0") != 0 && strcmp(text, "1") != 0) {
		return ws_err_set(err, WS_ERR_USAGE, "--cxx11abi: '0', '1' or 'auto', not '%s'", text);
	}
	*value = text && text[0] != 'a' ? text[0] - '0' : -1;
	m->cxx11abi = value;
	m->cxx11abi_count = 1;
	return true;
}

static bool
matrix_from_options(const struct ws_selection_options *o, struct ws_matrix *m, struct ws_arena *a,
	struct ws_err *err)
{
	if (o->package_count == 0) {
		ws_err_set(err, WS_ERR_USAGE, "nothing was asked for");
		return ws_err_cure(err, "name a matrix (--matrix FILE) or a package (NAME==V --here)");
	}
	if (!strstr(o->packages[0], "==") && ws_ends_with(o->packages[0], ".json")) {
		ws_err_set(err, WS_ERR_USAGE, "'%s' is no package", o->packages[0]);
		return ws_err_cure(err, "a matrix is named by an option: --matrix %s", o->packages[0]);
	}
	if (!o->here && !o->torch) {
		ws_err_set(err, WS_ERR_USAGE, "for which torch?");
		ws_err_cure(err, "--here: the one that python3 has installed, for this host's GPU");
		return ws_err_cure(err, "or name them: --torch 2.5.1 --python 3.11 --arch 8.6");
	}
	m->packages = WS_NEW_N(a, struct ws_wanted, o->package_count);
	for (size_t i = 0; i < o->package_count; i++) {
		if (!add_package(o->packages[i], m, a, err)) {
			return false;
		}
	}
	set_arch(o->arch, m, a);
	m->fallback_on_no_candidate = true;
	return set_torch(o->torch, m, a, err) && set_cuda(o->cuda, m, a, err)
		&& set_python(o->python, m, a, err) && set_abi(o->cxx11abi, m, a, err);
}

/* ---- reading ---- */

static bool
refuse_mixture(const struct ws_selection_options *o, struct ws_err *err)
{
	if (o->package_count > 0) {
		return ws_err_set(
			err, WS_ERR_USAGE, "either a matrix or a package, not both: '%s'", o->packages[0]);
	}
	if (o->here || o->torch || o->python || o->arch || o->cuda || o->cxx11abi) {
		ws_err_set(err, WS_ERR_USAGE, "a matrix says its own torch, python, arch and cuda");
		return ws_err_cure(err, "to take some of its cells: --only '*torch2.5.1*cp311*'");
	}
	return true;
}

static bool
read_recipes(struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *o, struct ws_selection *sel, struct ws_err *err)
{
	const struct ws_matrix *m = &sel->matrix;
	struct ws_recipe_shelf shelf;
	size_t count;
	const char *const *folders = ws_data_recipe_folders(
		ctx->data, o->recipes, m->recipes, user->recipes, user->recipe_count, ctx->a, &count);
	if (!ws_recipes_list(folders, count, ctx->a, &shelf, err)) {
		return false;
	}
	struct ws_recipe *recipes = WS_NEW_N(ctx->a, struct ws_recipe, m->package_count);
	for (size_t i = 0; i < m->package_count; i++) {
		const struct ws_wanted *wanted = &m->packages[i];
		if (ws_recipe_find(&shelf, wanted->name, &wanted->version, ctx->a, &recipes[i], err)) {
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

bool
ws_selection_read(struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *options, struct ws_selection *sel, struct ws_err *err)
{
	struct ws_matrix *m = &sel->matrix;
	*sel = (struct ws_selection){0};
	bool read = options->matrix ? refuse_mixture(options, err)
			&& ws_matrix_read(options->matrix, ws_user_env_home(ctx->env), ctx->a, m, err)
								: matrix_from_options(options, m, ctx->a, err);
	m->policy = m->policy_given ? m->policy : user->policy;
	if (read && options->policy && !ws_policy_parse(options->policy, &m->policy)) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--policy: prefer-prebuilt, prefer-build, prebuilt-only or build-only, not '%s'",
			options->policy);
	}
	if (read && options->debug_info && !ws_debug_info_parse(options->debug_info, &m->debug_info)) {
		return ws_err_set(
			err, WS_ERR_USAGE, "--debug-info: none, lines or full, not '%s'", options->debug_info);
	}
	return read && read_recipes(ctx, user, options, sel, err);
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

/* Before planning, which takes what is pinned before anything else. */
static bool
forget_pins(struct ws_context *ctx, const struct ws_selection_options *o, struct ws_err *err)
{
	for (size_t i = 0; i < o->forget_count; i++) {
		const char *name = ws_package_normal(o->forget[i], ctx->a);
		if (ws_lock_forget(ctx->lock, name) > 0) {
			ctx->lock_changed = true;
		} else if (strcmp(name, "all") != 0) {
			ws_err_set(err, WS_ERR_USAGE, "the lock has no pin of '%s'", o->forget[i]);
			return ws_err_cure(err, "--update takes 'torch', 'cuda', a package's name, or 'all'");
		}
	}
	return true;
}

/* ---- planning ---- */

static bool
parse_shard(const char *text, struct ws_plan_input *input, struct ws_err *err)
{
	return !text || ws_shard_parse(text, &input->shard, &input->shards)
		|| ws_err_set(err, WS_ERR_USAGE, "--shard: '%s' is no I/N with I from 1 to N (2/5)", text);
}

bool
ws_selection_make(struct ws_context *ctx, const struct ws_user_config *user,
	const struct ws_selection_options *options, struct ws_selection *sel, struct ws_err *err)
{
	struct ws_plan_input *input = WS_NEW(ctx->a, struct ws_plan_input);
	if (!ws_selection_read(ctx, user, options, sel, err)
		|| !ws_lock_file_read(ctx, lock_path_of(ctx, options, &sel->matrix), &sel->lock, err)
		|| !forget_pins(ctx, options, err) || !parse_shard(options->shard, input, err)
		|| !ws_probe_torch_releases(ctx, &sel->matrix, err)) {
		return false;
	}
	sel->input = input;
	input->matrix = &sel->matrix;
	input->recipes = sel->recipes;
	input->facts = ctx->facts;
	input->only = options->only;
	ws_probe_sources(ctx, input);
	ws_probe_pins(ctx, input);
	return ws_probe_host(ctx, &sel->matrix, input, err)
		&& ws_plan_make(input, ctx->a, &sel->plan, err);
}
