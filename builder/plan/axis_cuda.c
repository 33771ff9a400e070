/* axis_cuda.c - which CUDA toolkit compiles, and what "auto" means. Declared in axis.h. */
#include "base/text.h"
#include "plan/axis.h"

#include <stdlib.h>
#include <string.h>

/* The version of an archive kit: as the facts say, else what follows "cuda-" in its name. */
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
	return order ? order : (int)one->origin - (int)two->origin;
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

static const struct ws_pin_cuda *
find_pin(const struct ws_axes *axes, const char *name)
{
	return axes->in->lock ? ws_lock_cuda(axes->in->lock, name) : NULL;
}

static bool
pins_origin(const struct ws_axes *axes, const char *name, enum ws_kit_origin origin)
{
	const struct ws_pin_cuda *pin = find_pin(axes, name);
	return pin && ws_pins_origin(pin, origin);
}

/* The kit of this version: the locked one, else the host's, an archive's, NVIDIA's. */
static const struct ws_axes_kit *
find_kit(const struct ws_axes *axes, const struct ws_version *version)
{
	const struct ws_axes_kit *found = NULL;
	for (size_t i = 0; i < axes->kits.len; i++) {
		const struct ws_axes_kit *kit = &axes->kits.at[i];
		if (!ws_version_in_series(&kit->version, version, 2)) {
			continue;
		}
		if (pins_origin(axes, version->text, kit->origin)) {
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
	const struct ws_pin_cuda *pin = find_pin(axes, version->text);
	*choice = (struct ws_cuda_choice){
		.name = version->text,
		.version = *version,
		.toolkit = ws_facts_cuda(axes->in->facts, version),
		.origin = kit ? kit->origin : WS_KIT_NONE,
		.kit = kit ? kit->name : NULL,
		.host_kit = kit ? kit->host_kit : NULL,
		.pin = kit && pin && ws_pins_origin(pin, kit->origin) ? pin : NULL,
	};
	*ws_vec_push(&axes->toolkits, axes->a) = choice;
	return choice;
}

/* How well a kit serves as "auto": a locked one first, so that a toolkit that appears later changes
 * nothing; then the nearest to torch's own, later ones before earlier ones, because a later nvcc
 * knows all that torch's headers ask for. Without a torch the newest. */
static bool
is_better(const struct ws_axes *axes, const struct ws_axes_kit *kit, const struct ws_axes_kit *than,
	const struct ws_version *own)
{
	bool pinned = find_pin(axes, kit->version.text),
		 was_pinned = find_pin(axes, than->version.text);
	if (pinned != was_pinned) {
		return pinned;
	}
	int order = ws_version_cmp(&kit->version, &than->version);
	bool later = !own || ws_version_cmp(&than->version, own) < 0;
	return later ? order > 0 : order < 0 && ws_version_cmp(&kit->version, own) >= 0;
}

/* The kit that serves best for a torch built with @a own (NULL: without torch), of its major, with
 * code for @a archs. NVIDIA's redistributables, hundreds of MB, only where @a redist. */
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

/* What "auto" means beside a torch that was built with @a own: that toolkit where its kit is to be
 * had and has the targets; its redistributables where they are locked or nothing else of its major
 * serves. */
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
	bool kept = kit && has_targets && pins_origin(axes, own->text, WS_KIT_REDIST);
	if (best && (!kept || find_pin(axes, best->version.text))) {
		return &best->version;
	}
	if (has_targets) {
		return own;
	}
	/* None has them all: the rules say so, of the toolkit that would be taken without. */
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
