/* manylinux_tag.c - the newest needed versions, compared with the policies. */
#include "verify/manylinux_tag.h"

#include "elf/demangle.h"
#include "verify/libraries.h"

/* Libraries that a policy promises, and the glibc of the oldest policy that does. */
static const struct {
	const char *name, *since;
} policy_libraries[] = {
	{"libGL.so.1", "2.5"},
	{"libICE.so.6", "2.5"},
	{"libSM.so.6", "2.5"},
	{"libX11.so.6", "2.5"},
	{"libXext.so.6", "2.5"},
	{"libXrender.so.1", "2.5"},
	{"libanl.so.1", "2.5"},
	{"libatomic.so.1", "2.5"},
	{"libc.so.6", "2.5"},
	{"libdl.so.2", "2.5"},
	{"libexpat.so.1", "2.12"},
	{"libgcc_s.so.1", "2.5"},
	{"libglib-2.0.so.0", "2.5"},
	{"libgobject-2.0.so.0", "2.5"},
	{"libgthread-2.0.so.0", "2.5"},
	{"libm.so.6", "2.5"},
	{"libmvec.so.1", "2.24"},
	{"libnsl.so.1", "2.5"},
	{"libpthread.so.0", "2.5"},
	{"libresolv.so.2", "2.5"},
	{"librt.so.1", "2.5"},
	{"libstdc++.so.6", "2.5"},
	{"libutil.so.1", "2.5"},
	{"libz.so.1", "2.5"},
};

/* Where nothing was added yet, this program's. */
static const struct ws_manylinux *
policies_of(const struct ws_floor *floor, size_t *count)
{
	return ws_manylinux_list(floor->machine ? floor->machine : ws_machine_host(), count);
}

/* The number of the oldest policy that allows the version; the count of policies: none. */
static size_t
policy_for(const struct ws_floor *floor, const char *version)
{
	size_t count, i = 0;
	const struct ws_manylinux *policies = policies_of(floor, &count);
	while (i < count && !ws_manylinux_allows(&policies[i], version)) {
		i++;
	}
	return i;
}

static void
raise_policy(struct ws_floor *floor, size_t policy, const char *cause, struct ws_arena *a)
{
	if (policy > floor->policy) {
		floor->policy = policy;
	}
	size_t count;
	(void)policies_of(floor, &count);
	if (policy == count && !floor->outside) {
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

/* The newest version of each kind that one library needs. */
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
	if (!ws_floor_version_split(version->name, &kind, &rest)) {
		return;
	}
	raise_policy(floor, policy_for(floor, version->name), version->name, a);
	if (strcmp(version->name, "GLIBC_ABI_DT_RELR") == 0) {
		floor->dt_relr = true;
	}
	if (ws_floor_version_is_number(rest)
		&& (!newest->text[kind] || ws_floor_version_cmp(rest, newest->text[kind]) > 0)) {
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
		if (newest->text[i]
			&& (!asked->text || ws_floor_version_cmp(newest->text[i], asked->text) > 0)) {
			asked->text = ws_arena_strdup(a, newest->text[i]);
			asked->symbol = symbol_of(elf, newest->version[i], a);
		}
	}
}

/* The glibc of the oldest policy that promises the library; NULL: no policy. */
static const char *
promised_since(const char *library)
{
	if (ws_same(library, "ld-linux-x86-64.so.2") || ws_same(library, "ld-linux-aarch64.so.1")) {
		return "2.5";
	}
	for (size_t i = 0; i < WS_LEN(policy_libraries); i++) {
		if (ws_same(library, policy_libraries[i].name)) {
			return policy_libraries[i].since;
		}
	}
	return NULL;
}

/* The number of the oldest policy that promises the library; the count of policies: none. */
static size_t
policy_with(const struct ws_floor *floor, const char *library)
{
	size_t count, i = 0;
	const struct ws_manylinux *policies = policies_of(floor, &count);
	const char *since = promised_since(library);
	while (i < count && !(since && ws_floor_version_cmp(policies[i].most[0], since) >= 0)) {
		i++;
	}
	return i;
}

bool
ws_floor_is_system_library(const char *name)
{
	return promised_since(name);
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
	floor->machine = ws_machine_of_elf(elf->machine);
	for (size_t i = 0; i < elf->needed_count; i++) {
		if (!is_exempt(elf->needed[i], own, own_count)) {
			raise_policy(floor, policy_with(floor, elf->needed[i]), elf->needed[i], a);
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
	size_t count;
	const struct ws_manylinux *policies = policies_of(floor, &count);
	bool arm = floor->machine && ws_same(floor->machine->name, "aarch64");
	return floor->policy < count ? policies[floor->policy].tag
		: arm                    ? "linux_aarch64"
								 : "linux_x86_64";
}

bool
ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor)
{
	char here[32];
	snprintf(here, sizeof(here), "%u.%u", major, minor);
	const char *asked = floor->asked[WS_FLOOR_GLIBC].text;
	return (!asked || ws_floor_version_cmp(asked, here) <= 0)
		&& (!floor->dt_relr || ws_floor_version_cmp("2.36", here) <= 0);
}

/* The newest policy whose glibc is not newer; NULL: every policy is newer. */
static const struct ws_manylinux *
policy_of_glibc(const struct ws_floor *floor, const char *glibc)
{
	size_t count;
	const struct ws_manylinux *policies = policies_of(floor, &count), *found = NULL;
	for (size_t i = 0; i < count; i++) {
		found = ws_floor_version_cmp(policies[i].most[WS_FLOOR_GLIBC], glibc) <= 0 ? &policies[i]
																				   : found;
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
				floor->dt_relr && ws_floor_version_cmp(asked ? asked : "2.0", "2.36") < 0 ? "2.36"
																						  : asked,
				glibc));
		return true;
	}
	const struct ws_manylinux *policy = policy_of_glibc(floor, glibc);
	for (unsigned i = 0; i < WS_FLOOR_KINDS && policy; i++) {
		const char *asked = floor->asked[i].text, *promised = policy->most[i];
		if (asked && (!promised || ws_floor_version_cmp(asked, promised) > 0)) {
			*finding = against(WS_VERDICT_UNKNOWN,
				ws_arena_printf(a, "%s needs %s_%s; systems with glibc %s may have %s%s", name,
					ws_floor_kind_words[i], asked, glibc, promised ? "no newer than " : "none",
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
			newest = !v->library && number && (!newest || ws_floor_version_cmp(number, newest) > 0)
				? number
				: newest;
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
			*ws_vec_push(&lines, a) = ws_arena_printf(a, "%s_%s%s%s", ws_floor_kind_words[i],
				asked->text, asked->symbol ? ": " : "", asked->symbol ? asked->symbol : "");
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
	if (floor->dt_relr && (!glibc || ws_floor_version_cmp(glibc, "2.36") < 0)) {
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
