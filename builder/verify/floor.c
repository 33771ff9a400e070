/* floor.c - numbers out of symbol versions, compared with the policies. */
#include "verify/floor.h"

#include "base/vec.h"
#include "elf/demangle.h"
#include "verify/floor_policies.h"
#include "verify/missing.h"

#include <stdlib.h>
#include <string.h>

static const char *const kind_names[WS_FLOOR_KINDS] = {
	"GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC"};

/* Splits "GLIBC_2.17" into its kind and "2.17". False for versions that are not counted. */
static bool
split_version(const char *name, enum ws_floor_kind *kind, const char **rest)
{
	const char *end = strchr(name, '_');
	for (unsigned i = 0; end && i < WS_FLOOR_KINDS; i++) {
		if (strlen(kind_names[i]) == (size_t)(end - name)
			&& strncmp(name, kind_names[i], (size_t)(end - name)) == 0) {
			*kind = (enum ws_floor_kind)i;
			*rest = end + 1;
			return true;
		}
	}
	return false;
}

static bool
is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789.")] == '\0';
}

/* Numbers between dots; a missing one is 0. */
static int
compare(const char *x, const char *y)
{
	while (*x || *y) {
		char *end;
		unsigned long p = strtoul(x, &end, 10);
		x = *end == '.' ? end + 1 : end;
		unsigned long q = strtoul(y, &end, 10);
		y = *end == '.' ? end + 1 : end;
		if (p != q) {
			return p < q ? -1 : 1;
		}
	}
	return 0;
}

/* The number of the oldest policy that allows the version; ws_policy_count: none does. */
static size_t
policy_for(enum ws_floor_kind kind, const char *name, const char *version)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *word = ws_arena_printf(a, " %s ", name);
	size_t i = 0;
	for (; i < ws_policy_count; i++) {
		const char *most = ws_policies[i].most[kind];
		if (is_number(version) ? most && compare(version, most) <= 0
							   : strstr(ws_policies[i].words, word) != NULL) {
			break;
		}
	}
	return i;
}

static void
raise_policy(struct ws_floor *floor, size_t policy, const char *cause, struct ws_arena *a)
{
	if (policy > floor->policy) {
		floor->policy = policy;
	}
	if (policy == ws_policy_count && !floor->outside) {
		floor->outside = ws_arena_strdup(a, cause);
	}
}

/* A symbol that asks for @version. */
static const char *
symbol_of(const struct ws_elf *elf, const struct ws_elf_version *version, struct ws_arena *a)
{
	struct ws_elf_symbol symbol;
	for (size_t at = 0; ws_elf_next_symbol(elf, &at, &symbol);) {
		if (symbol.version == version) {
			return ws_demangle_short(symbol.name, a);
		}
	}
	return NULL;
}

/* The newest version of each kind that one library asks for. */
struct newest {
	const struct ws_elf_version *version[WS_FLOOR_KINDS];
	const char *text[WS_FLOOR_KINDS];
};

static void
add_version(struct ws_floor *floor, const struct ws_elf_version *version, struct newest *newest,
	struct ws_arena *a)
{
	enum ws_floor_kind kind;
	const char *rest;
	if (!split_version(version->name, &kind, &rest)) {
		return;
	}
	raise_policy(floor, policy_for(kind, version->name, rest), version->name, a);
	if (strcmp(version->name, "GLIBC_ABI_DT_RELR") == 0) {
		floor->dt_relr = true;
	}
	if (is_number(rest) && (!newest->text[kind] || compare(rest, newest->text[kind]) > 0)) {
		newest->version[kind] = version;
		newest->text[kind] = rest;
	}
}

static void
add_newest(struct ws_floor *floor, const struct ws_elf *elf, const struct newest *newest,
	struct ws_arena *a)
{
	for (unsigned i = 0; i < WS_FLOOR_KINDS; i++) {
		struct ws_floor_version *asked = &floor->asked[i];
		if (newest->text[i] && (!asked->text || compare(newest->text[i], asked->text) > 0)) {
			asked->text = ws_arena_strdup(a, newest->text[i]);
			asked->symbol = symbol_of(elf, newest->version[i], a);
		}
	}
}

/* The number of the oldest policy that promises the library; ws_policy_count: none does. */
static size_t
policy_with(const char *library)
{
	if (ws_starts_with(library, "ld-linux")) {
		return 0;
	}
	for (size_t i = 0; i < ws_policy_library_count; i++) {
		if (ws_same(library, ws_policy_libraries[i].name)) {
			return ws_policy_libraries[i].since;
		}
	}
	return ws_policy_count;
}

bool
ws_floor_is_system_library(const char *name)
{
	return policy_with(name) < ws_policy_count;
}

/* Brought by torch's wheel, by CUDA's, by the driver, or by this wheel itself. */
static bool
is_exempt(const char *library, const char *const *own, size_t own_count)
{
	for (size_t i = 0; i < own_count; i++) {
		if (ws_same(library, own[i])) {
			return true;
		}
	}
	return ws_starts_with(library, "libtorch") || ws_starts_with(library, "libc10")
		|| ws_library_is_of(library, "libshm") || ws_library_is_cuda(library);
}

void
ws_floor_add(struct ws_floor *floor, const struct ws_elf *elf, const char *const *own,
	size_t own_count, struct ws_arena *a)
{
	for (size_t i = 0; i < elf->needed_count; i++) {
		if (!is_exempt(elf->needed[i], own, own_count)) {
			raise_policy(floor, policy_with(elf->needed[i]), elf->needed[i], a);
		}
	}
	struct newest newest = {0};
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *version = &elf->versions[i];
		if (version->library && !is_exempt(version->library, own, own_count)) {
			add_version(floor, version, &newest, a);
		}
	}
	add_newest(floor, elf, &newest, a);
}

const char *
ws_floor_tag(const struct ws_floor *floor)
{
	return floor->policy < ws_policy_count ? ws_policies[floor->policy].tag : "linux_x86_64";
}

bool
ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor)
{
	char here[32];
	snprintf(here, sizeof(here), "%u.%u", major, minor);
	const char *asked = floor->asked[WS_FLOOR_GLIBC].text;
	return (!asked || compare(asked, here) <= 0) && (!floor->dt_relr || compare("2.36", here) <= 0);
}

struct ws_finding
ws_floor_finding(const struct ws_floor *floor, struct ws_arena *a)
{
	WS_VEC(const char *) lines = {0};
	for (unsigned i = 0; i < WS_FLOOR_KINDS; i++) {
		const struct ws_floor_version *asked = &floor->asked[i];
		if (asked->text) {
			*ws_vec_push(&lines, a) = ws_arena_printf(a, "%s_%s%s%s", kind_names[i], asked->text,
				asked->symbol ? ": " : "", asked->symbol ? asked->symbol : "");
		}
	}
	if (floor->dt_relr) {
		*ws_vec_push(&lines, a) = "GLIBC_ABI_DT_RELR: linked with -z pack-relative-relocs";
	}
	if (floor->outside) {
		*ws_vec_push(&lines, a) =
			ws_arena_printf(a, "'%s' is in no manylinux policy", floor->outside);
	}
	const char *glibc = floor->asked[WS_FLOOR_GLIBC].text;
	if (floor->dt_relr && (!glibc || compare(glibc, "2.36") < 0)) {
		glibc = "2.36";
	}
	return (struct ws_finding){
		.verdict = WS_VERDICT_OK,
		.text = glibc ? ws_arena_printf(a, "glibc %s or newer: %s", glibc, ws_floor_tag(floor))
					  : ws_arena_printf(a, "any glibc: %s", ws_floor_tag(floor)),
		.evidence = lines.at,
		.evidence_count = lines.len,
	};
}
