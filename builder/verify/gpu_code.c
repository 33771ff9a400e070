/* gpu_code.c - sorts what elf/fatbin.c lists into sets. */
#include "verify/gpu_code.h"

/* The archs of @all for which @pick holds, in the same (canonical) order. */
static struct ws_arch_set
select_archs(const struct ws_fatbin *fatbin, const struct ws_fatbin_arch *all, size_t count,
	bool (*pick)(const struct ws_fatbin *, const struct ws_fatbin_arch *), struct ws_arena *a)
{
	struct ws_arch *at = WS_NEW_N(a, struct ws_arch, count);
	size_t used = 0;
	for (size_t i = 0; i < count; i++) {
		if (pick(fatbin, &all[i])) {
			at[used++] =
				(struct ws_arch){.number = all[i].sm, .suffix = all[i].suffix, .ptx = all[i].ptx};
		}
	}
	return (struct ws_arch_set){at, used};
}

static bool
has_code(const struct ws_fatbin *fatbin WS_UNUSED, const struct ws_fatbin_arch *arch)
{
	return arch->code;
}

static bool
has_ptx_only(const struct ws_fatbin *fatbin WS_UNUSED, const struct ws_fatbin_arch *arch)
{
	return !arch->code;
}

static bool
is_everywhere(const struct ws_fatbin *fatbin, const struct ws_fatbin_arch *arch)
{
	return arch->containers == fatbin->container_count;
}

/* Images packed with zstd, which nvcc's --compress-mode=size and balance write, are not read by
 * drivers before CUDA 12.4's; LZ4 is read by all (NVIDIA's notes on CUDA 12.8, RAPIDS' table of
 * drivers). */
#define ZSTD_DRIVER "550.54.14"

static void
measure(const struct ws_fatbin *fatbin, struct ws_gpu_code *code)
{
	for (size_t i = 0; i < fatbin->image_count; i++) {
		const struct ws_fatbin_image *image = &fatbin->images[i];
		code->stored_bytes += image->stored_bytes;
		code->raw_bytes += image->raw_bytes;
		code->zstd = code->zstd || image->packing == WS_FATBIN_ZSTD;
		code->packing_unknown = code->packing_unknown || image->packing == WS_FATBIN_PACKED;
	}
}

/* The oldest driver for any minor version of a CUDA (NVIDIA's CUDA Compatibility, "Minor Version
 * Compatibility"). */
static const struct {
	const char *runtime, *driver;
} majors[] = {{"libcudart.so.11", "450.80.02"}, {"libcudart.so.12", "525.60.13"},
	{"libcudart.so.13", "580.65.06"}};

static void
find_driver(const struct ws_elf *elf, struct ws_gpu_code *code)
{
	code->driver = code->zstd ? ZSTD_DRIVER : NULL;
	for (size_t i = 0; code->image_count > 0 && i < WS_LEN(majors); i++) {
		bool newer = !code->driver || strverscmp(majors[i].driver, code->driver) > 0;
		if (newer && ws_is_among(majors[i].runtime, elf->needed, elf->needed_count)) {
			code->driver = majors[i].driver;
			code->zstd = false;
		}
	}
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

bool
ws_gpu_code_read(
	const struct ws_elf *elf, struct ws_arena *a, struct ws_gpu_code *code, struct ws_err *err)
{
	struct ws_str section = ws_elf_section(elf, WS_FATBIN_SECTION);
	struct ws_fatbin fatbin;
	if (!ws_fatbin_read(section.s, section.n, a, &fatbin, err)) {
		return ws_err_wrap(err, "'%s'", elf->path);
	}
	size_t count;
	const struct ws_fatbin_arch *all = ws_fatbin_archs(&fatbin, a, &count);
	*code = (struct ws_gpu_code){
		.archs = select_archs(&fatbin, all, count, has_code, a),
		.ptx_only = select_archs(&fatbin, all, count, has_ptx_only, a),
		.common = select_archs(&fatbin, all, count, is_everywhere, a),
		.images = fatbin.images,
		.image_count = fatbin.image_count,
		.container_count = fatbin.container_count,
	};
	measure(&fatbin, code);
	find_driver(elf, code);
	return true;
}
