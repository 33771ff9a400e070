/* fit.c - how well a wheel's tags fit an interpreter: the place of the best of them in the order of
 * packaging.tags, computed instead of searched. Declared in tag.h.
 *
 * For CPython 3.N that order is a list of python and ABI tags,
 *     cp3N-cp3N  cp3N-abi3  cp3N-none  cp3(N-1)-abi3 ... cp32-abi3
 *     py3N-none  py3-none  py3(N-1)-none ... py30-none
 * each with every platform, newest first; then the same names of "none" with "any":
 *     cp3N  py3N  py3  py3(N-1) ... py30
 * Free-threaded builds have cp3Nt and abi3t in place of cp3N and abi3 (PEP 703, PEP 803). */
#include "base/str.h"
#include "model/tag.h"

#include <stdio.h>
#include <string.h>

/* Place of what does not fit. */
#define NOWHERE (~0u)

/* The last minor of a glibc major that has ended is not known; packaging takes 50. */
#define LAST_GLIBC_MINOR 50

/* Names of before PEP 600; each stands just after its manylinux_2_N. */
static const struct {
	const char *name;
	unsigned minor;
} legacy_platforms[] = {
	{"manylinux2014", 17},
	{"manylinux2010", 12},
	{"manylinux1", 5},
};

/* The oldest minor of glibc 2 that tags have (packaging._manylinux): of x86-64 PEP 513's. */
static unsigned
oldest_minor(const struct ws_machine *machine)
{
	return machine->mark[0] ? 17 : 5;
}

/* How many platforms glibc @a major of minors @a from to @a to gives, legacy names included. */
static unsigned
count_platforms(unsigned major, unsigned from, unsigned to)
{
	if (to < from) {
		return 0;
	}
	unsigned count = to - from + 1;
	for (size_t i = 0; i < WS_LEN(legacy_platforms); i++) {
		unsigned minor = legacy_platforms[i].minor;
		count += major == 2 && minor >= from && minor <= to;
	}
	return count;
}

/* Platforms of glibc versions above @a major.minor, up to the host's. */
static unsigned
count_newer(unsigned major, unsigned minor, unsigned glibc_major, unsigned glibc_minor)
{
	unsigned count = 0;
	for (unsigned m = major; m <= glibc_major; m++) {
		unsigned from = m == major ? minor + 1 : 0;
		count += count_platforms(m, from, m == glibc_major ? glibc_minor : LAST_GLIBC_MINOR);
	}
	return count;
}

/* A platform tag that glibc decides about. */
struct platform {
	unsigned major, minor; /* of glibc */
	bool legacy;           /* "manylinux2014", not "manylinux_2_17" */
};

static bool
read_platform(const char *tag, const struct ws_machine *machine, struct platform *platform)
{
	char again[64];
	for (size_t i = 0; i < WS_LEN(legacy_platforms); i++) {
		snprintf(again, sizeof(again), "%s_%s", legacy_platforms[i].name, machine->name);
		if (strcmp(tag, again) == 0) {
			*platform = (struct platform){2, legacy_platforms[i].minor, true};
			return true;
		}
	}
	*platform = (struct platform){0};
	if (sscanf(tag, "manylinux_%3u_%3u_", &platform->major, &platform->minor) != 2) {
		return false;
	}
	/* "manylinux_2_017_x86_64" is not a platform. */
	snprintf(again, sizeof(again), "manylinux_%u_%u_%s", platform->major, platform->minor,
		machine->name);
	return strcmp(tag, again) == 0;
}

/* Place of a platform among those of the host, 0 the newest; *count says how many there are. */
static unsigned
place_of_platform(const char *tag, const struct ws_machine *machine, unsigned glibc_major,
	unsigned glibc_minor, unsigned *count)
{
	unsigned oldest = oldest_minor(machine);
	unsigned manylinux = count_newer(2, oldest - 1, glibc_major, glibc_minor);
	*count = manylinux + 1;
	if (ws_starts_with(tag, "linux_") && strcmp(tag + strlen("linux_"), machine->name) == 0) {
		return manylinux;
	}
	struct platform p;
	if (!read_platform(tag, machine, &p) || p.major < 2 || (p.major == 2 && p.minor < oldest)
		|| p.major > glibc_major || (p.major == glibc_major && p.minor > glibc_minor)) {
		return NOWHERE;
	}
	return count_newer(p.major, p.minor, glibc_major, glibc_minor) + p.legacy;
}

/* The minor of "cp312" or "py312"; false for any other word. */
static bool
read_minor(const char *tag, const char *prefix, unsigned *minor)
{
	char again[16];
	if (strncmp(tag, prefix, 2) != 0 || tag[2] != '3' || sscanf(tag + 3, "%3u", minor) != 1) {
		return false;
	}
	snprintf(again, sizeof(again), "%s3%u", prefix, *minor);
	return strcmp(tag, again) == 0;
}

/* Place among py3N, py3, py3(N-1), ... py30. */
static unsigned
place_of_py(const char *tag, const struct ws_python_tag *python)
{
	unsigned minor;
	if (strcmp(tag, "py3") == 0) {
		return 1;
	}
	if (!read_minor(tag, "py", &minor) || minor > python->minor) {
		return NOWHERE;
	}
	return minor == python->minor ? 0 : 1 + python->minor - minor;
}

/* Place of "tag-abi" among those that are combined with every platform. */
static unsigned
place_of_pair(const char *tag, const char *abi, const struct ws_python_tag *python)
{
	const char *threads = python->free_threaded ? "t" : "";
	char own[16], stable[8];
	unsigned minor;
	snprintf(own, sizeof(own), "cp3%u%s", python->minor, threads);
	snprintf(stable, sizeof(stable), "abi3%s", threads);
	bool none = strcmp(abi, "none") == 0;
	if (!read_minor(tag, "cp", &minor)) {
		unsigned py = place_of_py(tag, python);
		return none && py != NOWHERE ? python->minor + 1 + py : NOWHERE;
	}
	if (minor == python->minor) {
		return strcmp(abi, own) == 0 ? 0 : strcmp(abi, stable) == 0 ? 1 : none ? 2 : NOWHERE;
	}
	if (minor > python->minor || minor < 2 || strcmp(abi, stable) != 0) {
		return NOWHERE;
	}
	return 2 + python->minor - minor;
}

/* Place of "tag-none-any" among its like. */
static unsigned
place_of_any(const char *tag, const char *abi, const struct ws_python_tag *python)
{
	unsigned minor;
	if (strcmp(abi, "none") != 0) {
		return NOWHERE;
	}
	if (read_minor(tag, "cp", &minor)) {
		return minor == python->minor ? 0 : NOWHERE;
	}
	unsigned py = place_of_py(tag, python);
	return py == NOWHERE ? NOWHERE : 1 + py;
}

static unsigned
lesser(unsigned x, unsigned y)
{
	return x < y ? x : y;
}

const struct ws_machine *
ws_wheel_name_machine(const struct ws_wheel_name *name)
{
	for (size_t i = 0; i < name->platform_count; i++) {
		for (const char *at = strchr(name->platforms[i], '_'); at; at = strchr(at + 1, '_')) {
			const struct ws_machine *machine = ws_machine_named(at + 1);
			if (machine) {
				return machine;
			}
		}
	}
	return NULL;
}

unsigned
ws_wheel_fit(const struct ws_wheel_name *name, const struct ws_python_tag *python,
	const struct ws_machine *machine, unsigned glibc_major, unsigned glibc_minor)
{
	if (python->major != 3 || python->minor < 2) {
		return 0;
	}
	unsigned platform = NOWHERE;
	unsigned platform_count = 1;
	bool has_any = false;
	for (size_t i = 0; i < name->platform_count; i++) {
		const char *text = name->platforms[i];
		platform = lesser(
			platform, place_of_platform(text, machine, glibc_major, glibc_minor, &platform_count));
		has_any = has_any || strcmp(text, "any") == 0;
	}
	unsigned pair = NOWHERE;
	unsigned any = NOWHERE;
	for (size_t i = 0; i < name->python_count * name->abi_count; i++) {
		const char *tag = name->pythons[i / name->abi_count];
		const char *abi = name->abis[i % name->abi_count];
		pair = lesser(pair, place_of_pair(tag, abi, python));
		any = lesser(any, place_of_any(tag, abi, python));
	}
	unsigned any_count = python->minor + 3;
	if (pair != NOWHERE && platform != NOWHERE) {
		unsigned pair_count = 2 * python->minor + 3;
		return any_count + (pair_count - pair) * platform_count - platform;
	}
	return has_any && any != NOWHERE ? any_count - any : 0;
}
