#include "plan/steps.h"

bool
ws_axes_err(
	const struct ws_axes *axes, struct ws_place place, struct ws_err *err, const char *format, ...)
{
	const struct ws_json_doc *doc = axes->in->matrix->doc;
	va_list values;
	va_start(values, format);
	const char *text = ws_arena_vprintf(axes->a, format, values);
	va_end(values);
	ws_err_set(err, WS_ERR_CONFIG, "%s", text);
	return doc && place.len > 0 ? ws_err_at(err, doc->name, doc->text, place.offset, place.len)
								: false;
}

const struct ws_python_choice *
ws_axes_python(struct ws_axes *axes, const struct ws_python_value *value, struct ws_err *err)
{
	struct ws_python_choice *choice = WS_NEW(axes->a, struct ws_python_choice);
	const struct ws_plan_host *host = &axes->in->host;
	const struct ws_plan_python *interpreter = NULL;
	for (size_t i = 0; i < host->python_count && !interpreter; i++) {
		const struct ws_plan_python *python = &host->pythons[i];
		bool same_tag = !python->path && ws_python_tag_same(&python->tag, &value->tag);
		bool meant = value->host ? python->host
			: value->path        ? ws_same(python->path, value->path)
								 : same_tag;
		interpreter = meant ? python : NULL;
	}
	if (value->host && !interpreter) {
		ws_axes_err(axes, value->place, err, "this host has no python3");
		ws_err_cure_code(err, WS_CURE_PYTHON, "3.11");
		return NULL;
	}
	if (value->path && !interpreter) {
		ws_axes_err(axes, value->place, err, "no Python at '%s'", value->path);
		return NULL;
	}
	choice->value = value;
	choice->interpreter = interpreter;
	choice->missing = interpreter && !host->builds_elsewhere ? interpreter->missing : NULL;
	choice->tag = interpreter ? interpreter->tag : value->tag;
	choice->fixed = !value->host && !value->path;
	choice->name = ws_python_tag_text(&choice->tag, true, axes->a);
	choice->text = ws_python_version_text(&choice->tag, axes->a);
	const char *number = ws_arena_printf(axes->a, "%u.%u", choice->tag.major, choice->tag.minor);
	return ws_version_parse(number, axes->a, &choice->version) ? choice : NULL;
}

const struct ws_arch_choice *
ws_axes_arch(struct ws_axes *axes, const struct ws_arch_value *value, struct ws_err *err)
{
	const struct ws_facts *facts = axes->in->facts;
	struct ws_arch_choice *choice = WS_NEW(axes->a, struct ws_arch_choice);
	const char *word, *why;
	*choice = (struct ws_arch_choice){
		.value = value, .set = axes->in->host.gpus, .name = "any", .fixed = !value->host};
	if (value->host && choice->set.count == 0 && axes->compiles) {
		ws_axes_err(axes, value->place, err, "this host has no GPU to take the architecture of");
		ws_err_cure_code(err, WS_CURE_ARCH, "8.6");
		return NULL;
	}
	if (!value->host && !ws_facts_archs(facts, value->text, axes->a, &choice->set, &word, &why)) {
		const char **names = WS_NEW_N(axes->a, const char *, facts->alias_count + 1);
		for (size_t i = 0; i < facts->alias_count; i++) {
			names[i] = facts->aliases[i].name;
		}
		ws_axes_err(axes, value->place, err, "no set of architectures is called '%s'", word);
		const char *near = ws_suggest(word, names, facts->alias_count);
		if (near) {
			ws_err_cure(err, "did you mean \"%s\"?", near);
		} else {
			ws_err_cure(err, "write the numbers: \"8.6\", \"8.0;9.0+PTX\"");
		}
		return NULL;
	}
	if (choice->set.count > 0) {
		choice->name = ws_arch_set_name(&choice->set, axes->a);
	}
	return choice;
}

/* The version of an archive kit: from the facts, else from its name after "cuda-". */
static bool
kit_version(const struct ws_axes *axes, const char *name, struct ws_version *version)
{
	static const char prefix[] = "cuda-";
	const struct ws_facts *facts = axes->in->facts;
	for (size_t i = 0; i < facts->cuda_count; i++) {
		if (ws_same(facts->cuda[i].kit, name)) {
			*version = facts->cuda[i].version;
			return true;
		}
	}
	return ws_starts_with(name, prefix)
		&& ws_version_parse(name + strlen(prefix), axes->a, version);
}

static int
cmp_kits(const void *x, const void *y)
{
	const struct ws_axes_kit *one = x;
	const struct ws_axes_kit *two = y;
	int order = ws_version_cmp(&one->version, &two->version);
	order = order ? order : (int)one->origin - (int)two->origin;
	return order ? order : (one->number > two->number) - (one->number < two->number);
}

void
ws_axes_open(struct ws_axes *axes, const struct ws_plan_input *in, struct ws_arena *a)
{
	const struct ws_plan_host *host = &in->host;
	*axes = (struct ws_axes){.in = in, .a = a};
	for (size_t i = 0; i < in->matrix->package_count; i++) {
		axes->compiles = axes->compiles || ws_recipe_binding(&in->recipes[i]) != WS_BINDING_NONE;
	}
	struct ws_axes_kit kit = {.origin = WS_KIT_HOST};
	for (size_t i = 0; host->choice != WS_KITS_ARCHIVE && i < host->toolkit_count; i++) {
		kit.number = i;
		kit.host_kit = host->toolkits[i].kit;
		if (ws_version_parse(host->toolkits[i].version, a, &kit.version)) {
			*ws_vec_push(&axes->kits, a) = kit;
		}
	}
	kit = (struct ws_axes_kit){.origin = WS_KIT_ARCHIVE};
	for (size_t i = 0; host->choice != WS_KITS_HOST && i < host->kit_count; i++) {
		kit.name = host->kits[i];
		if (kit_version(axes, kit.name, &kit.version)) {
			*ws_vec_push(&axes->kits, a) = kit;
		}
	}
	kit = (struct ws_axes_kit){.origin = WS_KIT_REDIST};
	for (size_t i = 0; host->choice != WS_KITS_HOST && i < in->facts->cuda_count; i++) {
		kit.version = in->facts->cuda[i].version;
		*ws_vec_push(&axes->kits, a) = kit;
	}
	if (axes->kits.len > 0) {
		qsort(axes->kits.at, axes->kits.len, sizeof(kit), cmp_kits);
	}
}

/* The kit of this version: locked, else of the host, an archive, NVIDIA's redistributables. */
static const struct ws_axes_kit *
find_kit(const struct ws_axes *axes, const struct ws_version *version)
{
	const struct ws_pin_cuda *pin = ws_lock_cuda(axes->in->lock, version->text);
	const struct ws_axes_kit *found = NULL;
	for (size_t i = 0; i < axes->kits.len; i++) {
		const struct ws_axes_kit *kit = &axes->kits.at[i];
		if (!ws_version_in_series(&kit->version, version, 2)) {
			continue;
		}
		if (ws_pins_origin(pin, kit->origin)) {
			return kit;
		}
		found = found ? found : kit;
	}
	return found;
}

static const struct ws_cuda_choice *
choose(struct ws_axes *axes, const struct ws_version *version)
{
	for (size_t i = 0; i < axes->toolkits.len; i++) {
		if (ws_version_cmp(&axes->toolkits.at[i]->version, version) == 0) {
			return axes->toolkits.at[i];
		}
	}
	struct ws_cuda_choice *choice = WS_NEW(axes->a, struct ws_cuda_choice);
	const struct ws_axes_kit *kit = find_kit(axes, version);
	const struct ws_pin_cuda *pin = ws_lock_cuda(axes->in->lock, version->text);
	*choice = (struct ws_cuda_choice){
		.name = version->text,
		.version = *version,
		.toolkit = ws_facts_cuda(axes->in->facts, version),
		.origin = kit ? kit->origin : WS_KIT_NONE,
		.kit = kit ? kit->name : NULL,
		.host_kit = kit ? kit->host_kit : NULL,
		.pin = kit && ws_pins_origin(pin, kit->origin) ? pin : NULL,
	};
	*ws_vec_push(&axes->toolkits, axes->a) = choice;
	return choice;
}

/* Ranks kits for "auto". A locked kit comes first, so that a new toolkit on the host changes
 * nothing; then the nearest to torch's own, newer before older, because a newer nvcc compiles all
 * of torch's headers. Without a torch: the newest. */
static bool
is_better(const struct ws_axes *axes, const struct ws_axes_kit *kit, const struct ws_axes_kit *than,
	const struct ws_version *own)
{
	bool pinned = ws_lock_cuda(axes->in->lock, kit->version.text),
		 was_pinned = ws_lock_cuda(axes->in->lock, than->version.text);
	if (pinned != was_pinned) {
		return pinned;
	}
	int order = ws_version_cmp(&kit->version, &than->version);
	bool later = !own || ws_version_cmp(&than->version, own) < 0;
	return later ? order > 0 : order < 0 && ws_version_cmp(&kit->version, own) >= 0;
}

/* The best kit of @major for a torch built with @own (NULL: without torch), with targets for
 * @archs. NVIDIA's redistributables, hundreds of MB, only with @redist. */
static const struct ws_axes_kit *
best_kit(const struct ws_axes *axes, const struct ws_version *own, unsigned major,
	const struct ws_arch_set *archs, bool redist)
{
	const struct ws_axes_kit *best = NULL;
	for (size_t i = 0; i < axes->kits.len; i++) {
		const struct ws_axes_kit *kit = &axes->kits.at[i];
		bool fits = (major == 0 || kit->version.major == major)
			&& (redist || kit->origin != WS_KIT_REDIST)
			&& ws_cuda_has_targets(ws_facts_cuda(axes->in->facts, &kit->version), archs);
		if (fits && (!best || is_better(axes, kit, best, own))) {
			best = kit;
		}
	}
	return best;
}

/* Resolves "auto" for a torch built with @own: that toolkit, if its kit is available and has the
 * targets; else the best kit of its major; else its redistributables. Locked redistributables come
 * before a kit that is not locked. */
static const struct ws_version *
choose_auto(
	const struct ws_axes *axes, const struct ws_version *own, const struct ws_arch_set *archs)
{
	unsigned major = own->major;
	const struct ws_axes_kit *kit = find_kit(axes, own);
	bool has_targets = ws_cuda_has_targets(ws_facts_cuda(axes->in->facts, own), archs);
	if (kit && kit->origin != WS_KIT_REDIST && has_targets) {
		return own;
	}
	const struct ws_axes_kit *best = best_kit(axes, own, major, archs, false);
	bool kept = kit && has_targets
		&& ws_pins_origin(ws_lock_cuda(axes->in->lock, own->text), WS_KIT_REDIST);
	if (best && (!kept || ws_lock_cuda(axes->in->lock, best->version.text))) {
		return &best->version;
	}
	if (has_targets) {
		return own;
	}
	/* No toolkit has all targets: WS_RULE_TARGET reports it for the toolkit that "auto" means
	 * without them. */
	best = best_kit(axes, own, major, archs, true);
	return best ? &best->version : choose_auto(axes, own, &(struct ws_arch_set){0});
}

const struct ws_cuda_choice *
ws_axes_cuda(struct ws_axes *axes, const struct ws_cuda_value *value,
	const struct ws_torch_choice *torch, const struct ws_arch_set *archs)
{
	static const struct ws_arch_set any = {0};
	struct ws_version own;
	if (!value->automatic) {
		return choose(axes, &value->version);
	}
	if (torch && !torch->cuda) {
		return NULL;
	}
	if (torch && ws_version_parse(torch->cuda, axes->a, &own)) {
		return choose(axes, choose_auto(axes, &own, archs));
	}
	unsigned major = torch ? torch->cuda_major : 0;
	const struct ws_axes_kit *best = best_kit(axes, NULL, major, archs, false);
	best = best ? best : best_kit(axes, NULL, major, &any, false);
	return best ? choose(axes, &best->version) : NULL;
}

static void
warn(struct ws_axes *axes, const char *text)
{
	for (size_t i = 0; i < axes->warnings.len; i++) {
		if (strcmp(axes->warnings.at[i], text) == 0) {
			return;
		}
	}
	*ws_vec_push(&axes->warnings, axes->a) = text;
}

/* Build @index of a release; the first is the default index's. */
static const struct ws_torch_variant *
variant_at(const struct ws_torch_release *release, size_t index)
{
	return index == 0 ? &release->standard : &release->others[index - 1];
}

static void
fill_cuda(struct ws_torch_choice *choice, const char *cuda, int cxx11abi)
{
	choice->cuda = cuda && cuda[0] ? cuda : NULL;
	choice->cuda_major = choice->cuda ? (unsigned)strtoul(choice->cuda, NULL, 10) : 0;
	choice->cxx11abi = cxx11abi;
}

/* The build of a wheel by its name: from the lock, else the facts, else a guess. */
static void
fill_variant(struct ws_axes *axes, struct ws_torch_choice *choice)
{
	const struct ws_torch_release *release = choice->release;
	const char *label = choice->version.local;
	choice->source = choice->known ? WS_TORCH_FACTS : WS_TORCH_GUESS;
	if (choice->pin) {
		choice->source = WS_TORCH_LOCK;
		fill_cuda(choice, choice->pin->cuda, choice->pin->cxx11abi);
		return;
	}
	if (!label) {
		fill_cuda(choice, release->standard.cuda, release->standard.cxx11abi);
		return;
	}
	for (size_t i = 0; i <= release->other_count; i++) {
		const struct ws_torch_variant *variant = variant_at(release, i);
		if (strcmp(ws_cuda_label(variant->cuda, axes->a), label) == 0) {
			fill_cuda(choice, variant->cuda, variant->cxx11abi);
			return;
		}
	}
	choice->source = WS_TORCH_GUESS;
	struct ws_version cuda; /* "cu129" is 12.9 */
	bool named = ws_cuda_version_parse(label, axes->a, &cuda);
	fill_cuda(choice, named ? cuda.text : NULL, release->standard.cxx11abi);
	if (!choice->cuda) {
		return; /* a CPU build: no cell is compiled for it */
	}
	warn(axes,
		ws_arena_printf(axes->a,
			"the facts know no torch %s: its cxx11abi is taken to be %d, as in torch %s",
			choice->version.text, choice->cxx11abi, release->version.text));
}

static void
fill_release(struct ws_axes *axes, struct ws_torch_choice *choice)
{
	const struct ws_facts *facts = axes->in->facts;
	choice->minor = ws_version_minor(&choice->version, axes->a);
	choice->release = ws_facts_torch(facts, &choice->version);
	choice->known = choice->release;
	if (!choice->known) {
		choice->release = ws_facts_torch_nearest(facts, &choice->version);
		warn(axes,
			ws_arena_printf(axes->a, "the facts know no torch %s: it is planned like torch %s",
				choice->version.public_text, choice->release->version.text));
	}
}

/* The ABI in the facts of the build for this toolkit; -1: not there. */
static int
facts_abi(const struct ws_torch_choice *choice)
{
	for (size_t i = 0; choice->known && i <= choice->release->other_count; i++) {
		if (ws_same(variant_at(choice->release, i)->cuda, choice->cuda)) {
			return variant_at(choice->release, i)->cxx11abi;
		}
	}
	return -1;
}

/* Another build of the release with @abi: for the same toolkit, else for one of its major. */
static const struct ws_torch_variant *
find_build(const struct ws_torch_release *release, const struct ws_cuda_value *cuda, int abi)
{
	const struct ws_torch_variant *best = NULL;
	unsigned best_fit = 0;
	for (size_t i = 0; i <= release->other_count; i++) {
		const struct ws_torch_variant *variant = variant_at(release, i);
		unsigned fit = 1;
		if (!cuda->automatic && strcmp(variant->cuda, cuda->version.text) == 0) {
			fit = 3;
		} else if (!cuda->automatic && strtoul(variant->cuda, NULL, 10) == cuda->version.major) {
			fit = 2;
		}
		if (variant->cxx11abi == abi && fit > best_fit) {
			best = variant;
			best_fit = fit;
		}
	}
	return best;
}

static const struct ws_torch_choice *
choose_installed(
	struct ws_axes *axes, const struct ws_python_choice *python, struct ws_torch_choice *choice)
{
	const struct ws_plan_installed *torch = python->interpreter ? python->interpreter->torch : NULL;
	choice->installed = true;
	choice->name = "installed";
	choice->source = WS_TORCH_INTERPRETER;
	if (!torch) {
		return choice;
	}
	choice->version = torch->version;
	choice->record = torch->record;
	fill_release(axes, choice);
	fill_cuda(choice, torch->cuda, torch->cxx11abi);
	choice->facts_abi = facts_abi(choice);
	choice->own_abi = choice->facts_abi >= 0 ? choice->facts_abi : choice->cxx11abi;
	choice->standard = choice->known && ws_same(choice->release->standard.cuda, choice->cuda);
	/* In cell names the plain version, if that means the same build. */
	choice->name = choice->standard ? choice->version.public_text
		: choice->version.local || !choice->cuda
		? choice->version.text
		: ws_arena_printf(
			axes->a, "%s+%s", choice->version.text, ws_cuda_label(choice->cuda, axes->a));
	return choice;
}

const struct ws_torch_choice *
ws_axes_torch(struct ws_axes *axes, const struct ws_torch_value *value,
	const struct ws_cuda_value *cuda, const struct ws_python_choice *python, int abi)
{
	struct ws_torch_choice *choice = WS_NEW(axes->a, struct ws_torch_choice);
	if (value->installed) {
		return choose_installed(axes, python, choice);
	}
	choice->name = value->version.text;
	choice->version = value->version;
	choice->pin = ws_lock_torch(axes->in->lock, value->version.text);
	fill_release(axes, choice);
	fill_variant(axes, choice);
	choice->own_abi = choice->cxx11abi;
	choice->standard =
		!value->version.local || ws_same(choice->cuda, choice->release->standard.cuda);
	if (abi >= 0 && abi != choice->cxx11abi && !value->version.local) {
		const struct ws_torch_variant *build = find_build(choice->release, cuda, abi);
		if (build) {
			choice->standard = build == &choice->release->standard;
			if (!choice->standard) {
				const char *label = ws_cuda_label(build->cuda, axes->a);
				ws_version_parse(
					ws_arena_printf(axes->a, "%s+%s", choice->version.public_text, label), axes->a,
					&choice->version);
			}
			choice->pin = ws_lock_torch(axes->in->lock, choice->version.text);
			choice->source = choice->known ? WS_TORCH_FACTS : WS_TORCH_GUESS;
			fill_cuda(choice, build->cuda, build->cxx11abi);
		}
	}
	choice->facts_abi = facts_abi(choice);
	return choice;
}

struct ws_point_view
ws_point_see(const struct ws_point *point)
{
	return (struct ws_point_view){
		.torch = point->torch && point->torch->version.text ? &point->torch->version : NULL,
		.cuda = point->cuda ? &point->cuda->version : NULL,
		.python = &point->python->version,
		.machine = point->machine,
		.free_threaded = point->python->tag.free_threaded,
		.archs = point->archs,
		.cxx11abi = point->cxx11abi,
	};
}

bool
ws_pins_origin(const struct ws_pin_cuda *pin, enum ws_kit_origin origin)
{
	static const char *const words[] = {
		[WS_KIT_HOST] = "host", [WS_KIT_ARCHIVE] = "archive", [WS_KIT_REDIST] = "redist"};
	return pin && ws_same(pin->how, words[origin]);
}

const char *
ws_point_name(const struct ws_point *point, const struct ws_recipe *recipe, const char *python,
	struct ws_arena *a)
{
	char abi[] = "/abi0";
	bool own = !point->torch || point->cxx11abi == point->torch->own_abi;
	abi[4] = point->cxx11abi == 1 ? '1' : '0';
	return ws_arena_printf(a, "%s-%s%s%s/%s%s/%s/%s%s%s", recipe->name, recipe->version.text,
		point->torch ? "/torch" : "", point->torch ? point->torch->name : "",
		point->cuda ? "cu" : "cpu", point->cuda ? point->cuda->name : "",
		python ? python : point->python->name, point->arch->name, own ? "" : abi,
		point->machine->mark);
}

void
ws_archs_identify(const struct ws_arch_set *set, struct ws_buf *out)
{
	for (size_t i = 0; i < set->count; i++) {
		const struct ws_arch *arch = &set->at[i];
		ws_buf_printf(out, "%u%c%d", arch->number, arch->suffix ? arch->suffix : '-', arch->ptx);
	}
}
