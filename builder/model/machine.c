/* machine.c - the table. */
#include "model/machine.h"

#include "base/text.h"

#include <elf.h>

static const struct ws_machine machines[] = {
	{"x86_64", "x86_64-linux-gnu", "amd64", "ld-linux-x86-64.so.2", EM_X86_64, "",
		"floors/x86_64.zst"},
	{"aarch64", "aarch64-linux-gnu", "arm64", "ld-linux-aarch64.so.1", EM_AARCH64, "/aarch64",
		"floors/aarch64.zst"},
};

const struct ws_machine *
ws_machine_named(const char *name)
{
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		if (ws_same(machines[i].name, name)) {
			return &machines[i];
		}
	}
	return NULL;
}

const struct ws_machine *
ws_machine_of_elf(unsigned elf)
{
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		if (machines[i].elf == elf) {
			return &machines[i];
		}
	}
	return NULL;
}

const struct ws_machine *
ws_machine_host(void)
{
#ifdef __aarch64__
	return &machines[1];
#else
	return &machines[0];
#endif
}

/* Versions that are not numbers. */
static const char tm[] = " CXXABI_TM_1 ";
static const char f128[] = " CXXABI_FLOAT128 CXXABI_TM_1 ";
static const char tm_relr[] = " CXXABI_TM_1 GLIBC_ABI_DT_RELR ";
static const char f128_relr[] = " CXXABI_FLOAT128 CXXABI_TM_1 GLIBC_ABI_DT_RELR ";

/* GLIBC, GLIBCXX, CXXABI, GCC, ZLIB, LIBATOMIC */
static const struct ws_manylinux x86_64[] = {
	{"manylinux_2_5_x86_64", {"2.5", "3.4.8", "1.3.1", "4.2.0", NULL, NULL}, ""},
	{"manylinux_2_12_x86_64", {"2.12", "3.4.13", "1.3.3", "4.3.0", "1.2.2.4", NULL}, ""},
	{"manylinux_2_17_x86_64", {"2.17", "3.4.19", "1.3.7", "4.8.0", "1.2.5.2", NULL}, tm},
	{"manylinux_2_24_x86_64", {"2.24", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"}, f128},
	{"manylinux_2_26_x86_64", {"2.26", "3.4.22", "1.3.10", "4.8.0", "1.2.5.2", "1.2"}, f128},
	{"manylinux_2_27_x86_64", {"2.27", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"}, f128},
	{"manylinux_2_28_x86_64", {"2.28", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"}, f128},
	{"manylinux_2_31_x86_64", {"2.31", "3.4.28", "1.3.12", "7.0.0", "1.2.9", "1.2"}, f128},
	{"manylinux_2_34_x86_64", {"2.34", "3.4.29", "1.3.13", "7.0.0", "1.2.9", "1.2"}, f128},
	{"manylinux_2_35_x86_64", {"2.35", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"}, f128},
	{"manylinux_2_36_x86_64", {"2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.9", "1.2"}, f128_relr},
	{"manylinux_2_37_x86_64", {"2.36", "3.4.30", "1.3.13", "12.0.0", "1.2.12", "1.2"}, f128_relr},
	{"manylinux_2_38_x86_64", {"2.38", "3.4.30", "1.3.13", "12.0.0", "1.2.12", "1.2"}, f128_relr},
	{"manylinux_2_39_x86_64", {"2.39", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, f128_relr},
	{"manylinux_2_40_x86_64", {"2.40", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, f128_relr},
	{"manylinux_2_41_x86_64", {"2.41", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, f128_relr},
};

static const struct ws_manylinux aarch64[] = {
	{"manylinux_2_17_aarch64", {"2.17", "3.4.19", "1.3.7", "4.7.0", "1.2.5.2", "1.0"}, tm},
	{"manylinux_2_24_aarch64", {"2.24", "3.4.22", "1.3.10", "4.7.0", "1.2.5.2", "1.2"}, tm},
	{"manylinux_2_26_aarch64", {"2.26", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_27_aarch64", {"2.27", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_28_aarch64", {"2.28", "3.4.24", "1.3.11", "7.0.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_31_aarch64", {"2.31", "3.4.28", "1.3.12", "7.0.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_34_aarch64", {"2.34", "3.4.29", "1.3.13", "11.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_35_aarch64", {"2.35", "3.4.30", "1.3.13", "11.0", "1.2.9", "1.2"}, tm},
	{"manylinux_2_36_aarch64", {"2.36", "3.4.30", "1.3.13", "11.0", "1.2.9", "1.2"}, tm_relr},
	{"manylinux_2_37_aarch64", {"2.36", "3.4.30", "1.3.13", "11.0", "1.2.12", "1.2"}, tm_relr},
	{"manylinux_2_38_aarch64", {"2.38", "3.4.30", "1.3.13", "11.0", "1.2.12", "1.2"}, tm_relr},
	{"manylinux_2_39_aarch64", {"2.39", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, tm_relr},
	{"manylinux_2_40_aarch64", {"2.40", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, tm_relr},
	{"manylinux_2_41_aarch64", {"2.41", "3.4.33", "1.3.15", "14.0.0", "1.2.12", "1.2"}, tm_relr},
};

const char *const ws_floor_kind_words[WS_FLOOR_KINDS] = {
	"GLIBC", "GLIBCXX", "CXXABI", "GCC", "ZLIB", "LIBATOMIC"};

bool
ws_floor_version_split(const char *name, enum ws_floor_kind *kind, const char **rest)
{
	const char *end = strchr(name, '_');
	for (unsigned i = 0; end && i < WS_FLOOR_KINDS; i++) {
		if (strlen(ws_floor_kind_words[i]) == (size_t)(end - name)
			&& strncmp(name, ws_floor_kind_words[i], (size_t)(end - name)) == 0) {
			*kind = (enum ws_floor_kind)i;
			*rest = end + 1;
			return true;
		}
	}
	return false;
}

bool
ws_floor_version_is_number(const char *text)
{
	return *text && text[strspn(text, "0123456789.")] == '\0';
}

int
ws_floor_version_cmp(const char *x, const char *y)
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

const struct ws_manylinux *
ws_manylinux_list(const struct ws_machine *machine, size_t *count)
{
	bool arm = ws_same(machine->name, "aarch64");
	*count = arm ? WS_LEN(aarch64) : WS_LEN(x86_64);
	return arm ? aarch64 : x86_64;
}

const struct ws_manylinux *
ws_manylinux_of_glibc(const struct ws_machine *machine, const char *glibc)
{
	size_t count;
	const struct ws_manylinux *policies = ws_manylinux_list(machine, &count);
	for (size_t i = 0; i < count; i++) {
		if (ws_same(policies[i].most[WS_FLOOR_GLIBC], glibc)) {
			return &policies[i];
		}
	}
	return NULL;
}

const char *
ws_manylinux_tags(const char *tag, const char *glibc, struct ws_arena *a)
{
	const struct ws_machine *machine =
		ws_machine_named(ws_ends_with(tag, "_aarch64") ? "aarch64" : "x86_64");
	const char *tags = NULL;
	size_t count;
	const struct ws_manylinux *policies = ws_manylinux_list(machine, &count);
	for (size_t i = 0; i < count; i++) {
		bool linked = tags && ws_same(policies[i].most[WS_FLOOR_GLIBC], glibc);
		if (ws_same(policies[i].tag, tag) || linked) {
			/* The older name of PEP 599, which some indexes still use. */
			const char *own = ws_same(policies[i].most[WS_FLOOR_GLIBC], "2.17")
				? ws_arena_printf(a, "manylinux2014_%s.%s", machine->name, policies[i].tag)
				: policies[i].tag;
			tags = tags ? ws_arena_printf(a, "%s.%s", tags, own) : own;
		}
	}
	return tags ? tags : tag;
}

bool
ws_manylinux_allows(const struct ws_manylinux *policy, const char *name)
{
	enum ws_floor_kind kind;
	const char *rest;
	if (!ws_floor_version_split(name, &kind, &rest)) {
		return false;
	}
	const char *most = policy->most[kind];
	if (ws_floor_version_is_number(rest)) {
		return most && ws_floor_version_cmp(rest, most) <= 0;
	}
	size_t len = strlen(name);
	for (const char *at = policy->words; (at = strstr(at, name)); at += len) {
		if (at > policy->words && at[-1] == ' ' && at[len] == ' ') {
			return true;
		}
	}
	return false;
}

/* The bridge (floor/) supports no older glibc; no torch needs one. */
#define OLDEST_FLOOR "2.17"

bool
ws_glibc_is_floor(const char *text)
{
	return ws_same(text, WS_GLIBC_HOST)
		|| (ws_manylinux_of_glibc(ws_machine_named("x86_64"), text)
			&& ws_floor_version_cmp(text, OLDEST_FLOOR) >= 0);
}

const char *
ws_glibc_floors(struct ws_arena *a)
{
	const char *text = OLDEST_FLOOR;
	for (size_t i = 0; i < WS_LEN(x86_64); i++) {
		const char *glibc = x86_64[i].most[WS_FLOOR_GLIBC];
		bool again = i > 0 && ws_same(glibc, x86_64[i - 1].most[WS_FLOOR_GLIBC]);
		if (ws_floor_version_cmp(glibc, OLDEST_FLOOR) > 0 && !again) {
			text = ws_arena_printf(a, "%s, %s", text, glibc);
		}
	}
	return ws_arena_printf(a, "%s or %s", text, WS_GLIBC_HOST);
}

const char *
ws_glibc_floor_below(const char *text)
{
	const char *found = NULL;
	bool number = text[0] == '2' && text[1] == '.' && ws_floor_version_is_number(text);
	for (size_t i = 0; number && i < WS_LEN(x86_64); i++) {
		const char *glibc = x86_64[i].most[WS_FLOOR_GLIBC];
		bool fits = ws_glibc_is_floor(glibc) && ws_floor_version_cmp(glibc, text) <= 0;
		found = fits && !(found && ws_floor_version_cmp(glibc, found) < 0) ? glibc : found;
	}
	return found;
}

const char *
ws_manylinux_since(const struct ws_machine *machine, const char *name)
{
	size_t count;
	const struct ws_manylinux *policies = ws_manylinux_list(machine, &count);
	for (size_t i = 0; i < count; i++) {
		if (ws_manylinux_allows(&policies[i], name)) {
			return policies[i].most[WS_FLOOR_GLIBC];
		}
	}
	return NULL;
}
