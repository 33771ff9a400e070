/* axis_cuda.c - which CUDA toolkit compiles, and what "auto" means. Declared in axis.h. */
#include "base/str.h"
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
		if (ws_version_parse(host->toolkits[i], a, &kit.version)) {
			*ws_vec_push(&axes->kits, a) = kit;
		}
	}
	kit.origin = WS_KIT_ARCHIVE;
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

/* Whether @a pin is of a kit from there. */
static bool
pins_origin(const struct ws_pin_cuda *pin, enum ws_kit_origin origin)
{
	static const char *const words[] = {
		[WS_KIT_HOST] = "host", [WS_KIT_ARCHIVE] = "archive", [WS_KIT_REDIST] = "redist"};
	return pin && ws_same(pin->how, words[origin]);
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
		if (pins_origin(find_pin(axes, version->text), kit->origin)) {
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
		.pin = kit && pins_origin(pin, kit->origin) ? pin : NULL,
	};
	*ws_vec_push(&axes->toolkits, axes->a) = choice;
	return choice;
}

/* The newest kit of @a major (0: any) but NVIDIA's; of those the newest that is locked, so that a
 * toolkit that appears later changes nothing. */
static const struct ws_axes_kit *
newest_kit(const struct ws_axes *axes, unsigned major)
{
	const struct ws_axes_kit *newest = NULL;
	bool newest_pinned = false;
	for (size_t i = 0; i < axes->kits.len; i++) {
		const struct ws_axes_kit *kit = &axes->kits.at[i];
		bool pinned = find_pin(axes, kit->version.text);
		if (kit->origin != WS_KIT_REDIST
			&& (major == 0 || ws_version_number(&kit->version, 0) == major)
			&& (pinned || !newest_pinned)) {
			newest = kit;
			newest_pinned = pinned;
		}
	}
	return newest;
}

/* What "auto" means beside a torch that was built with @a own. Hundreds of MB of redistributables are
 * taken where nothing else of its major is to be had, and kept to when they are locked. */
static const struct ws_version *
choose_auto(const struct ws_axes *axes, const struct ws_version *own)
{
	const struct ws_axes_kit *kit = find_kit(axes, own);
	if (kit && kit->origin != WS_KIT_REDIST) {
		return own;
	}
	const struct ws_axes_kit *newest = newest_kit(axes, ws_version_number(own, 0));
	bool kept = kit && pins_origin(find_pin(axes, own->text), WS_KIT_REDIST);
	return newest && (!kept || find_pin(axes, newest->version.text)) ? &newest->version : own;
}

const struct ws_cuda_choice *
ws_axes_cuda(
	struct ws_axes *axes, const struct ws_cuda_value *value, const struct ws_torch_choice *torch)
{
	struct ws_version own;
	if (!value->automatic) {
		return choose(axes, &value->version);
	}
	if (torch && !torch->cuda) {
		return NULL;
	}
	if (torch && ws_version_parse(torch->cuda, axes->a, &own)) {
		return choose(axes, choose_auto(axes, &own));
	}
	const struct ws_axes_kit *newest = newest_kit(axes, torch ? torch->cuda_major : 0);
	return newest ? choose(axes, &newest->version) : NULL;
}
