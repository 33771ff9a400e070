/* gpu_code.c - sorts what elf/fatbin.c lists into sets, and compares each image with each GPU. */
#include "verify/gpu_code.h"

/* Images packed with zstd, which nvcc's --compress-mode=size and balance write, are not read by
 * drivers before CUDA 12.4's; LZ4 is read by all (NVIDIA's notes on CUDA 12.8, RAPIDS' table of
 * drivers). */
#define ZSTD_DRIVER "550.54.14"

/* The oldest driver for any minor version of a CUDA (NVIDIA's CUDA Compatibility, "Minor Version
 * Compatibility"). */
static const struct {
	const char *runtime, *driver;
} majors[] = {{"libcudart.so.11", "450.80.02"}, {"libcudart.so.12", "525.60.13"},
	{"libcudart.so.13", "580.65.06"}};

bool
ws_gpu_code_read(
	const struct ws_elf *elf, struct ws_arena *a, struct ws_gpu_code *code, struct ws_err *err)
{
	struct ws_str section = ws_elf_section(elf, WS_FATBIN_SECTION);
	struct ws_fatbin fatbin;
	size_t count;
	if (!ws_fatbin_read(section.s, section.n, a, &fatbin, err)) {
		return ws_err_wrap(err, "'%s'", elf->path);
	}
	const struct ws_fatbin_arch *all = ws_fatbin_archs(&fatbin, a, &count);
	struct ws_arch *archs = WS_NEW_N(a, struct ws_arch, count);
	struct ws_arch *ptx_only = WS_NEW_N(a, struct ws_arch, count);
	*code = (struct ws_gpu_code){.archs.at = archs,
		.ptx_only.at = ptx_only,
		.images = fatbin.images,
		.image_count = fatbin.image_count,
		.container_count = fatbin.container_count};
	for (size_t i = 0; i < count; i++) { /* in the same, canonical order */
		const struct ws_arch one = {
			.number = all[i].sm, .suffix = all[i].suffix, .ptx = all[i].ptx};
		if (all[i].code) {
			archs[code->archs.count++] = one;
		} else {
			ptx_only[code->ptx_only.count++] = one;
		}
	}
	for (size_t i = 0; i < fatbin.image_count; i++) {
		const struct ws_fatbin_image *image = &fatbin.images[i];
		code->stored_bytes += image->stored_bytes;
		code->raw_bytes += image->raw_bytes;
		code->zstd = code->zstd || image->packing == WS_FATBIN_ZSTD;
		code->packing_unknown = code->packing_unknown || image->packing == WS_FATBIN_PACKED;
	}
	code->driver = code->zstd ? ZSTD_DRIVER : NULL;
	for (size_t i = 0; code->image_count > 0 && i < WS_LEN(majors); i++) {
		bool newer = !code->driver || strverscmp(majors[i].driver, code->driver) > 0;
		if (newer && ws_is_among(majors[i].runtime, elf->needed, elf->needed_count)) {
			code->driver = majors[i].driver;
			code->zstd = false;
		}
	}
	return true;
}

bool
ws_gpu_code_driver(const struct ws_gpu_code *code, const char *name, const char *driver,
	struct ws_arena *a, struct ws_finding *finding)
{
	*finding = (struct ws_finding){0};
	bool old = driver && code->driver && strverscmp(driver, code->driver) < 0;
	if (code->driver) {
		finding->cause = "driver";
		finding->verdict = old ? WS_VERDICT_FAILS : WS_VERDICT_OK;
		finding->text = old
			? ws_arena_printf(a, "%s has GPU code that needs driver %s or newer, not %s", name,
				code->driver, driver)
			: ws_arena_printf(a, "%s has GPU code that needs driver %s or newer%s", name,
				code->driver, code->zstd ? " (zstd)" : "");
	} else if (code->packing_unknown) {
		finding->cause = "gpu";
		finding->verdict = WS_VERDICT_UNKNOWN;
		finding->text = ws_arena_printf(
			a, "%s has GPU code that is compressed in a way that is not known here", name);
	}
	return finding->text != NULL;
}

/* ---- each image against each GPU, unit by unit ---- */

/* How one unit, or one image, serves a GPU; the better the larger. */
enum runs { RUNS_NOT, RUNS_BY_TOO_NEW_PTX, RUNS_BY_PTX, RUNS_BY_CODE };

/* The sum over all images for one GPU. */
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

/* Is the code for this GPU, or for an older one that this GPU includes? */
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
			bool is_ptx = image->kind == WS_FATBIN_PTX;
			enum runs runs = RUNS_NOT;
			has_ptx = has_ptx || (is_ptx && !image->suffix && image->sm <= gpu->number);
			if ((is_ptx || image->kind == WS_FATBIN_CUBIN) && is_for(place, image, gpu->number)) {
				const char *version = ws_arena_printf(a, "%u.%u", image->major, image->minor);
				bool read = !place->ptx || strverscmp(version, place->ptx) <= 0;
				runs = !is_ptx ? RUNS_BY_CODE : read ? RUNS_BY_PTX : RUNS_BY_TOO_NEW_PTX;
				ptx = is_ptx ? version : ptx;
			}
			best = runs > best ? runs : best;
		}
		s.by_code += best == RUNS_BY_CODE;
		s.by_ptx += best == RUNS_BY_PTX;
		s.too_new += best == RUNS_BY_TOO_NEW_PTX;
		s.with_ptx += has_ptx;
		bool newer = ptx && best != RUNS_BY_CODE && (!s.ptx || strverscmp(ptx, s.ptx) > 0);
		s.ptx = newer ? ptx : s.ptx;
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

void
ws_runs_on(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	struct ws_arena *a, ws_finding_list *findings)
{
	for (size_t i = 0; i < place->archs.count && code->image_count > 0; i++) {
		*ws_vec_push(findings, a) = judge_gpu(code, name, place, &place->archs.at[i], a);
	}
}
