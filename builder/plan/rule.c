#include "plan/steps.h"

static bool
is_compiled(const struct ws_cell *cell)
{
	return ws_recipe_binding(cell->recipe) != WS_BINDING_NONE;
}

/* The release whose rules apply, with the requested one where they differ. */
static const char *
release_text(const struct ws_torch_choice *torch, struct ws_arena *a)
{
	return torch->known ? torch->release->version.text
						: ws_arena_printf(a, "%s (taken as %s)", torch->version.public_text,
							torch->release->version.text);
}

static bool
excludes(const struct ws_exclude *exclude, const struct ws_cell *cell)
{
	struct ws_point_view view = ws_point_see(&cell->point);
	bool named = !exclude->package || strcmp(exclude->package, cell->recipe->name) == 0;
	return named && ws_condition_holds(&exclude->when, &view);
}

static const char *
ask_matrix(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_matrix *matrix = axes->in->matrix;
	for (size_t i = 0; i < matrix->exclude_count && !cell->extra; i++) {
		const struct ws_exclude *exclude = &matrix->excludes[i];
		if (excludes(exclude, cell)) {
			return exclude->why ? exclude->why : "excluded by the matrix";
		}
	}
	return NULL;
}

static const char *
ask_installed(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	return torch && torch->installed && !torch->version.text
		? ws_arena_printf(axes->a, "Python %s has no torch installed", cell->point.python->text)
		: NULL;
}

static const char *
ask_python(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	const struct ws_python_tag *tag = &cell->point.python->tag;
	if (!torch || torch->installed) {
		return NULL;
	}
	for (size_t i = 0; i < torch->release->python_count; i++) {
		if (ws_python_tag_same(&torch->release->pythons[i], tag)) {
			return NULL;
		}
	}
	return ws_arena_printf(axes->a, "torch %s has no wheel for Python %s",
		release_text(torch, axes->a), cell->point.python->text);
}

static const char *
ask_platform(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	const struct ws_machine *machine = cell->point.machine;
	if (torch && torch->installed && machine != ws_machine_host()) {
		return ws_arena_printf(
			axes->a, "the torch that is installed here is not for %s", machine->name);
	}
	bool has = !torch || torch->installed || !machine->mark[0] || !torch->known || !torch->standard
		|| torch->release->aarch64;
	if (has || !is_compiled(cell)) {
		return NULL;
	}
	const struct ws_facts *facts = axes->in->facts;
	const char *others = ""; /* "2.11.0, 2.12.1" */
	for (size_t i = 0; i < facts->torch_count; i++) {
		if (facts->torch[i].aarch64) {
			others = ws_arena_printf(
				axes->a, "%s%s%s", others, others[0] ? ", " : "", facts->torch[i].version.text);
		}
	}
	return ws_arena_printf(axes->a, "torch %s has no CUDA wheel for %s; %s have one", torch->name,
		machine->name, others);
}

static const char *
ask_torch_cuda(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	if (!torch) {
		return NULL;
	}
	if (!torch->cuda) {
		return is_compiled(cell) || cuda
			? ws_arena_printf(axes->a, "torch %s is built without CUDA", torch->name)
			: NULL;
	}
	if (!cuda || cuda->version.major == torch->cuda_major) {
		return NULL;
	}
	/* A module that loads neither torch's libraries nor the CUDA runtime serves every torch. */
	struct ws_point_view view = ws_point_see(&cell->point);
	bool loads = ws_recipe_binding(cell->recipe) != WS_BINDING_C_ABI;
	for (size_t i = 0; !loads && i < cell->recipe->extension_count; i++) {
		loads = ws_recipe_module(cell->recipe, i, NULL, &view, axes->a, NULL).runtime;
	}
	return loads
		? ws_arena_printf(axes->a, "torch %s is a CUDA %u build", torch->name, torch->cuda_major)
		: NULL;
}

/* "11.8, 12.4, 13.0 … 13.5": of many the first three and the last. */
static const char *
list_kits(const struct ws_axes *axes, bool of_host)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	WS_VEC(const char *) texts = {0};
	for (size_t i = 0; i < axes->kits.len; i++) {
		const struct ws_axes_kit *kit = &axes->kits.at[i];
		const char *last = texts.len > 0 ? texts.at[texts.len - 1] : NULL;
		if ((kit->origin == WS_KIT_HOST) == of_host && !ws_same(kit->version.text, last)) {
			*ws_vec_push(&texts, axes->a) = kit->version.text;
		}
	}
	bool many = texts.len > 4;
	for (size_t i = 0; i < texts.len; i++) {
		bool is_last = i + 1 == texts.len;
		if (i < 3 || !many || is_last) {
			ws_buf_puts(&b, i == 0 ? "" : is_last && many ? " ... " : ", ");
			ws_buf_puts(&b, texts.at[i]);
		}
	}
	return ws_buf_copy(&b, axes->a);
}

static const char *
ask_source(const struct ws_axes *axes, struct ws_cell *cell)
{
	return cell->recipe->prebuilt_only ? ws_arena_printf(axes->a,
			   "%s %s has no sources to build from", cell->recipe->name, cell->recipe->version.text)
									   : NULL;
}

static const char *
ask_kit(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	enum ws_kits_choice choice = axes->in->host.choice;
	if (!is_compiled(cell) || (cuda && cuda->origin != WS_KIT_NONE)) {
		return NULL;
	}
	const char *name = cuda ? ws_arena_printf(axes->a, "CUDA %s", cuda->name) : "CUDA";
	const char *have = cuda ? list_kits(axes, choice == WS_KITS_HOST) : "";
	const char *there = have[0] ? ws_arena_printf(axes->a, " (available: %s)", have) : "";
	if (choice == WS_KITS_ARCHIVE) {
		return ws_arena_printf(axes->a, "no archive kit for %s%s", name, there);
	}
	return ws_arena_printf(axes->a, "no %s toolkit on this host%s%s", name,
		choice == WS_KITS_HOST ? "" : " and no archive kit", there);
}

static const char *
ask_cxx_std(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	unsigned most = cuda && cuda->toolkit ? cuda->toolkit->cxx_std_max : 0;
	if (!is_compiled(cell) || most == 0) {
		return NULL;
	}
	bool uses_torch = ws_recipe_binding(cell->recipe) < WS_BINDING_C_ABI;
	if (uses_torch && torch && torch->release->cxx_std > most) {
		return ws_arena_printf(axes->a, "torch %s needs C++%u, CUDA %s supports up to C++%u",
			release_text(torch, axes->a), torch->release->cxx_std, cuda->name, most);
	}
	return cell->recipe->cxx_std > most
		? ws_arena_printf(axes->a, "%s %s needs C++%u, CUDA %s supports up to C++%u",
			cell->recipe->name, cell->recipe->version.text, cell->recipe->cxx_std, cuda->name, most)
		: NULL;
}

static const char *
ask_range(const struct ws_axes *axes, const struct ws_cell *cell, const char *what,
	const struct ws_specifiers *range, const struct ws_version *version)
{
	return range && version && !ws_specifiers_contain(range, version, true)
		? ws_arena_printf(axes->a, "%s %s needs %s %s", cell->recipe->name,
			cell->recipe->version.text, what, ws_specifiers_text(range))
		: NULL;
}

static const char *
ask_requires(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_recipe *recipe = cell->recipe;
	struct ws_point_view view = ws_point_see(&cell->point);
	const char *why = ask_range(axes, cell, "torch", recipe->needs_torch, view.torch);
	why = why ? why : ask_range(axes, cell, "CUDA", recipe->needs_cuda, view.cuda);
	return why ? why : ask_range(axes, cell, "Python", recipe->needs_python, view.python);
}

/* The rule that excludes the cell (@a arch NULL), or takes @a arch out of its set. */
static const struct ws_known_bad *
find_known_bad(const struct ws_cell *cell, const struct ws_arch *arch)
{
	struct ws_point_view view = ws_point_see(&cell->point);
	view.archs = arch ? (struct ws_arch_set){arch, 1} : view.archs;
	for (size_t i = 0; i < cell->recipe->known_bad_count; i++) {
		const struct ws_known_bad *bad = &cell->recipe->known_bad[i];
		if (!bad->gcc && (bad->when.archs.count > 0) == (arch != NULL)
			&& ws_condition_holds(&bad->when, &view)) {
			return bad;
		}
	}
	return NULL;
}

static const char *
ask_known_bad(const struct ws_axes *axes WS_UNUSED, struct ws_cell *cell)
{
	const struct ws_known_bad *bad = find_known_bad(cell, NULL);
	cell->see = bad ? bad->see : cell->see;
	return bad ? bad->why : NULL;
}

static const char *
ask_abi(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_torch_choice *torch = cell->point.torch;
	bool uses_torch = ws_recipe_binding(cell->recipe) < WS_BINDING_C_ABI;
	if (!uses_torch || !torch || cell->point.cxx11abi == torch->cxx11abi) {
		return NULL;
	}
	return torch->installed
		? ws_arena_printf(
			axes->a, "the installed torch %s has cxx11abi %d", torch->name, torch->cxx11abi)
		: ws_arena_printf(axes->a, "no torch %s wheel has cxx11abi %d",
			torch->known ? torch->name : release_text(torch, axes->a), cell->point.cxx11abi);
}

/* ---- architectures: what a toolkit has, what a recipe can be built for, what is known to be bad
 * ---- */

/* The toolkit must have every target of the set, PTX aside. */
static const char *
ask_target(const struct ws_axes *axes, struct ws_cell *cell)
{
	WS_AUTO_BUF struct ws_buf missing = {0};
	const struct ws_cuda_choice *cuda = cell->point.cuda;
	const struct ws_arch_set *asked = &cell->point.arch->set;
	unsigned count = 0;
	if (!is_compiled(cell) || !cuda || !cuda->toolkit) {
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

/* Removes archs that the recipe cannot compile or that are known to be bad; excludes an empty set.
 * A set that loses none is shared with the axis. */
static const char *
ask_archs(const struct ws_axes *axes, struct ws_cell *cell)
{
	const struct ws_recipe *recipe = cell->recipe;
	const struct ws_arch_set *asked = &cell->point.arch->set;
	struct ws_arena_mark mark = ws_arena_mark(axes->a);
	WS_VEC(struct ws_dropped_arch) dropped = {0};
	WS_VEC(struct ws_arch) left = {0};
	for (size_t i = 0; is_compiled(cell) && i < asked->count; i++) {
		const struct ws_arch *arch = &asked->at[i];
		const struct ws_known_bad *bad = find_known_bad(cell, arch);
		bool can = recipe->archs.count == 0;
		for (size_t k = 0; !can && k < recipe->archs.count; k++) {
			can = recipe->archs.at[k].number == arch->number; /* "9.0" allows 9.0a, too */
		}
		if (!can) {
			*ws_vec_push(&dropped, axes->a) = (struct ws_dropped_arch){*arch, WS_RULE_ARCHS,
				ws_arena_printf(
					axes->a, "%s %s has no kernels for it", recipe->name, recipe->version.text),
				NULL};
		} else if (bad) {
			*ws_vec_push(&dropped, axes->a) =
				(struct ws_dropped_arch){*arch, WS_RULE_KNOWN_BAD, bad->why, bad->see};
		} else {
			*ws_vec_push(&left, axes->a) = *arch;
		}
	}
	if (dropped.len == 0) {
		ws_arena_rewind(axes->a, mark);
		return NULL;
	}
	cell->dropped = dropped.at;
	cell->dropped_count = dropped.len;
	cell->point.archs = (struct ws_arch_set){left.at, left.len};
	return left.len == 0 ? ws_rule_dropped_text(cell, axes->a) : NULL;
}

/* ---- asking ---- */

/* Keeps archs that the recipe cannot compile: a prebuilt wheel may have them. Known bad archs stay
 * out. False: the set is empty. */
static bool
keep_unbuilt_archs(const struct ws_axes *axes, struct ws_cell *cell)
{
	struct ws_arch *kept = WS_NEW_N(axes->a, struct ws_arch, cell->dropped_count);
	struct ws_dropped_arch *bad = WS_NEW_N(axes->a, struct ws_dropped_arch, cell->dropped_count);
	size_t count = 0, bad_count = 0;
	for (size_t i = 0; i < cell->dropped_count; i++) {
		if (cell->dropped[i].rule == WS_RULE_ARCHS) {
			kept[count++] = cell->dropped[i].arch;
		} else {
			bad[bad_count++] = cell->dropped[i];
		}
	}
	if (count > 0) {
		cell->point.archs = (struct ws_arch_set){kept, count};
		cell->dropped = bad;
		cell->dropped_count = bad_count;
	}
	return count > 0;
}

/* Reports the first reason: a rule that stopped building comes before a later rule. */
static void
exclude(struct ws_cell *cell, enum ws_rule rule, const char *why)
{
	bool stopped = cell->build_rule != WS_RULE_NONE;
	cell->rule = stopped ? cell->build_rule : rule;
	cell->why = stopped ? cell->build_why : why;
	cell->see = cell->rule == WS_RULE_KNOWN_BAD ? cell->see : NULL;
	cell->build_rule = WS_RULE_NONE;
	cell->build_why = NULL;
}

void
ws_rules_ask(const struct ws_axes *axes, struct ws_cell *cell)
{
	static const struct {
		enum ws_rule rule;
		const char *(*ask)(const struct ws_axes *axes, struct ws_cell *cell);
		bool stops_building; /* and nothing else */
	} rules[] = {
		{WS_RULE_MATRIX, ask_matrix, false},
		{WS_RULE_INSTALLED, ask_installed, false},
		{WS_RULE_PYTHON, ask_python, false},
		{WS_RULE_PLATFORM, ask_platform, false},
		{WS_RULE_TORCH_CUDA, ask_torch_cuda, false},
		{WS_RULE_SOURCE, ask_source, true},
		{WS_RULE_KIT, ask_kit, true},
		{WS_RULE_TARGET, ask_target, true},
		{WS_RULE_CXX_STD, ask_cxx_std, true},
		{WS_RULE_REQUIRES, ask_requires, false},
		{WS_RULE_ARCHS, ask_archs, true},
		{WS_RULE_KNOWN_BAD, ask_known_bad, false},
		{WS_RULE_ABI, ask_abi, false},
	};
	/* A prebuilt wheel or a fallback may serve the cell. */
	const struct ws_plan_input *in = axes->in;
	bool wheels = in->lookups.candidates && in->matrix->policy != WS_POLICY_BUILD_ONLY;
	bool stand_in =
		in->matrix->fallback_on_no_candidate && ws_matrix_fallback(in->matrix, cell->recipe->name);
	bool may_go_unbuilt = (wheels || stand_in) && (!is_compiled(cell) || cell->point.cuda);
	cell->rule = cell->build_rule = WS_RULE_NONE;
	for (size_t i = 0; i < WS_LEN(rules); i++) {
		const char *why = rules[i].ask(axes, cell);
		if (!why) {
			continue;
		}
		bool goes_on = rules[i].stops_building && may_go_unbuilt
			&& (rules[i].rule != WS_RULE_ARCHS || keep_unbuilt_archs(axes, cell));
		if (!goes_on) {
			exclude(cell, rules[i].rule, why);
			return;
		}
		if (cell->build_rule == WS_RULE_NONE) {
			cell->build_rule = rules[i].rule;
			cell->build_why = why;
		}
	}
}

bool
ws_rules_hold_everywhere(
	const struct ws_axes *axes, struct ws_cell *cell, const struct ws_point *point)
{
	const struct ws_matrix *matrix = axes->in->matrix;
	bool installed = point->torch && point->torch->installed;
	if (installed || !point->python->fixed) {
		return false;
	}
	if (cell->rule == WS_RULE_PYTHON || cell->rule == WS_RULE_TORCH_CUDA
		|| cell->rule == WS_RULE_PLATFORM) {
		return true;
	}
	if (cell->rule != WS_RULE_MATRIX) {
		return false;
	}
	/* `exclude` by values that are the same on every host */
	for (size_t i = 0; i < matrix->exclude_count; i++) {
		const struct ws_exclude *exclude = &matrix->excludes[i];
		bool decided_here = (point->cuda_auto && exclude->when.cuda)
			|| (!point->arch->fixed && exclude->when.archs.count > 0);
		if (!decided_here && excludes(exclude, cell)) {
			return true;
		}
	}
	return ask_python(axes, cell) || ask_torch_cuda(axes, cell);
}
