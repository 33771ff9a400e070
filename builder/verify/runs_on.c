/* runs_on.c - each image against each GPU, unit by unit. */
#include "verify/runs_on.h"

#include <string.h>

/* How one unit, or one image, serves a GPU; the better the larger. */
enum runs { RUNS_NOT, RUNS_BY_TOO_NEW_PTX, RUNS_BY_PTX, RUNS_BY_CODE };

/* What all images together do for one GPU. */
struct service {
	size_t by_code, by_ptx, too_new; /* units */
	size_t with_ptx;                 /* units that have PTX for later GPUs */
	const char *ptx;                 /* the newest version that is needed, "8.4" */
};

static bool
is_of_family(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu)
{
	struct ws_arch family = {.number = image->sm, .suffix = 'f'};
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const char *name = ws_arch_text(&family, scratch);
	for (size_t i = 0; i < place->family_count; i++) {
		const struct ws_arch_alias *known = &place->families[i];
		for (size_t k = 0; ws_same(known->name, name) && k < known->archs.count; k++) {
			if (known->archs.at[k].number == gpu) {
				return true;
			}
		}
	}
	return image->sm == gpu;
}

/* Is it made for this GPU, or an older one that it stands for? */
static bool
is_for(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu)
{
	if (image->suffix == 'f') {
		return is_of_family(place, image, gpu);
	}
	bool code = image->kind == WS_FATBIN_CUBIN;
	return image->suffix == 'a' ? image->sm == gpu
		: code                  ? image->sm / 10 == gpu / 10 && image->sm <= gpu
								: image->sm <= gpu;
}

static const char *
ptx_version(const struct ws_fatbin_image *image, struct ws_arena *a)
{
	return ws_arena_printf(a, "%u.%u", image->major, image->minor);
}

static enum runs
runs_of(const struct ws_load_place *place, const struct ws_fatbin_image *image, unsigned gpu,
	struct ws_arena *a)
{
	bool ptx = image->kind == WS_FATBIN_PTX;
	if ((!ptx && image->kind != WS_FATBIN_CUBIN) || !is_for(place, image, gpu)) {
		return RUNS_NOT;
	}
	bool read = !place->ptx || strverscmp(ptx_version(image, a), place->ptx) <= 0;
	return !ptx ? RUNS_BY_CODE : read ? RUNS_BY_PTX : RUNS_BY_TOO_NEW_PTX;
}

static void
count_unit(struct service *s, enum runs best, bool has_ptx, const char *ptx)
{
	s->by_code += best == RUNS_BY_CODE;
	s->by_ptx += best == RUNS_BY_PTX;
	s->too_new += best == RUNS_BY_TOO_NEW_PTX;
	s->with_ptx += has_ptx;
	bool newer = ptx && best != RUNS_BY_CODE && (!s->ptx || strverscmp(ptx, s->ptx) > 0);
	s->ptx = newer ? ptx : s->ptx;
}

/* Images come unit by unit. */
static struct service
serve(const struct ws_gpu_code *code, const struct ws_load_place *place, const struct ws_arch *gpu,
	struct ws_arena *a)
{
	struct service s = {0};
	for (size_t i = 0, next; i < code->image_count; i = next) {
		enum runs best = RUNS_NOT;
		bool has_ptx = false;
		const char *ptx = NULL;
		for (next = i;
			 next < code->image_count && code->images[next].container == code->images[i].container;
			 next++) {
			const struct ws_fatbin_image *image = &code->images[next];
			enum runs runs = runs_of(place, image, gpu->number, a);
			bool is_ptx = image->kind == WS_FATBIN_PTX;
			has_ptx = has_ptx || (is_ptx && !image->suffix && image->sm <= gpu->number);
			ptx = is_ptx && runs != RUNS_NOT ? ptx_version(image, a) : ptx;
			best = runs > best ? runs : best;
		}
		count_unit(&s, best, has_ptx, ptx);
	}
	return s;
}

static const char *
all_archs(const struct ws_gpu_code *code, struct ws_arena *a)
{
	return code->archs.count && code->ptx_only.count ? ws_arena_printf(a, "%s, and PTX for %s",
			   ws_arch_set_text(&code->archs, a), ws_arch_set_text(&code->ptx_only, a))
		: code->archs.count
		? ws_arch_set_text(&code->archs, a)
		: ws_arena_printf(a, "PTX for %s", ws_arch_set_text(&code->ptx_only, a));
}

static struct ws_finding
judge_gpu(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	const struct ws_arch *gpu, struct ws_arena *a)
{
	struct service s = serve(code, place, gpu, a);
	size_t units = code->container_count, served = s.by_code + s.by_ptx;
	const char *on = ws_arch_text(&(struct ws_arch){.number = gpu->number}, a);
	struct ws_finding f = {.verdict = WS_VERDICT_FAILS, .cause = "gpu"};
	if (served == 0 && s.too_new > 0) {
		f.text = ws_arena_printf(a, "%s has PTX %s for %s; the driver here reads PTX %s at most",
			name, s.ptx, on, place->ptx);
	} else if (served == 0) {
		f.text = ws_arena_printf(
			a, "%s has no code that runs on %s, only for %s", name, on, all_archs(code, a));
	} else if (gpu->ptx && s.with_ptx == 0) {
		f.text = ws_arena_printf(a, "%s has no PTX for GPUs later than %s", name, on);
	} else {
		f.verdict = WS_VERDICT_OK;
		const char *part =
			served < units ? ws_arena_printf(a, ", in %zu of %zu units", served, units) : "";
		f.text = s.by_ptx > 0
			? ws_arena_printf(
				a, "%s runs on %s, compiled from PTX %s when it is loaded%s", name, on, s.ptx, part)
			: ws_arena_printf(a, "%s has code that runs on %s%s", name, on, part);
	}
	return f;
}

const struct ws_finding *
ws_runs_on(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	struct ws_arena *a, size_t *count)
{
	size_t gpus = code->image_count > 0 ? place->archs.count : 0;
	struct ws_finding *findings = WS_NEW_N(a, struct ws_finding, gpus);
	for (size_t i = 0; i < gpus; i++) {
		findings[i] = judge_gpu(code, name, place, &place->archs.at[i], a);
	}
	*count = gpus;
	return findings;
}
