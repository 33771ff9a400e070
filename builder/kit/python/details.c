/* details.c - PEP 739's build-details.json, in every CPython from 3.14 on. Real files differ
 * from the PEP: abi.extension_suffix is missing when there is no shared libpython (Debian's 3.14.10),
 * so the first of suffixes.extensions serves as well. */
#include "kit/python/details.h"

#include "base/fs.h"

#include <string.h>

static bool
number_of(const struct ws_json *version, const char *key, unsigned *number)
{
	uint64_t value;
	if (!ws_json_u64(version, key, &value) || value > 999) {
		return false;
	}
	*number = (unsigned)value;
	return true;
}

/* "a", "b", "rc" of sys.version_info.releaselevel; "" for a final release. */
static const char *
level_letters(const char *level)
{
	return !level                         ? ""
		: strcmp(level, "alpha") == 0     ? "a"
		: strcmp(level, "beta") == 0      ? "b"
		: strcmp(level, "candidate") == 0 ? "rc"
										  : "";
}

static bool
read_version(const struct ws_python_said *said, struct ws_arena *a, struct ws_python_kit *kit)
{
	unsigned micro, serial = 0;
	if (!number_of(said->version, "major", &kit->tag.major)
		|| !number_of(said->version, "minor", &kit->tag.minor)
		|| !number_of(said->version, "micro", &micro)) {
		return false;
	}
	kit->tag.free_threaded = said->free_threaded;
	const char *level = level_letters(ws_json_text(said->version, "releaselevel"));
	number_of(said->version, "serial", &serial);
	kit->version = ws_arena_printf(a, "%u.%u.%u", kit->tag.major, kit->tag.minor, micro);
	if (level[0]) {
		kit->version = ws_arena_printf(a, "%s%s%u", kit->version, level, serial);
	}
	return true;
}

/* Debian's pyconfig.h includes <x86_64-linux-gnu/python3.11/pyconfig.h>. */
static const char *
find_platform_include(const char *include, const char *multiarch, struct ws_arena *a)
{
	if (!multiarch || !multiarch[0] || !ws_path_is_inside(multiarch)) {
		return NULL;
	}
	const char *folder =
		ws_path_join(a, ws_path_dir(a, include), multiarch, ws_path_base(include), NULL);
	return ws_fs_is_dir(folder) ? folder : NULL;
}

bool
ws_python_accept(const struct ws_python_said *said, struct ws_arena *a, struct ws_python_kit *kit,
	struct ws_err *err)
{
	if (!said->implementation || !read_version(said, a, kit)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' does not say which Python it is", said->path);
	}
	if (strcmp(said->implementation, "cpython") != 0 || kit->tag.major != 3) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is %s %s, not CPython 3", said->path,
			said->implementation, kit->version);
		return ws_err_cure(err, "torch has wheels for CPython only; name another interpreter");
	}
	if (!kit->include || kit->include[0] != '/' || !kit->ext_suffix
		|| !ws_ends_with(kit->ext_suffix, ".so")) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' does not say where its headers are or how its modules are called", said->path);
	}
	kit->platform_include = find_platform_include(kit->include, said->multiarch, a);
	return true;
}

/* A path of the file, absolute or relative to @a base; NULL when it is not there. */
static const char *
path_of(const struct ws_json *object, const char *key, const char *base, struct ws_arena *a)
{
	const char *text = ws_json_text(object, key);
	return text && text[0] ? ws_path_normal(a, ws_path_join(a, base, text, NULL)) : NULL;
}

static bool
has_text(const struct ws_json *list, const char *text)
{
	for (WS_JSON_EACH(child, list)) {
		if (ws_same(child->text, text)) {
			return true;
		}
	}
	return false;
}

static const char *
extension_suffix(const struct ws_json *root, struct ws_arena *a)
{
	const char *suffix = ws_json_text(ws_json_find(root, "abi"), "extension_suffix");
	const struct ws_json *all = ws_json_find(ws_json_find(root, "suffixes"), "extensions");
	if (!suffix && all && all->first) {
		suffix = all->first->text;
	}
	return ws_arena_strdup(a, suffix);
}

/* The shared libpython that extensions would find, else the interpreter; only what is there. */
static const char *
exporting_file(const struct ws_json *root, const char *base, struct ws_arena *a)
{
	const char *dynamic = path_of(ws_json_find(root, "libpython"), "dynamic", base, a);
	if (dynamic && ws_fs_exists(dynamic)) {
		return dynamic;
	}
	const char *interpreter = path_of(root, "base_interpreter", base, a);
	return interpreter && ws_fs_exists(interpreter) ? interpreter : NULL;
}

bool
ws_python_read_details(
	const char *path, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const struct ws_json *root = doc.root;
	const char *schema = ws_json_text(root, "schema_version");
	if (!schema || (strcmp(schema, "1") != 0 && !ws_starts_with(schema, "1."))) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is no build-details.json of schema 1 (PEP 739)", path);
	}
	const char *base = path_of(root, "base_prefix", ws_path_dir(a, path), a);
	base = base ? base : ws_path_dir(a, path);
	const struct ws_json *implementation = ws_json_find(root, "implementation");
	const struct ws_json *flags = ws_json_find(ws_json_find(root, "abi"), "flags");
	struct ws_python_said said = {
		.path = path,
		.implementation = ws_json_text(implementation, "name"),
		.version = ws_json_find(implementation, "version"),
		.free_threaded = flags && has_text(flags, "t"),
		.multiarch = ws_json_text(implementation, "_multiarch"),
	};
	*kit = (struct ws_python_kit){
		.include = path_of(ws_json_find(root, "c_api"), "headers", base, a),
		.ext_suffix = extension_suffix(root, a),
		.library = exporting_file(root, base, a),
	};
	return ws_python_accept(&said, a, kit, err);
}
