/**
 * arch.h - sets of GPU architectures
 *
 * The syntax of TORCH_CUDA_ARCH_LIST plus the suffixes `a` (exactly this chip) and `f` (its
 * family): "8.0;9.0a+PTX". X+PTX means machine code and PTX of X. One set is the arch value of one
 * wheel. Which values a toolkit knows is the facts' business.
 */
#ifndef WS_MODEL_ARCH_H
#define WS_MODEL_ARCH_H

#include "base/text.h"

/** One architecture. */
struct ws_arch {
	unsigned number; /**< 75, 90, 100: ten times major plus minor */
	char suffix;     /**< 'a', 'f', or 0; printf: `"%.1s", &arch->suffix` */
	bool ptx;        /**< PTX of it as well */
};

/** In canonical order: by number, then suffix (none, a, f); no duplicates. */
struct ws_arch_set {
	const struct ws_arch *at;
	size_t count;
};

/**
 * From "8.0;9.0+PTX" (separators ';' and space, exactly as torch takes them). False for anything
 * else (a comma, a ';' at the end, "sm_90"), with the right spelling in @a why.
 * Names of sets ("hopper") are resolved before this. Whether a toolkit has them is not looked at.
 */
bool ws_arch_set_parse(
	const char *text, struct ws_arena *a, struct ws_arch_set *set, const char **why);

/** Puts @a archs into canonical order, in place; the set is of them. "9.0" and "9.0+PTX" are
 * one. */
struct ws_arch_set ws_arch_set_of(struct ws_arch *archs, size_t count);

/** "8.0;9.0+PTX". */
const char *ws_arch_set_text(const struct ws_arch_set *set, struct ws_arena *a);
/** For cell names: "sm80+90ptx". */
const char *ws_arch_set_name(const struct ws_arch_set *set, struct ws_arena *a);
/** For wheel labels: "sm.80.90ptx". */
const char *ws_arch_set_label(const struct ws_arch_set *set, struct ws_arena *a);

/** "9.0a" (without "+PTX"). */
const char *ws_arch_text(const struct ws_arch *arch, struct ws_arena *a);

bool ws_arch_set_eq(const struct ws_arch_set *x, const struct ws_arch_set *y);

/** False only if code for @a has cannot run on @a asked. */
bool ws_arch_may_run(const struct ws_arch *has, const struct ws_arch *asked);

/** nvcc's flags in canonical order: "-gencode=arch=compute_80,code=sm_80", ...; NULL-terminated. */
const char *const *ws_arch_set_gencode(
	const struct ws_arch_set *set, struct ws_arena *a, size_t *count);

#endif
