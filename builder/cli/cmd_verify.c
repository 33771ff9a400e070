/* cmd_verify.c - wheelsmith verify: will wheels load in a torch, and if not, why not. Options
 * become a place here; a child judges (judge/order.h), and verify_text.c prints. */
#include "base/fs.h"
#include "cli/matrix_options.h"
#include "cli/session.h"
#include "cli/verify_text.h"
#include "judge/torch_place.h"
#include "kit/cuda/gpu.h"

struct verifying {
	struct ws_session *s;
	struct ws_arena *a;
	bool here, strict;
	const char *torch, *python, *arch, *glibc; /* as typed; NULL: not given */
	struct ws_verify_asked asked;
	struct ws_python_kit kit;
	struct ws_torch_kit installed; /* with here */
	struct ws_recipe_catalog catalog;
	enum ws_finding_verdict worst;
	WS_VEC(struct ws_wheel_verdict) verdicts;
};

static bool
parse(struct ws_session *s, struct verifying *v, struct ws_err *err)
{
	const struct ws_option rows[] = {
		{"here", 0, WS_OPTION_FLAG, &v->here, NULL, "in this host's python3, its torch and GPU"},
		{"torch", 0, WS_OPTION_TEXT, &v->torch, "V",
			"in this release: 2.5.1; all: one row for each"},
		{"python", 0, WS_OPTION_TEXT, &v->python, "V", "3.11, 3.13t, a path; default: the wheel's"},
		{"arch", 0, WS_OPTION_TEXT, &v->arch, "A",
			"GPUs that it must run on: \"8.6\", \"9.0+PTX\""},
		{"glibc", 0, WS_OPTION_TEXT, &v->glibc, "V", "of the system: 2.28; default: this host's"},
		{"strict", 0, WS_OPTION_FLAG, &v->strict, NULL,
			"names in libraries that were not read are unknown"},
	};
	struct ws_usage usage = {
		.command = "verify",
		.synopsis = "WHEEL... (--here | --torch V|all) [options]",
		.summary =
			"Says whether wheels will load, and if not, why not. No code of them runs.\n"
			"Exits 0 when all load (with --torch all: in some release), 1 when one fails, 7\n"
			"when it is not known, 9 when only its METADATA asks for another torch or Python.\n"
			"\"Loads\" is not \"harmless\".",
		WS_OPTIONS(rows),
		.least = 1,
		.most = 1000,
	};
	if (!ws_command_options(s, &usage, err)) {
		return false;
	}
	if (v->here == (v->torch != NULL)) {
		ws_err_set(err, WS_ERR_USAGE,
			v->here ? "--here and --torch exclude each other"
					: "no torch selected: give --here or --torch V");
		return ws_err_cure(err,
			"--here: the one that python3 has installed; --torch 2.5.1: that "
			"release; --torch all: every release that is known");
	}
	return true;
}

/* ---- the place, as far as it is the same for all wheels ---- */

static bool
read_python(struct verifying *v, struct ws_err *err)
{
	struct ws_python_tag tag;
	const char *text = v->python;
	bool version = text && ws_python_tag_parse(text, &tag);
	if (!v->here && (version || !text)) {
		v->kit.tag = tag;
		v->asked.python = version ? &v->kit.tag : NULL;
		return true;
	}
	const char *path = text && !version ? ws_matrix_options_python(&v->s->env, text, v->a) : NULL;
	if (!ws_python_find_meant(&v->s->env, path, !text, &tag, v->a, &v->kit, err)) {
		return false;
	}
	v->asked.kit = &v->kit;
	v->asked.python = &v->kit.tag;
	return true;
}

static bool
read_archs(struct verifying *v, struct ws_err *err)
{
	const char *word, *why;
	if (v->arch && !ws_facts_archs(&v->s->facts, v->arch, v->a, &v->asked.archs, &word, &why)) {
		return ws_err_set(err, WS_ERR_USAGE, "--arch '%s': %s", v->arch, why);
	}
	if (!v->here) {
		return true;
	}
	struct ws_gpus gpus;
	ws_gpu_list(&v->s->env, v->a, &gpus);
	v->asked.driver = gpus.driver;
	if (gpus.count == 0 && !v->arch) {
		ws_out_note(&v->s->out,
			"this host has no GPU: whether GPU code runs is not judged, --arch A asks\n");
	}
	if (!v->arch) {
		v->asked.archs = ws_gpu_archs(&gpus, v->a);
	}
	return true;
}

static bool
prepare(struct verifying *v, struct ws_err *err)
{
	struct ws_session *s = v->s;
	if (!ws_session_open_store(s, false, err)
		|| (v->here && !ws_session_open_net(s, NULL, true, err))) {
		return false;
	}
	v->asked.facts = s->data.facts;
	v->asked.world = &s->facts;
	v->asked.strict = v->strict;
	/* Recipes name the modules that count; mistakes in their folder are ignored here. */
	ws_session_list_recipes(s, &v->catalog, NULL);
	if (!read_python(v, err) || !read_archs(v, err)) {
		return false;
	}
	const char *text = v->glibc;
	if (text
		&& (!ws_starts_with(text, "2.") || strspn(text + 2, "0123456789") != strlen(text + 2)
			|| !text[2])) {
		return ws_err_set(err, WS_ERR_USAGE, "--glibc '%s' is not a version like 2.28", text);
	}
	v->asked.glibc = text;
	return !v->here || ws_torch_open_installed(&s->facts, &v->kit, NULL, v->a, &v->installed, err);
}

/* ---- one wheel ---- */

static bool
add_release(struct verifying *v, const struct ws_version *version, const struct ws_wheel_name *name,
	struct ws_wheel_place *place, struct ws_err *err)
{
	struct ws_verify_asked asked = v->asked;
	struct ws_python_tag *named = WS_NEW(v->a, struct ws_python_tag);
	if (!asked.python && name->abi_count == 1 && ws_python_tag_parse(name->abis[0], named)) {
		asked.python = named; /* cp311-cp311 */
	}
	asked.machine = ws_wheel_name_machine(name);
	if (!ws_torch_place_release(&asked, version, v->a, place, err)) {
		return false;
	}
	if (!v->asked.python) {
		/* The Pythons of the release that the wheel's tags are for, the oldest first. */
		const struct ws_torch_release *release = ws_facts_torch(&v->s->facts, version);
		const struct ws_machine *machine = asked.machine ? asked.machine : ws_machine_host();
		const char **tags = WS_NEW_N(v->a, const char *, release ? release->python_count : 0);
		place->place.pythons = tags;
		for (size_t i = 0; release && i < release->python_count; i++) {
			if (ws_wheel_fit(name, &release->pythons[i], machine, 2, WS_ANY_GLIBC) > 0) {
				tags[place->place.python_count++] =
					ws_python_tag_text(&release->pythons[i], true, v->a);
			}
		}
	}
	if (place->place.python_count > 0) {
		place->place.python_tag = place->place.pythons[0];
	}
	return true;
}

static bool
unknown_release(const struct verifying *v, const struct ws_machine *machine, const char *text,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf known = {0};
	machine = machine ? machine : ws_machine_host();
	for (size_t i = 0; i < v->s->facts.torch_count; i++) {
		const char *release = v->s->facts.torch[i].version.text;
		if (ws_torch_exports_shipped(v->asked.facts, release, machine, v->a)) {
			ws_buf_printf(&known, " %s", release);
		}
	}
	ws_err_set(err, WS_ERR_UNKNOWN, "no export list of torch %s for %s", text, machine->name);
	ws_err_cure(err, "known are%s", ws_buf_text(&known));
	return ws_err_cure(err, "where it is installed:  wheelsmith verify WHEEL --here");
}

static bool
find_places(struct verifying *v, const struct ws_wheel_name *name, struct ws_wheel_place *places,
	size_t *count, struct ws_err *err)
{
	const struct ws_facts *facts = &v->s->facts;
	struct ws_version version;
	*count = 0;
	if (v->here) {
		*count = 1;
		return ws_torch_place_installed(
			&v->asked, &v->s->fetch, v->s->program, &v->installed, v->a, &places[0], err);
	}
	for (size_t i = 0; ws_same(v->torch, "all") && i < facts->torch_count; i++) {
		struct ws_err ignored = {0};
		*count += add_release(v, &facts->torch[i].version, name, &places[*count], &ignored);
	}
	if (ws_same(v->torch, "all")) {
		return true;
	}
	if (!ws_version_parse(v->torch, v->a, &version)) {
		return ws_err_set(err, WS_ERR_USAGE, "--torch '%s' is not a version", v->torch);
	}
	const struct ws_torch_release *meant = ws_facts_torch_meant(facts, &version);
	version = meant && !version.local ? meant->version : version;
	*count = 1;
	if (!add_release(v, &version, name, &places[0], err)) {
		return err->kind == WS_ERR_UNKNOWN
			? unknown_release(v, ws_wheel_name_machine(name), v->torch, err)
			: false;
	}
	return true;
}

static bool
verify(struct verifying *v, const char *wheel, struct ws_err *err)
{
	const char *why, *base = ws_path_base(wheel);
	char *cwd = getcwd((char[4096]){0}, 4096);
	struct ws_wheel_name name = {0};
	WS_AUTO_SCRATCH struct ws_scratch folder = {.fd = -1};
	struct ws_wheel_place *places =
		WS_NEW_N(v->a, struct ws_wheel_place, v->s->facts.torch_count + 1);
	struct ws_wheel_verdict verdict;
	if (!ws_wheel_name_parse(base, v->a, &name, &why)) {
		name = (struct ws_wheel_name){0};
	}
	struct ws_judge_order order = {
		.name = base, .wheel = ws_path_join(v->a, cwd, wheel, NULL), .places = places};
	WS_AUTO_FD int fd = ws_fs_open_regular(wheel, 0, NULL, err);
	if (fd < 0 || !find_places(v, &name, places, &order.place_count, err)) {
		return false;
	}
	/* The required modules, from the recipe of this package and version. */
	struct ws_err ignored = {0};
	struct ws_version version;
	struct ws_recipe *recipe = WS_NEW(v->a, struct ws_recipe);
	if (name.distribution && ws_version_parse(name.version.public_text, v->a, &version)
		&& ws_recipe_find(&v->catalog, name.distribution, &version, v->a, recipe, &ignored)) {
		ws_judge_expect(&order, recipe, v->a);
	}
	/* Shared rules against wheels of this name in each place. */
	const struct ws_facts *facts = &v->s->facts;
	for (size_t i = 0; i < order.place_count && name.distribution; i++) {
		struct ws_version torch, cuda;
		struct ws_point_view view = {.archs = v->asked.archs, .cxx11abi = -1};
		if (places[i].torch && ws_version_parse(places[i].torch, v->a, &torch)) {
			const struct ws_torch_release *release = ws_facts_torch(facts, &torch);
			view.torch = &torch;
			view.cuda =
				release && ws_version_parse(release->standard.cuda, v->a, &cuda) ? &cuda : NULL;
		}
		const struct ws_shared_bad *bad =
			ws_shared_bad_wheel(facts->shared_bad, facts->shared_bad_count, &name, &view);
		places[i].known_bad = bad ? bad->rule.why : NULL;
		places[i].known_bad_see = bad ? bad->rule.see : NULL;
	}
	if (!ws_scratch_make(
			ws_store_path(&v->s->store, v->a, "partial"), "verify-", v->a, &folder, err)
		|| !ws_judge_now(&order, v->s->program, folder.path, v->a, &verdict, err)) {
		return false;
	}
	bool all = ws_same(v->torch, "all");
	enum ws_finding_verdict counts = all ? ws_verify_text_best(&verdict) : verdict.verdict;
	v->worst = counts > v->worst ? counts : v->worst;
	*ws_vec_push(&v->verdicts, v->a) = verdict;
	if (!v->s->globals.json) {
		(all ? ws_verify_text_window : ws_verify_text_place)(&v->s->out, &order, &verdict, v->a);
	}
	return true;
}

bool
ws_cmd_verify(struct ws_session *s, struct ws_err *err)
{
	struct verifying v = {.s = s, .a = s->a};
	if (!parse(s, &v, err) || !prepare(&v, err)) {
		return false;
	}
	for (size_t i = 0; i < s->words.len; i++) {
		if (!verify(&v, s->words.at[i], err)) {
			return false;
		}
	}
	if (s->globals.json) {
		const struct ws_verify_result result = {v.worst, v.verdicts.at, v.verdicts.len};
		ws_session_print_json(s, &ws_verify_result_table, &result);
	}
	/* The page has said everything. */
	static const enum ws_err_kind kinds[] = {[WS_VERDICT_OK] = WS_ERR_NONE,
		[WS_VERDICT_EXCLUDED] = WS_ERR_EXCLUDED,
		[WS_VERDICT_UNKNOWN] = WS_ERR_UNKNOWN,
		[WS_VERDICT_FAILS] = WS_ERR_NEGATIVE};
	*err = (struct ws_err){.kind = kinds[v.worst]};
	return v.worst == WS_VERDICT_OK;
}
