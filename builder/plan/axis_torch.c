/* axis_torch.c - which build of which torch release a cell means. Declared in axis.h. */
#include "base/text.h"
#include "plan/axis.h"

#include <stdlib.h>
#include <string.h>

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

/* Build @a index of a release: the default index's is the first. */
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

/* What the wheel of this name was built with: the lock's word, else the facts', else a guess. */
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
		return; /* nothing is compiled for it */
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

/* What the facts say of the build for this toolkit; -1: nothing. */
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

static const struct ws_pin_torch *
find_pin(const struct ws_axes *axes, const char *version)
{
	return axes->in->lock ? ws_lock_torch(axes->in->lock, version) : NULL;
}

/* Another build of the release that has @a abi: for the very toolkit, else for one of its major. */
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

static void
use_build(
	struct ws_axes *axes, struct ws_torch_choice *choice, const struct ws_torch_variant *build)
{
	choice->standard = build == &choice->release->standard;
	if (!choice->standard) {
		const char *text = ws_arena_printf(
			axes->a, "%s+%s", choice->version.public_text, ws_cuda_label(build->cuda, axes->a));
		ws_version_parse(text, axes->a, &choice->version);
	}
	choice->pin = find_pin(axes, choice->version.text);
	choice->source = choice->known ? WS_TORCH_FACTS : WS_TORCH_GUESS;
	fill_cuda(choice, build->cuda, build->cxx11abi);
}

/* How the interpreter's torch is called in cell names: by its plain version where that means the
 * same. */
static const char *
installed_name(const struct ws_torch_choice *choice, struct ws_arena *a)
{
	if (choice->standard) {
		return choice->version.public_text;
	}
	return choice->version.local || !choice->cuda
		? choice->version.text
		: ws_arena_printf(a, "%s+%s", choice->version.text, ws_cuda_label(choice->cuda, a));
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
	choice->name = installed_name(choice, axes->a);
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
	choice->pin = find_pin(axes, value->version.text);
	fill_release(axes, choice);
	fill_variant(axes, choice);
	choice->own_abi = choice->cxx11abi;
	choice->standard =
		!value->version.local || ws_same(choice->cuda, choice->release->standard.cuda);
	if (abi >= 0 && abi != choice->cxx11abi && !value->version.local) {
		const struct ws_torch_variant *build = find_build(choice->release, cuda, abi);
		if (build) {
			use_build(axes, choice, build);
		}
	}
	choice->facts_abi = facts_abi(choice);
	return choice;
}
