/* ask.c - what an interpreter says of itself: one question, answered in JSON, or, where it cannot
 * be run, the build-details.json beside it (PEP 739; every CPython from 3.14 on). Real files differ
 * from the PEP: abi.extension_suffix is missing without a shared libpython (Debian 3.14.10), so the
 * first of suffixes.extensions is used then. Which interpreters to ask is decided in find.c. */
#include "base/fs.h"
#include "base/json.h"
#include "kit/python/python.h"
#include "store/answer_cache.h"

#include <elf.h>

#include <fcntl.h>

/* ---- what every answer must hold, and build-details.json ---- */

/* The parts of an answer that are not copied into the kit as they are. */
struct reply {
	const char *path;              /* source of the answer, for messages */
	const char *implementation;    /* "cpython"; NULL: not said */
	const struct ws_json *version; /* major, minor, micro, releaselevel, serial */
	bool free_threaded;
	const char *multiarch; /* "x86_64-linux-gnu"; NULL or "": not said */
};

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
read_version(const struct reply *reply, struct ws_arena *a, struct ws_python_kit *kit)
{
	unsigned micro, serial = 0;
	if (!number_of(reply->version, "major", &kit->tag.major)
		|| !number_of(reply->version, "minor", &kit->tag.minor)
		|| !number_of(reply->version, "micro", &micro)) {
		return false;
	}
	kit->tag.free_threaded = reply->free_threaded;
	const char *level = level_letters(ws_json_text(reply->version, "releaselevel"));
	number_of(reply->version, "serial", &serial);
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

/* Fills tag, version and platform_include of @a kit, whose other members are set. Refuses what is
 * not CPython 3 and what lacks include or ext_suffix (WS_ERR_CONFIG). */
static bool
accept_answer(
	const struct reply *reply, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	if (!reply->implementation || !read_version(reply, a, kit)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' does not say which Python it is", reply->path);
	}
	if (strcmp(reply->implementation, "cpython") != 0 || kit->tag.major != 3) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is %s %s, not CPython 3", reply->path,
			reply->implementation, kit->version);
		return ws_err_cure(err, "torch has wheels for CPython only; name another interpreter");
	}
	if (!kit->include || kit->include[0] != '/' || !kit->ext_suffix
		|| !ws_ends_with(kit->ext_suffix, ".so")) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' does not say where its headers are or how its modules are called", reply->path);
	}
	kit->platform_include = find_platform_include(kit->include, reply->multiarch, a);
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

/* Reads a build-details.json of schema 1. */
static bool
read_details(const char *path, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const struct ws_json *root = doc.root;
	const char *schema = ws_json_text(root, "schema_version");
	if (!schema || (strcmp(schema, "1") != 0 && !ws_starts_with(schema, "1."))) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is not a build-details.json of schema 1 (PEP 739)", path);
	}
	const char *base = path_of(root, "base_prefix", ws_path_dir(a, path), a);
	base = base ? base : ws_path_dir(a, path);
	const struct ws_json *implementation = ws_json_find(root, "implementation");
	const struct ws_json *flags = ws_json_find(ws_json_find(root, "abi"), "flags");
	struct reply reply = {
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
	return accept_answer(&reply, a, kit, err);
}

/* ---- asking ---- */

/* Runs on Python 3.4 and newer with -I -S: neither the person's environment nor site-packages have
 * a say, and .pth files do not run. Before 3.14 -S hides a venv, so its folder is found by its
 * pyvenv.cfg (PEP 405). INCLUDEPY alone is not enough: relocated builds (uv's) keep the builder's.
 * A libpython that is mapped is what exports the symbols; Debian sets Py_ENABLE_SHARED and still
 * links its interpreter statically, so the variables do not tell. */
static const char question[] =
	"import json, os, sys, sysconfig\n"
	"def libpython():\n"
	"    try:\n"
	"        with open('/proc/self/maps') as maps:\n"
	"            for line in maps:\n"
	"                path = line.rstrip('\\n').split(None, 5)[5:]\n"
	"                if path and os.path.basename(path[0]).startswith('libpython'):\n"
	"                    return path[0]\n"
	"    except OSError:\n"
	"        pass\n"
	"    return os.path.realpath(sys.executable)\n"
	"def include():\n"
	"    folders = [sysconfig.get_path('include'), sysconfig.get_config_var('INCLUDEPY')]\n"
	"    for folder in folders:\n"
	"        if folder and os.path.exists(os.path.join(folder, 'Python.h')):\n"
	"            return folder\n"
	"    return folders[0]\n"
	"def purelib():\n"
	"    venv = os.path.dirname(os.path.dirname(os.path.abspath(sys.executable)))\n"
	"    if os.path.exists(os.path.join(venv, 'pyvenv.cfg')):\n"
	"        return sysconfig.get_path('purelib', 'posix_prefix', {'base': venv})\n"
	"    return sysconfig.get_path('purelib')\n"
	"print(json.dumps({\n"
	"    'implementation': sys.implementation.name,\n"
	"    'version': dict(zip(('major', 'minor', 'micro', 'releaselevel', 'serial'),\n"
	"        sys.version_info)),\n"
	"    'free_threaded': bool(sysconfig.get_config_var('Py_GIL_DISABLED')),\n"
	"    'executable': os.path.abspath(sys.executable),\n"
	"    'include': include(),\n"
	"    'multiarch': sysconfig.get_config_var('MULTIARCH') or '',\n"
	"    'ext_suffix': sysconfig.get_config_var('EXT_SUFFIX') or '',\n"
	"    'library': libpython(),\n"
	"    'purelib': purelib(),\n"
	"}))\n";

/* The variables that an interpreter gets. */
static const char *const *
vars_of(const struct ws_user_env *user, struct ws_arena *a)
{
	static const char *const kept[] = {
		"PATH", "HOME", "LD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"};
	const char **env = WS_NEW_N(a, const char *, WS_LEN(kept) + 2);
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(kept); i++) {
		const char *value = ws_user_env_get(user, kept[i]);
		if (value) {
			env[count++] = ws_arena_printf(a, "%s=%s", kept[i], value);
		}
	}
	env[count] = "LANG=C";
	return env;
}

static bool
run(struct ws_ledger *ledger, const char *const *argv, const char *const *env, struct ws_buf *out,
	struct ws_err *err)
{
	struct ws_child_order command = {
		.argv = argv,
		.env = env,
		.dir = ".", /* pyenv looks for .python-version from here upwards */
		.with_stderr = strcmp(argv[1], "-V") == 0,
	};
	return ws_answer_cache_ask(ledger, &command, out, err);
}

/* The machine of an interpreter; NULL: a script, or unknown. */
static const struct ws_machine *
machine_of(const char *path)
{
	Elf64_Ehdr head = {0};
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool elf = fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head)
		&& memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
	return elf ? ws_machine_of_elf(head.e_machine) : NULL;
}

/* Turns the failure of the question into what a person should know. */
static bool
explain(const char *path, const char *const *env, struct ws_err *err)
{
	if (!err) {
		return false;
	}
	const struct ws_machine *machine = machine_of(path);
	if (machine && machine != ws_machine_host()) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is for %s, and this host is %s", path, machine->name,
			ws_machine_host()->name);
		return ws_err_cure(
			err, "name a Python of this host: its headers serve for wheels of other machines too");
	}
	const char *const argv[] = {path, "-V", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (run(NULL, argv, env, &answer, NULL) && ws_starts_with(ws_buf_text(&answer), "Python 2.")) {
		struct ws_str line = ws_str_trim(ws_buf_str(&answer));
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is %.*s", path, WS_STR_ARGS(line));
		return ws_err_cure(err, "name a Python 3");
	}
	err->kind = WS_ERR_CONFIG;
	return ws_err_wrap(err, "'%s' does not answer like a Python interpreter", path);
}

/* The build-details.json of the interpreter's own prefix; NULL when there is none. Debian puts
 * flags and machine into the name: build-details..x86_64-linux-gnu.json; the shortest has the
 * fewest. */
static const char *
find_details(const char *path, struct ws_arena *a)
{
	WS_AUTO_FREE char *real = realpath(path, NULL);
	if (!real) {
		return NULL;
	}
	const char *prefix = ws_path_dir(a, ws_path_dir(a, real));
	const char *folder = ws_path_join(a, prefix, "lib", ws_path_base(real), NULL);
	WS_AUTO_DIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	const char *best = NULL;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		if (ws_starts_with(name, "build-details.") && ws_ends_with(name, ".json")
			&& (!best || strlen(name) < strlen(best))) {
			best = ws_arena_strdup(a, name);
		}
	}
	return best ? ws_path_join(a, folder, best, NULL) : NULL;
}

static const char *
text_of(const struct ws_json *answer, const char *key, struct ws_arena *a)
{
	const char *text = ws_json_text(answer, key);
	return text && text[0] ? ws_arena_strdup(a, text) : NULL;
}

static bool
read_answer(const char *path, const char *const *env, const struct ws_buf *text, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_parse(path, ws_buf_text(text), text->len, WS_JSON_STRICT, a, &doc, err)) {
		return explain(path, env, err);
	}
	struct reply reply = {
		.path = path,
		.implementation = ws_json_text(doc.root, "implementation"),
		.version = ws_json_find(doc.root, "version"),
		.free_threaded = ws_json_is_true(doc.root, "free_threaded"),
		.multiarch = ws_json_text(doc.root, "multiarch"),
	};
	*kit = (struct ws_python_kit){
		.interpreter = text_of(doc.root, "executable", a),
		.include = text_of(doc.root, "include", a),
		.ext_suffix = text_of(doc.root, "ext_suffix", a),
		.library = text_of(doc.root, "library", a),
		.purelib = text_of(doc.root, "purelib", a),
		.env = env,
	};
	return accept_answer(&reply, a, kit, err);
}

bool
ws_python_ask(const struct ws_user_env *env, const char *path, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	if (ws_ends_with(path, ".json")) {
		return read_details(path, a, kit, err);
	}
	const char *const argv[] = {path, "-I", "-S", "-c", question, NULL};
	const char *const *vars = vars_of(env, a);
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (run(env ? env->ledger : NULL, argv, vars, &answer, err)) {
		return read_answer(path, vars, &answer, a, kit, err);
	}
	const char *details = find_details(path, a);
	return details ? read_details(details, a, kit, err) : explain(path, vars, err);
}
