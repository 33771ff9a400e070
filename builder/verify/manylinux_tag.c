/* manylinux_tag.c - the newest needed versions, compared with the policies. */
#include "verify/manylinux_tag.h"

#include "elf/demangle.h"
#include "verify/libraries.h"

/* Where nothing was added yet, this program's. */
static const struct ws_manylinux *
policies_of(const struct ws_floor *floor, size_t *count)
{
	return ws_manylinux_list(floor->machine ? floor->machine : ws_machine_host(), count);
}

/* @policy is the number of the oldest policy that is enough; the count of policies: none. */
static void
raise_policy(
	struct ws_floor *floor, size_t policy, size_t count, const char *cause, struct ws_arena *a)
{
	floor->policy = policy > floor->policy ? policy : floor->policy;
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

/* The glibc of the oldest policy that promises the library; NULL: no policy. */
static const char *
promised_since(const char *library)
{
	static const char *const all[] = {"libGL.so.1", "libICE.so.6", "libSM.so.6", "libX11.so.6",
		"libXext.so.6", "libXrender.so.1", "libanl.so.1", "libatomic.so.1", "libc.so.6",
		"libdl.so.2", "libgcc_s.so.1", "libglib-2.0.so.0", "libgobject-2.0.so.0",
		"libgthread-2.0.so.0", "libm.so.6", "libnsl.so.1", "libpthread.so.0", "libresolv.so.2",
		"librt.so.1", "libstdc++.so.6", "libutil.so.1", "libz.so.1", "ld-linux-x86-64.so.2",
		"ld-linux-aarch64.so.1"};
	return ws_is_among(library, all, WS_LEN(all)) ? "2.5"
		: ws_same(library, "libexpat.so.1")       ? "2.12"
		: ws_same(library, "libmvec.so.1")        ? "2.24"
												  : NULL;
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
	return ws_is_among(library, own, own_count) || ws_starts_with(library, "libtorch")
		|| ws_starts_with(library, "libc10") || ws_library_is_of(library, "libshm")
		|| ws_library_is_cuda(library);
}

void
ws_floor_add(struct ws_floor *floor, const struct ws_elf *elf, const char *const *own,
	size_t own_count, struct ws_arena *a)
{
	const struct ws_elf_version *newest[WS_FLOOR_KINDS] = {0};
	size_t count, policy;
	floor->machine = ws_machine_of_elf(elf->machine);
	const struct ws_manylinux *policies = policies_of(floor, &count);
	for (size_t i = 0; i < elf->needed_count; i++) {
		const char *library = elf->needed[i], *since = promised_since(library);
		if (!is_exempt(library, own, own_count)) {
			for (policy = 0; policy < count
				 && !(since && ws_floor_version_cmp(policies[policy].most[0], since) >= 0);) {
				policy++;
			}
			raise_policy(floor, policy, count, library, a);
		}
	}
	for (size_t i = 0; i < elf->version_count; i++) {
		const struct ws_elf_version *version = &elf->versions[i];
		enum ws_floor_kind kind;
		const char *number;
		if (!version->library || is_exempt(version->library, own, own_count)
			|| !ws_floor_version_split(version->name, &kind, &number)) {
			continue;
		}
		for (policy = 0;
			 policy < count && !ws_manylinux_allows(&policies[policy], version->name);) {
			policy++;
		}
		raise_policy(floor, policy, count, version->name, a);
		floor->dt_relr = floor->dt_relr || ws_same(version->name, "GLIBC_ABI_DT_RELR");
		struct ws_floor_version *asked = &floor->asked[kind];
		if (ws_floor_version_is_number(number)
			&& (!asked->text || ws_floor_version_cmp(number, asked->text) > 0)) {
			asked->text = ws_arena_strdup(a, number);
			newest[kind] = version;
		}
	}
	for (unsigned i = 0; i < WS_FLOOR_KINDS; i++) {
		if (newest[i]) {
			floor->asked[i].symbol = symbol_of(elf, newest[i], a);
		}
	}
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

/* Packed relocations need 2.36. NULL: any. */
static const char *
needed_glibc(const struct ws_floor *floor)
{
	const char *asked = floor->asked[WS_FLOOR_GLIBC].text;
	return floor->dt_relr && (!asked || ws_floor_version_cmp(asked, "2.36") < 0) ? "2.36" : asked;
}

bool
ws_floor_fits_glibc(const struct ws_floor *floor, unsigned major, unsigned minor)
{
	char here[32];
	snprintf(here, sizeof(here), "%u.%u", major, minor);
	const char *needed = needed_glibc(floor);
	return !needed || ws_floor_version_cmp(needed, here) <= 0;
}

bool
ws_floor_against(const struct ws_floor *floor, const char *name, const char *glibc,
	struct ws_arena *a, struct ws_finding *finding)
{
	unsigned major = 2, minor = 0;
	size_t count;
	const struct ws_manylinux *policies = policies_of(floor, &count), *policy = NULL;
	*finding = (struct ws_finding){.verdict = WS_VERDICT_FAILS, .cause = "glibc"};
	(void)sscanf(glibc, "%u.%u", &major, &minor);
	if (!ws_floor_fits_glibc(floor, major, minor)) {
		finding->text =
			ws_arena_printf(a, "%s needs glibc %s, not %s", name, needed_glibc(floor), glibc);
		return true;
	}
	for (size_t i = 0; i < count; i++) { /* the newest whose glibc is not newer */
		bool fits = ws_floor_version_cmp(policies[i].most[WS_FLOOR_GLIBC], glibc) <= 0;
		policy = fits ? &policies[i] : policy;
	}
	for (unsigned i = 0; i < WS_FLOOR_KINDS && policy; i++) {
		const char *asked = floor->asked[i].text, *promised = policy->most[i];
		if (asked && (!promised || ws_floor_version_cmp(asked, promised) > 0)) {
			finding->verdict = WS_VERDICT_UNKNOWN;
			finding->text = ws_arena_printf(a,
				"%s needs %s_%s; systems with glibc %s may have %s%s", name, ws_floor_kind_words[i],
				asked, glibc, promised ? "no newer than " : "none", promised ? promised : "");
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
	const char *glibc = needed_glibc(floor);
	return (struct ws_finding){
		.verdict = WS_VERDICT_OK,
		.text = glibc ? ws_arena_printf(a, "glibc %s or newer: %s", glibc, ws_floor_tag(floor))
					  : ws_arena_printf(a, "any glibc: %s", ws_floor_tag(floor)),
		.evidence = lines.at,
		.evidence_count = lines.len,
	};
}
