/* gpu_code.c - sorts what elf/fatbin.c lists into sets. */
#include "verify/gpu_code.h"

#include "elf/fatbin.h"

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
		.image_count = fatbin.image_count,
	};
	return true;
}
