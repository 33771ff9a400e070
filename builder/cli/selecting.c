/* selecting.c - from options to a plan. */
#include "cli/selecting.h"

#include "config/values.h"
#include "draft/draft.h"
#include "net/url.h"
#include "publish/catalog.h"
#include "publish/folder/index_folder.h"
#include "report/format.h"

#define SYNOPSIS "PKG[==V]... (--here|--torch V) | --matrix FILE [options]"

bool
ws_selecting_options(struct ws_session *s, struct ws_selecting *selecting,
	const struct ws_usage *own, struct ws_err *err)
{
	struct ws_matrix_options *typed = &selecting->typed;
	const struct ws_option all[] = {
		{"matrix", 'm', WS_OPTION_TEXT, &selecting->options.matrix, "FILE", "the build matrix"},
		{"only", 0, WS_OPTION_LIST, &selecting->only, "CELLS",
			"cells whose names match these globs"},
		{"shard", 0, WS_OPTION_TEXT, &selecting->shard, "I/N",
			"part I of N, the same on every machine"},
		{"here", 0, WS_OPTION_FLAG, &typed->here, NULL, "for this host's python3, torch and GPU"},
		{"torch", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_TORCH], "V",
			"2.5.1, installed; these six may be repeated"},
		{"python", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_PYTHON], "V",
			"3.11, 3.13t, a path; default: python3"},
		{"arch", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_ARCH], "A",
			"\"8.0;9.0+PTX\", hopper; default: the GPU here"},
		{"cuda", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_CUDA], "V",
			"12.4; default: what torch was built with"},
		{"platform", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_PLATFORM], "P",
			"x86_64, aarch64; default: this host's"},
		{"cxx11abi", 0, WS_OPTION_LIST, &typed->axes[WS_AXIS_CXX11ABI], "N",
			"0, 1; default: torch's own"},
		{"debug-info", 0, WS_OPTION_TEXT, &selecting->debug_info, "D",
			"lines, full; default: none"},
		{"glibc", 0, WS_OPTION_TEXT, &selecting->glibc, "G", "2.28, host; default: torch's own"},
		{"policy", 0, WS_OPTION_TEXT, &selecting->policy, "P", "prefer-prebuilt, build-only, ..."},
		{"torch-window", 0, WS_OPTION_FLAG, &selecting->options.torch_window, NULL,
			"allow wheels for other torch minors"},
	};
	struct ws_option *rows = WS_NEW_N(s->a, struct ws_option, WS_LEN(all) + own->option_count);
	struct ws_usage usage = *own;
	usage.synopsis = own->synopsis ? own->synopsis : SYNOPSIS;
	usage.options = rows;
	usage.most = 1000;
	usage.option_count = 0;
	for (size_t i = 0; i < WS_LEN(all); i++) {
		bool part = all[i].value == &selecting->only || all[i].value == &selecting->shard;
		if (!part || !selecting->whole) {
			rows[usage.option_count++] = all[i];
		}
	}
	memcpy(rows + usage.option_count, own->options, own->option_count * sizeof(*rows));
	usage.option_count += own->option_count;
	return ws_command_options(s, &usage, err);
}

/* With a matrix in a file these options are mistakes. */
static bool
refuse_mixture(const struct ws_matrix_options *typed, struct ws_err *err)
{
	bool given = typed->here;
	for (size_t i = 0; i < WS_AXES; i++) {
		given = given || typed->axes[i].len > 0;
	}
	if (typed->packages.len > 0) {
		return ws_err_set(err, WS_ERR_USAGE, "both a matrix and a package are given: '%s'",
			typed->packages.at[0]);
	}
	if (given) {
		ws_err_set(err, WS_ERR_USAGE,
			"with --matrix, torch, python, arch, cuda and platform come from the matrix");
		return ws_err_cure(err, "to select some of its cells: --only '*torch2.5.1*cp311*'");
	}
	return true;
}

/* The options that are words, as the plan takes them. */
static bool
read_words(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err)
{
	struct ws_selection_options *o = &selecting->options;
	const char *policy = selecting->policy, *debug_info = selecting->debug_info;
	const char *shard = selecting->shard, *glibc = o->glibc = selecting->glibc;
	int policy_at = policy ? ws_word_index(ws_policy_words, policy) : 0;
	int debug_info_at = debug_info ? ws_word_index(ws_debug_info_words, debug_info) : 0;
	if (policy_at < 0) {
		return ws_err_set(err, WS_ERR_USAGE,
			"--policy: '%s' is not prefer-prebuilt, prefer-build, prebuilt-only or build-only",
			policy);
	}
	if (debug_info_at < 0) {
		return ws_err_set(
			err, WS_ERR_USAGE, "--debug-info: '%s' is not none, lines or full", debug_info);
	}
	selecting->policy_value = (enum ws_policy)policy_at;
	selecting->debug_info_value = (enum ws_debug_info)debug_info_at;
	o->policy = policy ? &selecting->policy_value : NULL;
	o->debug_info = debug_info ? &selecting->debug_info_value : NULL;
	if (glibc && !ws_glibc_is_floor(glibc)) {
		ws_err_set(err, WS_ERR_USAGE, "--glibc: '%s' is not %s", glibc, ws_glibc_floors(s->a));
		const char *older = ws_glibc_floor_below(glibc);
		return older && ws_err_cure(err, "wheels for %s run there: --glibc %s", older, older);
	}
	return !shard || ws_shard_parse(shard, &o->shard, &o->shards)
		|| ws_err_set(
			err, WS_ERR_USAGE, "--shard: '%s' is not I/N with I from 1 to N, like 2/5", shard);
}

/* A package without its version: "flash-attn". */
static bool
is_bare(const char *word)
{
	return ws_is_package_name(word) && !ws_ends_with(word, ".json");
}

/* Makes the matrix from options. Packages without a version have version 0 until the store is
 * open. */
static bool
make_matrix(struct ws_session *s, const struct ws_selecting *selecting, struct ws_err *err)
{
	struct ws_matrix_options typed = selecting->typed;
	typed.packages = (ws_words){0};
	for (size_t i = 0; i < selecting->typed.packages.len; i++) {
		const char *word = selecting->typed.packages.at[i];
		*ws_vec_push(&typed.packages, s->a) =
			is_bare(word) ? ws_arena_printf(s->a, "%s==0", word) : word;
	}
	return ws_matrix_options_read(&typed, selecting->made, s->a, err);
}

bool
ws_selecting_finish(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err)
{
	struct ws_selection_options *o = &selecting->options;
	WS_AUTO_BUF struct ws_buf only = {0};
	for (size_t i = 0; i < selecting->only.len; i++) {
		ws_buf_printf(&only, "%s%s", i ? "," : "", selecting->only.at[i]);
	}
	o->only = selecting->only.len ? ws_buf_copy(&only, s->a) : NULL;
	o->recipes = s->globals.recipes;
	selecting->typed.packages = s->words;
	selecting->typed.env = &s->env;
	selecting->made = WS_NEW(s->a, struct ws_matrix);
	bool read = o->matrix ? refuse_mixture(&selecting->typed, err) : make_matrix(s, selecting, err);
	o->made = o->matrix ? NULL : selecting->made;
	struct ws_selecting *kept = WS_NEW(s->a, struct ws_selecting);
	read = read && read_words(s, selecting, err);
	*kept = *selecting;
	kept->options.policy = o->policy ? &kept->policy_value : NULL;
	kept->options.debug_info = o->debug_info ? &kept->debug_info_value : NULL;
	s->selecting = kept;
	return read;
}

/* The context of the session, for a plan in @a. The store must be open; without a network, fetch is
 * NULL. */
static void
make_context(struct ws_session *s, const struct ws_selecting *selecting, struct ws_arena *a,
	struct ws_context *ctx)
{
	*ctx = (struct ws_context){
		.a = a,
		.env = &s->env,
		.program = s->program,
		.data = &s->data,
		.facts = &s->facts,
		.host = &s->host,
		.store = &s->store,
		.ledger = s->ledger,
		.fetch = s->has_net ? &s->fetch : NULL,
		.indexes = s->has_indexes ? &s->indexes : NULL,
		.events = &s->events,
		.stop = &s->stop,
		.kits = !s->globals.kits               ? WS_KITS_ANY
			: ws_same(s->globals.kits, "host") ? WS_KITS_HOST
											   : WS_KITS_ARCHIVE,
		.jobs = selecting->jobs,
		.memory_bytes = selecting->memory_bytes,
	};
}

static void
add_option(struct ws_buf *line, const char *name, const char *value)
{
	if (value) {
		ws_buf_printf(line, " --%s ", name);
		ws_buf_put_quoted(line, value);
	}
}

/* --only and --shard are repeated for `fetch` alone: a lock pins all cells, and a shell opens
 * one. */
const char *
ws_selecting_command(const struct ws_session *s, const struct ws_selecting *selecting,
	const char *command, bool elsewhere)
{
	const struct ws_selection_options *o = &selecting->options;
	const struct ws_globals *g = &s->globals;
	bool parts = strcmp(command, "fetch") == 0;
	WS_AUTO_BUF struct ws_buf line = {0};
	ws_buf_printf(&line, "wheelsmith %s", command);
	for (size_t i = 0; i < selecting->typed.packages.len; i++) {
		ws_buf_putc(&line, ' ');
		ws_buf_put_quoted(&line, selecting->typed.packages.at[i]);
	}
	add_option(&line, "matrix", o->matrix);
	ws_buf_puts(&line, selecting->typed.here ? " --here" : "");
	for (size_t i = 0; i < WS_AXES; i++) {
		const ws_words *values = &selecting->typed.axes[i];
		for (size_t j = 0; j < values->len; j++) {
			add_option(&line, ws_axis_keys[i], values->at[j]);
		}
	}
	add_option(&line, "debug-info", selecting->debug_info);
	add_option(&line, "glibc", selecting->glibc);
	add_option(&line, "policy", selecting->policy);
	ws_buf_puts(&line, o->torch_window ? " --torch-window" : "");
	add_option(&line, "only", parts ? o->only : NULL);
	add_option(&line, "shard", parts ? selecting->shard : NULL);
	add_option(&line, "recipes", g->recipes);
	add_option(&line, "kits", g->kits);
	add_option(&line, "debian-mirror", g->debian_mirror);
	for (size_t i = 0; i < g->indexes.len; i++) {
		/* Do not print passwords. */
		const char *index = g->indexes.at[i];
		add_option(&line, "index", ws_url_has_login(index) ? NULL : index);
	}
	bool chosen = g->store || ws_user_env_get(&s->env, "WHEELSMITH_STORE");
	add_option(&line, "store", chosen && !elsewhere ? s->store.path : NULL);
	return ws_buf_copy(&line, s->a);
}

/* ---- words of cures ---- */

/* Texts by code. A command for the same selection may follow. */
static const struct {
	const char *text;
	const char *command; /* NULL: none */
} texts[] = {
	[WS_CURE_FREE_SPACE] = {"free some space there, or use another folder: --store DIR, -o DIR",
		NULL},
	[WS_CURE_READ_ONLY] = {"that file system is read-only; use another folder: --store DIR, -o DIR",
		NULL},
	[WS_CURE_OUTPUT] = {"choose another folder: -o DIR", NULL},
	[WS_CURE_STORE] = {"name a folder for the store: --store DIR, or WHEELSMITH_STORE", NULL},
	[WS_CURE_DEBIAN_MIRROR] = {"name a Debian mirror:  --debian-mirror URL", NULL},
	[WS_CURE_KITS_ARCHIVE] =
		{"--kits archive assembles a complete toolkit in the store and installs no package", NULL},
	[WS_CURE_FETCH] = {"fetch first, with a network:  ", "fetch"},
	[WS_CURE_LOCK] = {"if that release exists, add it to the lock:  ", "lock"},
	[WS_CURE_UNLOCKED] = {"or build without --locked", NULL},
	[WS_CURE_FIRST_SIGNATURE] =
		{"if its wheels are yours, sign it for the first time: --sign-unsigned", NULL},
	[WS_CURE_ACTION_TIMEOUT] = {"if it needs more time: --action-timeout SECONDS", NULL},
};

/* A value for an axis: "name the architectures: --arch 8.6", or with the matrix's key. */
static const struct {
	const char *what, *key;
} axes[] = {
	[WS_CURE_TORCH] = {"torch release", "torch"},
	[WS_CURE_CUDA] = {"CUDA version", "cuda"},
	[WS_CURE_PYTHON] = {"Python", "python"},
	[WS_CURE_ARCH] = {"architectures", "arch"},
};

/* A command for the same selection; without a selection the bare command. */
static const char *
command(const struct ws_session *s, const char *name)
{
	return s->selecting ? ws_selecting_command(s, s->selecting, name, false)
						: ws_arena_printf(s->a, "wheelsmith %s", name);
}

static void
word(const struct ws_session *s, enum ws_cure code, const char *subject, struct ws_err *err)
{
	bool matrix = s->selecting && s->selecting->options.matrix;
	if (code < WS_LEN(texts) && texts[code].text) {
		const char *follows = texts[code].command ? command(s, texts[code].command) : "";
		ws_err_cure(err, "%s%s", texts[code].text, follows);
	} else if (code < WS_LEN(axes) && axes[code].key) {
		ws_err_cure(err, matrix ? "name the %s: \"%s\": [\"%s\"]" : "name the %s: --%s %s",
			axes[code].what, axes[code].key, subject);
	} else if (code == WS_CURE_INDEX) {
		if (!subject[0]) {
			ws_err_cure(err, "name an index or a mirror: --index URL");
		} else if (matrix) {
			ws_err_cure(
				err, "name an index with other builds: \"indexes\": {\"%s\": [URL]}", subject);
		} else {
			ws_err_cure(err, "name an index with other builds: --index %s=URL", subject);
		}
	} else if (code == WS_CURE_LOCK_UPDATE) {
		ws_err_cure(err, "if the change is intended:  %s%s%s", command(s, "lock"),
			subject[0] ? " --update " : "", subject);
	} else if (code == WS_CURE_ASK_AGAIN) {
		ws_err_cure(err, "to query them again:  %s --update %s", command(s, "lock"), subject);
	} else if (code == WS_CURE_RECIPE) {
		ws_err_cure(err, "draft one:  wheelsmith recipe new %s%s -o %s/", subject,
			strstr(subject, "==") ? "" : "==VERSION",
			s->globals.recipes ? s->globals.recipes : "recipes");
		ws_err_cure(err, "and build with it:  %s%s", command(s, "build"),
			s->globals.recipes ? "" : " --recipes recipes");
	} else if (code == WS_CURE_SYNC) {
		ws_err_cure(
			err, "publish to a folder, and copy that:  wheelsmith publish DIR... --to FOLDER");
		ws_err_cure(err,
			"aws s3 sync FOLDER %s --exclude '.*' --exclude '@*' --exclude 'current/*'", subject);
	}
}

void
ws_cures_word(const struct ws_session *s, struct ws_err *err)
{
	for (size_t i = 0; i < err->cure_count; i++) {
		word(s, err->cures[i].code, err->cures[i].subject, err);
	}
	err->cure_count = 0;
}

/* ---- packages without a version, and without a recipe ---- */

/* Whether a plan without a network has a cell for @a package that is not excluded; else @a why. The
 * version does not depend on the Pythons of this host. */
static bool
fits(struct ws_session *s, const struct ws_selecting *selecting, const char *package,
	const char **why)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_selecting one = *selecting;
	struct ws_matrix matrix;
	struct ws_context ctx;
	struct ws_selection sel;
	one.typed.packages = (ws_words){.at = &package, .len = 1};
	one.options = (struct ws_selection_options){
		.made = &matrix, .recipes = selecting->options.recipes, .builds_elsewhere = true};
	make_context(s, &one, a, &ctx);
	*why = NULL;
	if (!ws_matrix_options_read(&one.typed, &matrix, a, NULL)
		|| !ws_selection_read(&ctx, &s->user, &one.options, &sel, NULL)
		|| !ws_selection_plan(&ctx, &one.options, &sel, NULL)) {
		return false;
	}
	for (size_t i = 0; i < sel.plan.cell_count; i++) {
		if (sel.plan.cells[i]->decision != WS_DECISION_EXCLUDED) {
			return true;
		}
		*why = ws_arena_strdup(s->a, sel.plan.cells[0]->why);
	}
	return false;
}

/* "demo==2.0": the newest version with a recipe that can be planned, else the newest with a
 * recipe. */
static const char *
choose_version(struct ws_session *s, const struct ws_selecting *selecting,
	const struct ws_recipe_catalog *catalog, const char *name, struct ws_err *err)
{
	const char *newest = NULL, *reason = NULL, *why;
	const char *package = ws_package_normal(name, s->a);
	for (size_t i = catalog->count; i-- > 0;) {
		const struct ws_recipe_file *file = &catalog->files[i];
		if (strcmp(file->name, package) != 0 || file->version.local) {
			continue;
		}
		const char *wanted = ws_arena_printf(s->a, "%s==%s", package, file->version.text);
		if (fits(s, selecting, wanted, &why)) {
			const char *note = newest
				? ws_arena_printf(s->a, "; %s does not fit: %s", newest, reason)
				: ", the newest with a recipe";
			ws_out_note(&s->out, "%s: version %s%s\n", package, file->version.text, note);
			return wanted;
		}
		if (!newest) {
			newest = file->version.text;
			reason = why ? why : "it cannot be planned";
		}
	}
	if (!newest) {
		ws_recipe_find(catalog, package, NULL, s->a, NULL, err);
		return NULL;
	}
	return ws_arena_printf(s->a, "%s==%s", package, newest);
}

static bool
choose_versions(struct ws_session *s, struct ws_selecting *selecting, struct ws_err *err)
{
	struct ws_recipe_catalog catalog = {0};
	ws_words *words = &selecting->typed.packages;
	bool any = false;
	for (size_t i = 0; i < words->len; i++) {
		if (!is_bare(words->at[i])) {
			continue;
		}
		if (!any && !ws_session_list_recipes(s, &catalog, err)) {
			return false;
		}
		any = true;
		const char *chosen = choose_version(s, selecting, &catalog, words->at[i], err);
		if (!chosen) {
			return false;
		}
		words->at[i] = chosen;
	}
	return !any || make_matrix(s, selecting, err);
}

/* If a recipe is missing: adds to the cure which versions the index has, for a draft. */
static bool
add_sources(struct ws_session *s, const struct ws_matrix *matrix, struct ws_err *err)
{
	char *subject = NULL;
	for (size_t i = 0; i < err->cure_count; i++) {
		subject = err->cures[i].code == WS_CURE_RECIPE ? err->cures[i].subject : subject;
	}
	struct ws_err none = {0};
	struct ws_sdist_found found;
	struct ws_version version;
	const char *equals = subject ? strstr(subject, "==") : NULL;
	if (!subject || !ws_session_open_net(s, matrix, false, &none)) {
		return false;
	}
	size_t len = equals ? (size_t)(equals - subject) : strlen(subject);
	const char *package = ws_arena_copy(s->a, subject, len);
	if (!ws_version_parse(equals ? equals + 2 : "0", s->a, &version)) {
		return false;
	}
	bool known = ws_sdist_find(&s->fetch, package, &version, s->a, &found, &none);
	if (found.others[0]) {
		ws_err_cure(err, "the index has source distributions of %s%s%s", found.others,
			known && !found.file ? ", and wheels alone of " : "",
			known && !found.file ? version.text : "");
	} else if (none.kind == WS_ERR_CONFIG) {
		ws_err_cure(err, "%s", none.text);
		const char *elsewhere =
			ws_arena_printf(s->a, "%s==%s --git URL", package, equals ? equals + 2 : "VERSION");
		snprintf(subject, sizeof(err->cures[0].subject), "%s", elsewhere);
	}
	if ((!equals || !known) && found.others[0]) {
		snprintf(subject, sizeof(err->cures[0].subject), "%s==%.*s", package,
			(int)strcspn(found.others, ","), found.others);
	}
	return false;
}

/* ---- --against INDEX ---- */

/* The wheels of the matrix's packages in @index, without yanked ones: a folder made by `publish`,
 * or the URL of a simple index, for which the network must be open. */
static bool
read_against(struct ws_session *s, const char *index, const struct ws_matrix *matrix,
	struct ws_plan_against *against, struct ws_err *err)
{
	WS_VEC(struct ws_wheel_name) names = {0};
	struct ws_index_folder target;
	struct ws_index_catalog catalog = {0};
	bool is_url = strstr(index, "://") != NULL;
	for (size_t i = 0; is_url && i < matrix->package_count; i++) {
		const struct ws_index_page *page = NULL;
		if (!ws_index_page(s->fetch.index, index, matrix->packages[i].name, &page, err)) {
			return false;
		}
		for (size_t j = 0; page && j < page->count; j++) {
			const struct ws_index_file *file = &page->files[j];
			struct ws_wheel_name name;
			const char *why;
			if (!file->is_yanked && ws_ends_with(file->name, ".whl")
				&& ws_wheel_name_parse(file->name, s->a, &name, &why)) {
				*ws_vec_push(&names, s->a) = name;
			}
		}
	}
	if (!is_url
		&& (!ws_index_folder_look(index, s->a, &target, err)
			|| !ws_index_catalog_read(
				ws_index_folder_path(&target, "index.json"), s->a, &catalog, err))) {
		return false;
	}
	for (size_t i = 0; i < catalog.entries.len; i++) {
		if (!catalog.entries.at[i].yanked) {
			*ws_vec_push(&names, s->a) = catalog.entries.at[i].name;
		}
	}
	*against = (struct ws_plan_against){
		.name = is_url ? ws_url_shown(index, s->a) : index,
		.wheels = names.at,
		.count = names.len,
	};
	return true;
}

/* ---- the plan ---- */

bool
ws_selecting_plan(
	struct ws_session *s, struct ws_selecting *selecting, bool network, struct ws_err *err)
{
	if (!ws_session_open_store(s, !network, err)) {
		return false;
	}
	struct ws_context *ctx = &selecting->ctx;
	struct ws_selection *sel = &selecting->sel;
	struct ws_plan_against *against = WS_NEW(s->a, struct ws_plan_against);
	const struct ws_matrix *matrix = &sel->matrix;
	bool asks = network || (selecting->against && strstr(selecting->against, "://"));
	make_context(s, selecting, s->a, ctx);
	/* Read the matrix before opening the network: it may name indexes. */
	if (!choose_versions(s, selecting, err)
		|| !ws_selection_read(ctx, &s->user, &selecting->options, sel, err)) {
		return network && !selecting->offline && add_sources(s, matrix, err);
	}
	if (!ws_session_read_indexes(s, matrix, err)
		|| (asks && !ws_session_open_net(s, matrix, selecting->offline, err))
		|| (selecting->against && !read_against(s, selecting->against, matrix, against, err))
		|| (network && !selecting->offline && !ws_session_open_records(s, err))) {
		return false;
	}
	selecting->options.against = selecting->against ? against : NULL;
	make_context(s, selecting, s->a, ctx);
	if (!ws_selection_plan(ctx, &selecting->options, sel, err)) {
		return false;
	}
	for (size_t i = 0; i < sel->plan.warning_count; i++) {
		ws_out_warn(&s->out, "%s", sel->plan.warnings[i]);
	}
	/* The engine runs such a unit alone. */
	const struct ws_plan_unit *largest = NULL;
	char needed[WS_FORMAT_BYTES], limit[WS_FORMAT_BYTES];
	for (size_t i = 0; i < sel->plan.product_count; i++) {
		const struct ws_plan_units *units = sel->plan.products[i]->units;
		for (size_t k = 0; units && k < units->count; k++) {
			bool larger = !largest || units->at[k].cost.rss_bytes > largest->cost.rss_bytes;
			largest = larger ? &units->at[k] : largest;
		}
	}
	if (selecting->memory_bytes && largest && largest->cost.rss_bytes > selecting->memory_bytes) {
		ws_out_warn(&s->out,
			"'%s' needs about %s, more than --memory %s: it will run alone and hold that much",
			largest->path, ws_format_memory(largest->cost.rss_bytes, needed),
			ws_format_memory(selecting->memory_bytes, limit));
	}
	return true;
}

bool
ws_selecting_has_work(
	const struct ws_session *s, const struct ws_selecting *selecting, struct ws_err *err)
{
	const struct ws_plan *plan = &selecting->sel.plan;
	if (plan->totals.decisions[WS_DECISION_EXCLUDED] < plan->cell_count) {
		return true;
	}
	if (selecting->shard) {
		ws_out_note(&s->out, "shard %s has nothing to build\n", selecting->shard);
		return true;
	}
	if (plan->cell_count == 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the selection has no cells");
	}
	const struct ws_cell *cell = plan->cells[0];
	ws_err_set(err, WS_ERR_CONFIG, "every cell is excluded; the first: %s", cell->why);
	const char *command = ws_arena_printf(s->a, "plan --why '%s'", cell->name);
	return ws_err_cure(err, "the details:  %s", ws_selecting_command(s, selecting, command, false));
}
