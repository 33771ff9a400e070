/* floor.c - numbers out of symbol versions, compared with the policies. */
#include "verify/floor.h"

#include "base/vec.h"
#include "elf/demangle.h"
#include "verify/libraries.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The manylinux policies of x86-64 (PEP 600), from the oldest to the newest; auditwheel 6.8.2,
 * src/auditwheel/policy/manylinux-policy.json: GLIBC, GLIBCXX, CXXABI, GCC, ZLIB, LIBATOMIC */
static const struct policy {
	const char *tag;                  /* "manylinux_2_17_x86_64" */
	const char *most[WS_FLOOR_KINDS]; /* newest version allowed; NULL: none at all */
	const char *words;                /* versions that are not numbers, between spaces */
} policies[] = {
	{"manylinux_2_5_x86_64", {"2.5", "3.4.8", "1.3.1", "4.2.0", NULL, NULL}, ""},
	{"manylinux_2_12_x86_64", {"2.12", "3.4.13", "1.3.3", "4.3.0", "1.2.2.4", NULL}, ""},
	{"manylinux_2_17_x86_64", {"2.17", "3.4.19", "1.3.7", "4.8.0", "1.2.5.2", NULL},
		" CXXABI_TM_1 "},
	{"manylinux_2_24_x86_64", {"2.24", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_26_x86_64", {"2.26", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_27_x86_64", {"2.27", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_28_x86_64", {"2.28", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_31_x86_64", {"2.31", "3.4.28", "1.3.12", "7.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_34_x86_64", {"2.34", "3.4.29", "1.3.13", "7.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_35_x86_64", {"2.35", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 "},
	{"manylinux_2_36_x86_64", {"2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
	{"manylinux_2_37_x86_64", {"2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.12", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
	{"manylinux_2_38_x86_64", {"2.38", "3.4.30", "1.3.13", "12.0.0", "1.2.12", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
	{"manylinux_2_39_x86_64", {"2.39", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
	{"manylinux_2_40_x86_64", {"2.40", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
	{"manylinux_2_41_x86_64", {"2.41", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"},
		" CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR "},
};
#define POLICIES WS_LEN(policies)

/* Libraries that a policy promises, and the number of the oldest policy that does. */
static const struct {
	const char *name;
	size_t since;
} policy_libraries[] = {
	{"libGL.so.1", 0},
	{"libICE.so.6", 0},
	{"libSM.so.6", 0},
	{"libX11.so.6", 0},
	{"libXext.so.6", 0},
	{"libXrender.so.1", 0},
	{"libanl.so.1", 0},
	{"libatomic.so.1", 0},
	{"libc.so.6", 0},
	{"libdl.so.2", 0},
	{"libexpat.so.1", 1},
	{"libgcc_s.so.1", 0},
	{"libglib-2.0.so.0", 0},
	{"libgobject-2.0.so.0", 0},
	{"libgthread-2.0.so.0", 0},
	{"libm.so.6", 0},
	{"libmvec.so.1", 3},
	{"libnsl.so.1", 0},
	{"libpthread.so.0", 0},
	{"libresolv.so.2", 0},
	{"librt.so.1", 0},
	{"libstdc++.so.6", 0},
	{"libutil.so.1", 0},
	{"libz.so.1", 0},
};

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

/* The number of the oldest policy that allows the version; POLICIES: none does. */
static size_t
policy_for(enum ws_floor_kind kind, const char *name, const char *version)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *word = ws_arena_printf(a, " %s ", name);
	size_t i = 0;
	for (; i < POLICIES; i++) {
		const char *most = policies[i].most[kind];
		if (is_number(version) ? most && compare(version, most) <= 0
							   : strstr(policies[i].words, word) != NULL) {
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
	if (policy == POLICIES && !floor->outside) {
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

/* The number of the oldest policy that promises the library; POLICIES: none does. */
static size_t
policy_with(const char *library)
{
	if (ws_same(library, "ld-linux-x86-64.so.2")) {
		return 0;
	}
	for (size_t i = 0; i < WS_LEN(policy_libraries); i++) {
		if (ws_same(library, policy_libraries[i].name)) {
			return policy_libraries[i].since;
		}
	}
	return POLICIES;
}

bool
ws_floor_is_system_library(const char *name)
{
	return policy_with(name) < POLICIES;
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
	return floor->policy < POLICIES ? policies[floor->policy].tag : "linux_x86_64";
}

bool
ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor)
{
	char here[32];
	snprintf(here, sizeof(here), "%u.%u", major, minor);
	const char *asked = floor->asked[WS_FLOOR_GLIBC].text;
	return (!asked || compare(asked, here) <= 0) && (!floor->dt_relr || compare("2.36", here) <= 0);
}

/* The newest policy whose glibc is not newer; POLICIES: none is so old. */
static size_t
policy_of_glibc(const char *glibc)
{
	size_t found = POLICIES;
	for (size_t i = 0; i < POLICIES; i++) {
		found = compare(policies[i].most[WS_FLOOR_GLIBC], glibc) <= 0 ? i : found;
	}
	return found;
}

static struct ws_finding
against(enum ws_finding_verdict verdict, const char *text)
{
	return (struct ws_finding){.verdict = verdict, .cause = "glibc", .text = text};
}

bool
ws_floor_against(const struct ws_floor *floor, const char *name, const char *glibc,
	struct ws_arena *a, struct ws_finding *finding)
{
	unsigned major = 2, minor = 0;
	(void)sscanf(glibc, "%u.%u", &major, &minor);
	if (!ws_floor_fits_glibc(floor, major, minor)) {
		const char *asked = floor->asked[WS_FLOOR_GLIBC].text;
		*finding = against(WS_VERDICT_FAILS,
			ws_arena_printf(a, "%s needs glibc %s, not %s", name,
				floor->dt_relr && compare(asked ? asked : "2.0", "2.36") < 0 ? "2.36" : asked,
				glibc));
		return true;
	}
	size_t policy = policy_of_glibc(glibc);
	for (unsigned i = 0; i < WS_FLOOR_KINDS && policy < POLICIES; i++) {
		const char *asked = floor->asked[i].text, *promised = policies[policy].most[i];
		if (asked && (!promised || compare(asked, promised) > 0)) {
			*finding = against(WS_VERDICT_UNKNOWN,
				ws_arena_printf(a, "%s needs %s_%s; systems with glibc %s may have %s%s", name,
					kind_names[i], asked, glibc, promised ? "no newer than " : "none",
					promised ? promised : ""));
			return true;
		}
	}
	return false;
}

const char *
ws_floor_glibc_of(const struct ws_elf *const *libraries, size_t count, struct ws_arena *a)
{
	const char *newest = NULL;
	for (size_t i = 0; i < count; i++) {
		bool libc = ws_same(ws_elf_library_name(libraries[i]), "libc.so.6");
		for (size_t k = 0; libc && k < libraries[i]->version_count; k++) {
			const struct ws_elf_version *v = &libraries[i]->versions[k];
			const char *number = ws_starts_with(v->name, "GLIBC_2.") ? v->name + 6 : NULL;
			newest =
				!v->library && number && (!newest || compare(number, newest) > 0) ? number : newest;
		}
	}
	return ws_arena_strdup(a, newest);
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
