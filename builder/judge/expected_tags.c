/* expected_tags.c - machine, glibc, Python and stable ABI: tags beside what was read. PEP 425, 600
 * and 656; the suffixes are CPython's EXTENSION_SUFFIXES. */
#include "judge/wheel_facts.h"

static bool
is_made_for(const struct ws_module_facts *m)
{
	return ws_same(m->machine, "x86-64") || ws_same(m->machine, "aarch64");
}

static const char *
machine_of_tag(const char *platform)
{
	static const struct {
		const char *suffix, *machine;
	} machines[] = {{"_x86_64", "x86-64"}, {"_aarch64", "aarch64"}, {"_i686", "x86"},
		{"_ppc64le", "ppc64le"}, {"_arm64", "Mach-O"}, {"win_amd64", "Windows"}};
	for (size_t i = 0; i < WS_LEN(machines); i++) {
		if (ws_ends_with(platform, machines[i].suffix)) {
			return ws_starts_with(platform, "macosx_") ? "Mach-O" : machines[i].machine;
		}
	}
	return NULL;
}

/* The glibc that a tag promises to be enough. False: it promises none. */
static bool
glibc_of_tag(const char *platform, unsigned *major, unsigned *minor)
{
	static const struct {
		const char *start;
		unsigned minor;
	} old[] = {{"manylinux1_", 5}, {"manylinux2010_", 12}, {"manylinux2014_", 17}};
	*major = 2;
	for (size_t i = 0; i < WS_LEN(old); i++) {
		if (ws_starts_with(platform, old[i].start)) {
			*minor = old[i].minor;
			return true;
		}
	}
	return sscanf(platform, "manylinux_%u_%u_", major, minor) == 2;
}

/* A tag promises one glibc for all modules: the first that asks for more, and how many do. */
static void
check_glibc(struct ws_wheel_facts *facts, const char *platform)
{
	unsigned major, minor;
	size_t count = 0;
	const struct ws_module_facts *first = NULL;
	if (!glibc_of_tag(platform, &major, &minor)) {
		return;
	}
	for (size_t i = 0; i < facts->module_count; i++) {
		const struct ws_module_facts *m = &facts->modules[i];
		if (is_made_for(m) && !m->refused && !ws_floor_fits_glibc(&m->floor, major, minor)) {
			first = first ? first : m;
			count++;
		}
	}
	if (first) {
		ws_wheel_problem_add(facts, "module",
			"the file name has %s, glibc %u.%u; %zu of %zu libraries need more, '%s' for %s",
			platform, major, minor, count, facts->module_count, first->name,
			first->floor.dt_relr ? "2.36" : first->floor.asked[WS_FLOOR_GLIBC].text);
	}
}

static void
check_abi3(struct ws_wheel_facts *facts, const struct ws_module_facts *m)
{
	const struct ws_wheel_name *name = facts->name;
	struct ws_python_tag oldest = {0}, tag;
	bool tagged = name && ws_is_among("abi3", name->abis, name->abi_count);
	if (!tagged && !ws_same(m->python_suffix, "abi3")) {
		return;
	}
	/* The oldest Python that the tags let it be installed in: 3.9 of cp39-abi3. */
	for (size_t i = 0; tagged && i < name->python_count; i++) {
		if (ws_python_tag_parse(name->pythons[i], &tag)
			&& (oldest.major == 0 || tag.minor < oldest.minor)) {
			oldest = tag;
		}
	}
	const char *first = oldest.major ? ws_python_version_text(&oldest, facts->problems.a) : NULL;
	if (m->python == WS_PYTHON_VERSION && m->python_outside_count > 0) {
		ws_wheel_problem_add(facts, "module",
			"'%s' does not keep to the stable ABI: %s and %zu more names are outside of it",
			m->name, m->python_outside[0], m->python_outside_count - 1);
	} else if (m->python_since && first && strverscmp(m->python_since, first) > 0) {
		ws_wheel_problem_add(facts, "module",
			"'%s' wants the stable ABI of Python %s; its tags say %s", m->name, m->python_since,
			first);
	}
}

static void
check_module(struct ws_wheel_facts *facts, const struct ws_module_facts *m)
{
	const struct ws_wheel_name *name = facts->name;
	const char *suffix = m->python_suffix;
	if (!m->machine) {
		ws_wheel_problem_add(
			facts, "module", "'%s' is called a library and is not one of any machine", m->name);
		return;
	}
	bool foreign = false;
	for (size_t i = 0; name && i < name->platform_count; i++) {
		const char *platform = name->platforms[i], *machine = machine_of_tag(platform);
		if (ws_same(platform, "any")) {
			ws_wheel_problem_add(facts, "module",
				"'%s' is a library; the file name has the platform 'any'", m->name);
		} else if (machine && !ws_same(machine, m->machine)) {
			ws_wheel_problem_add(facts, "module", "'%s' is for %s; the file name has %s", m->name,
				m->machine, platform);
			foreign = true;
		}
	}
	/* A file for another machine or format was reported above; a program may be static. */
	if (m->refused && !foreign && is_made_for(m) && ws_module_is_named(m->name)) {
		ws_wheel_problem_add(facts, "module", "%s", m->refused);
	}
	/* "cp312" in a wheel for cp311 alone. A wheel of several Pythons has one for each. */
	if (name && suffix && name->abi_count == 1 && ws_starts_with(name->abis[0], "cp")
		&& ws_starts_with(suffix, "cp") && !ws_same(suffix, name->abis[0])) {
		ws_wheel_problem_add(facts, "module", "'%s' is for %s; the file name has %s", m->name,
			suffix, name->abis[0]);
	}
	check_abi3(facts, m);
}

void
ws_expected_tags_check(struct ws_wheel_facts *facts)
{
	const struct ws_floor *highest = NULL;
	bool all = true;
	for (size_t i = 0; i < facts->module_count; i++) {
		const struct ws_module_facts *m = &facts->modules[i];
		all = all && is_made_for(m) && !m->refused
			&& m->floor.machine == facts->modules[0].floor.machine;
		highest = !highest || m->floor.policy > highest->policy ? &m->floor : highest;
		check_module(facts, m);
	}
	facts->platform = highest && all ? ws_floor_tag(highest) : NULL;
	for (size_t i = 0; facts->name && i < facts->name->platform_count; i++) {
		check_glibc(facts, facts->name->platforms[i]);
	}
	if (facts->module_count > 0 && facts->kind != WS_FACTS_LIBRARY && facts->wheel
		&& facts->wheel->purelib) {
		ws_wheel_problem_add(facts, "WHEEL", "Root-Is-Purelib is true, and it has %zu libraries",
			facts->module_count);
	}
}
