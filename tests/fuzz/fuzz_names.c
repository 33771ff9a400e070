/* fuzz_names.c - any text as a version, a specifier set, a wheel's name and an arch set: a normal
 * form is its own normal form, and a version is in the sets that name it. */
#include "model/wheel_name.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len);

static void
need(bool truth)
{
	if (!truth) {
		abort();
	}
}

static void
try_version(const char *text, struct ws_arena *a)
{
	struct ws_version version, again;
	if (!ws_version_parse(text, a, &version)) {
		return;
	}
	need(ws_version_parse(version.text, a, &again));
	need(strcmp(version.text, again.text) == 0 && ws_version_cmp(&version, &again) == 0);
	const char *exact = ws_arena_printf(a, "==%s,<=%s", version.text, version.public_text);
	const struct ws_specifiers *set = ws_specifiers_parse(exact, a);
	need(set && ws_specifiers_contain(set, &version, true));
	const char *beside = ws_arena_printf(a, "!=%s", version.text);
	need(!ws_specifiers_contain(ws_specifiers_parse(beside, a), &version, true));
}

static void
try_set(const char *text, struct ws_arena *a)
{
	const struct ws_specifiers *set = ws_specifiers_parse(text, a);
	struct ws_version version;
	if (set && ws_version_parse("1.5", a, &version)) {
		const struct ws_specifiers *again = ws_specifiers_parse(ws_specifiers_text(set), a);
		need(again && strcmp(ws_specifiers_text(set), ws_specifiers_text(again)) == 0);
		need(ws_specifiers_contain(set, &version, true)
			== ws_specifiers_contain(again, &version, true));
	}
}

static void
try_wheel(const char *text, struct ws_arena *a)
{
	struct ws_wheel_name name;
	struct ws_python_tag python;
	const char *why = NULL;
	if (!ws_wheel_name_parse(text, a, &name, &why)) {
		need(why != NULL);
		return;
	}
	struct ws_wheel_label label = ws_wheel_label_read(name.version.local, a);
	need(label.cxx11abi >= -1 && label.cxx11abi <= 1);
	if (ws_python_tag_parse(name.abis[0], &python)) {
		ws_wheel_fit(&name, &python, ws_machine_host(), 2, 28);
	}
}

static void
try_archs(const char *text, struct ws_arena *a)
{
	struct ws_arch_set set, again;
	const char *why = NULL;
	if (!ws_arch_set_parse(text, a, &set, &why)) {
		need(why != NULL);
		return;
	}
	need(ws_arch_set_parse(ws_arch_set_text(&set, a), a, &again, &why));
	need(ws_arch_set_eq(&set, &again));
}

int
LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char *text = ws_arena_copy(a, (const char *)bytes, len);
	try_version(text, a);
	try_set(text, a);
	try_wheel(text, a);
	try_archs(text, a);
	return 0;
}
