/* arch.c - reading and writing arch sets. The reader understands more than it accepts, so that it
 * can suggest the right spelling. */
#include "model/arch.h"

#include <strings.h>

static const char *
text_with_ptx(const struct ws_arch *arch, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s%s", ws_arch_text(arch, a), arch->ptx ? "+PTX" : "");
}

static bool
cut_front(struct ws_str *word, const char *prefix)
{
	size_t len = strlen(prefix);
	if (word->n <= len || strncasecmp(word->s, prefix, len) != 0) {
		return false;
	}
	word->s += len;
	word->n -= len;
	return true;
}

static bool
cut_back(struct ws_str *word, const char *suffix)
{
	size_t len = strlen(suffix);
	if (word->n <= len || strncasecmp(word->s + word->n - len, suffix, len) != 0) {
		return false;
	}
	word->n -= len;
	return true;
}

/* Accepts "8.0" and other spellings: "80", "sm_80", "9.0A", "9.0+ptx". */
static bool
guess_arch(struct ws_str word, struct ws_arch *arch)
{
	*arch = (struct ws_arch){0};
	if (!cut_front(&word, "sm_") && !cut_front(&word, "compute_")) {
		cut_front(&word, "sm");
	}
	arch->ptx = cut_back(&word, "+ptx");
	arch->suffix = cut_back(&word, "a") ? 'a' : cut_back(&word, "f") ? 'f' : '\0';
	size_t digits = 0;
	for (size_t i = 0; i < word.n; i++) {
		char c = word.s[i];
		if (c == '.' && i + 2 == word.n) {
			continue;
		}
		if (c < '0' || c > '9' || (c == '0' && digits == 0)) {
			return false;
		}
		arch->number = arch->number * 10 + (unsigned)(c - '0');
		if (++digits > 3) {
			return false;
		}
	}
	return digits >= 2;
}

/* By number, then by suffix: none, a, f. */
static int
cmp_archs(const void *x, const void *y)
{
	const struct ws_arch *left = x;
	const struct ws_arch *right = y;
	if (left->number != right->number) {
		return left->number < right->number ? -1 : 1;
	}
	return left->suffix - right->suffix;
}

struct ws_arch_set
ws_arch_set_of(struct ws_arch *archs, size_t count)
{
	size_t kept = 0;
	if (count > 1) {
		qsort(archs, count, sizeof(*archs), cmp_archs);
	}
	for (size_t i = 0; i < count; i++) {
		if (kept > 0 && cmp_archs(&archs[kept - 1], &archs[i]) == 0) {
			archs[kept - 1].ptx = archs[kept - 1].ptx || archs[i].ptx;
		} else {
			archs[kept++] = archs[i];
		}
	}
	return (struct ws_arch_set){archs, kept};
}

bool
ws_arch_set_parse(const char *text, struct ws_arena *a, struct ws_arch_set *set, const char **why)
{
	WS_VEC(struct ws_arch) archs = {0};
	bool as_torch = true; /* written as torch takes it */
	for (const char *at = text, *end = text; *end; at = end + 1) {
		end = at + strcspn(at, ";, ");
		struct ws_str word = {at, (size_t)(end - at)};
		struct ws_arch arch;
		if (word.n > 0 && !guess_arch(word, &arch)) {
			*why = ws_arena_printf(a,
				"'%.*s' is not an architecture; write one like \"8.6\", \"9.0a\" or \"9.0+PTX\"",
				(int)(word.n < 40 ? word.n : 40), word.s);
			return false;
		}
		if (word.n > 0) {
			*ws_vec_push(&archs, a) = arch;
		}
		as_torch =
			as_torch && word.n > 0 && *end != ',' && ws_str_is(word, text_with_ptx(&arch, a));
	}
	if (archs.len == 0) {
		*why = "no architecture is named; write one like \"8.6\" or \"8.0;9.0+PTX\"";
		return false;
	}
	*set = ws_arch_set_of(archs.at, archs.len);
	if (!as_torch) {
		*why = ws_arena_printf(a, "write \"%s\"", ws_arch_set_text(set, a));
	}
	return as_torch;
}

const char *
ws_arch_text(const struct ws_arch *arch, struct ws_arena *a)
{
	return ws_arena_printf(a, "%u.%u%.1s", arch->number / 10, arch->number % 10, &arch->suffix);
}

const char *
ws_arch_set_text(const struct ws_arch_set *set, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < set->count; i++) {
		ws_buf_printf(&b, "%s%s", i > 0 ? ";" : "", text_with_ptx(&set->at[i], a));
	}
	return ws_buf_copy(&b, a);
}

/* "80", "90a", "90ptx" behind @a first, then behind @a next. */
static const char *
join_numbers(const struct ws_arch_set *set, const char *first, const char *next, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < set->count; i++) {
		const struct ws_arch *arch = &set->at[i];
		ws_buf_printf(&b, "%s%u%.1s%s", i > 0 ? next : first, arch->number, &arch->suffix,
			arch->ptx ? "ptx" : "");
	}
	return ws_buf_copy(&b, a);
}

const char *
ws_arch_set_name(const struct ws_arch_set *set, struct ws_arena *a)
{
	return join_numbers(set, "sm", "+", a);
}

const char *
ws_arch_set_label(const struct ws_arch_set *set, struct ws_arena *a)
{
	return join_numbers(set, "sm.", ".", a);
}

bool
ws_arch_set_eq(const struct ws_arch_set *x, const struct ws_arch_set *y)
{
	if (x->count != y->count) {
		return false;
	}
	for (size_t i = 0; i < x->count; i++) {
		if (cmp_archs(&x->at[i], &y->at[i]) != 0 || x->at[i].ptx != y->at[i].ptx) {
			return false;
		}
	}
	return true;
}

bool
ws_arch_may_run(const struct ws_arch *has, const struct ws_arch *asked)
{
	bool same_major = has->number / 10 == asked->number / 10;
	if (has->suffix == 'a') {
		return has->number == asked->number;
	}
	return has->number <= asked->number && (same_major || has->ptx);
}

const char *const *
ws_arch_set_gencode(const struct ws_arch_set *set, struct ws_arena *a, size_t *count)
{
	const char **flags = WS_NEW_N(a, const char *, 2 * set->count + 1);
	*count = 0;
	for (size_t i = 0; i < set->count; i++) {
		const struct ws_arch *arch = &set->at[i];
		const char *name = ws_arena_printf(a, "%u%.1s", arch->number, &arch->suffix);
		flags[(*count)++] = ws_arena_printf(a, "-gencode=arch=compute_%s,code=sm_%s", name, name);
		if (arch->ptx) {
			flags[(*count)++] =
				ws_arena_printf(a, "-gencode=arch=compute_%s,code=compute_%s", name, name);
		}
	}
	return flags;
}
