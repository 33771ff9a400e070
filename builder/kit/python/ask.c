/* ask.c - what an interpreter says of itself: one question, answered in JSON, or, where it cannot
 * be run, the build-details.json beside it (PEP 739; every CPython from 3.14 on). Real files differ
 * from the PEP: abi.extension_suffix is missing without a shared libpython (Debian 3.14.10), so the
 * first of suffixes.extensions is used then. Which interpreters to ask is decided in find.c. */
#include "base/fs.h"
#include "base/table.h"
#include "kit/python/python.h"
#include "store/answer_cache.h"

#include <elf.h>

#include <fcntl.h>

/* ---- the two kinds of answers ---- */

/* Members of a kind that has no such key are NULL or 0. */
struct reply {
	const char *implementation; /* "cpython" */
	unsigned major, minor, micro, serial;
	const char *level; /* of sys.version_info.releaselevel: "candidate" */
	bool free_threaded;
	const char *multiarch; /* "x86_64-linux-gnu"; NULL or "": not said */
	const char *executable, *include, *ext_suffix, *library, *purelib;
	/* In build-details.json only. */
	const char *schema, *base, *interpreter;
	const char *const *flags, *const *suffixes;
	size_t flag_count, suffix_count;
};

static const struct ws_field version_fields[] = {
	WS_VALUE("major", struct reply, major, WS_ALWAYS, NULL),
	WS_VALUE("minor", struct reply, minor, WS_ALWAYS, NULL),
	WS_VALUE("micro", struct reply, micro, WS_ALWAYS, NULL),
	WS_VALUE("releaselevel", struct reply, level, WS_FIELD_NULL, NULL),
	WS_VALUE("serial", struct reply, serial, WS_FIELD_NULL, NULL),
};
static const struct ws_table version_table = {NULL, version_fields, WS_LEN(version_fields)};

/* An answer to the question below. */
static const struct ws_field answer_fields[] = {
	WS_VALUE("implementation", struct reply, implementation, WS_ALWAYS, NULL),
	WS_PART("version", version_table, WS_ALWAYS, NULL),
	WS_VALUE("free_threaded", struct reply, free_threaded, WS_FIELD_NULL, NULL),
	WS_VALUE("executable", struct reply, executable, WS_FIELD_NULL, NULL),
	WS_VALUE("include", struct reply, include, WS_FIELD_NULL, NULL),
	WS_VALUE("multiarch", struct reply, multiarch, WS_FIELD_NULL, NULL),
	WS_VALUE("ext_suffix", struct reply, ext_suffix, WS_FIELD_NULL, NULL),
	WS_VALUE("library", struct reply, library, WS_FIELD_NULL, NULL),
	WS_VALUE("purelib", struct reply, purelib, WS_FIELD_NULL, NULL),
};
static const struct ws_table answer_table = {NULL, answer_fields, WS_LEN(answer_fields)};

/* A build-details.json (PEP 739). */
static const struct ws_field implementation_fields[] = {
	WS_VALUE("name", struct reply, implementation, WS_ALWAYS, NULL),
	WS_PART("version", version_table, WS_ALWAYS, NULL),
	WS_VALUE("_multiarch", struct reply, multiarch, WS_FIELD_NULL, NULL),
};
static const struct ws_table implementation_table = {
	NULL, implementation_fields, WS_LEN(implementation_fields)};
static const struct ws_field abi_fields[] = {
	WS_LIST("flags", struct reply, flags, flag_count, WS_FIELD_NULL, NULL),
	WS_VALUE("extension_suffix", struct reply, ext_suffix, WS_FIELD_NULL, NULL),
};
static const struct ws_table abi_table = {NULL, abi_fields, WS_LEN(abi_fields)};
static const struct ws_field suffixes_field =
	WS_LIST("extensions", struct reply, suffixes, suffix_count, WS_FIELD_NULL, NULL);
static const struct ws_table suffixes_table = {NULL, &suffixes_field, 1};
static const struct ws_field libpython_field =
	WS_VALUE("dynamic", struct reply, library, WS_FIELD_NULL, NULL);
static const struct ws_table libpython_table = {NULL, &libpython_field, 1};
static const struct ws_field c_api_field =
	WS_VALUE("headers", struct reply, include, WS_FIELD_NULL, NULL);
static const struct ws_table c_api_table = {NULL, &c_api_field, 1};
static const struct ws_field details_fields[] = {
	WS_VALUE("schema_version", struct reply, schema, WS_ALWAYS, NULL),
	WS_VALUE("base_prefix", struct reply, base, WS_FIELD_NULL, NULL),
	WS_VALUE("base_interpreter", struct reply, interpreter, WS_FIELD_NULL, NULL),
	WS_PART("implementation", implementation_table, WS_ALWAYS, NULL),
	WS_PART("abi", abi_table, WS_FIELD_NULL, NULL),
	WS_PART("suffixes", suffixes_table, WS_FIELD_NULL, NULL),
	WS_PART("libpython", libpython_table, WS_FIELD_NULL, NULL),
	WS_PART("c_api", c_api_table, WS_FIELD_NULL, NULL),
};
static const struct ws_table details_table = {NULL, details_fields, WS_LEN(details_fields)};

/* Refuses what is not CPython 3 and what lacks include or ext_suffix (WS_ERR_CONFIG). @a path is
 * the source of the answer, for messages. */
static bool
accept_answer(const char *path, const struct reply *reply, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	static const char *const levels[][2] = {{"alpha", "a"}, {"beta", "b"}, {"candidate", "rc"}};
	const char *version = ws_arena_printf(a, "%u.%u.%u", reply->major, reply->minor, reply->micro);
	for (size_t i = 0; i < WS_LEN(levels); i++) {
		if (ws_same(reply->level, levels[i][0])) {
			version = ws_arena_printf(a, "%s%s%u", version, levels[i][1], reply->serial);
		}
	}
	if (strcmp(reply->implementation, "cpython") != 0 || reply->major != 3) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is %s %s, not CPython 3", path, reply->implementation,
			version);
		return ws_err_cure(err, "torch has wheels for CPython only; name another interpreter");
	}
	if (!reply->include || reply->include[0] != '/' || !reply->ext_suffix
		|| !ws_ends_with(reply->ext_suffix, ".so")) {
		return ws_err_set(err, WS_ERR_CONFIG,
			"'%s' does not say where its headers are or how its modules are called", path);
	}
	*kit = (struct ws_python_kit){
		.tag = {reply->major, reply->minor, reply->free_threaded},
		.version = version,
		.interpreter = reply->executable,
		.include = reply->include,
		.ext_suffix = reply->ext_suffix,
		.library = reply->library,
		.purelib = reply->purelib,
	};
	if (reply->multiarch && ws_path_is_inside(reply->multiarch)) {
		/* Debian's pyconfig.h includes <x86_64-linux-gnu/python3.11/pyconfig.h>. */
		const char *folder = ws_path_join(a, ws_path_dir(a, reply->include), reply->multiarch,
			ws_path_base(reply->include), NULL);
		kit->platform_include = ws_fs_is_dir(folder) ? folder : NULL;
	}
	return true;
}

static bool
fail_unknown(const char *path, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_CONFIG, "'%s' does not say which Python it is", path);
}

/* A path of the file, absolute or relative to @a base; NULL when it is not there. */
static const char *
path_of(const char *text, const char *base, struct ws_arena *a)
{
	return text && text[0] ? ws_path_normal(a, ws_path_join(a, base, text, NULL)) : NULL;
}

/* Reads a build-details.json of schema 1. */
static bool
read_details(const char *path, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct reply reply = {0};
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	if (!ws_table_read(&doc, doc.root, &details_table, a, &reply, NULL)) {
		return fail_unknown(path, err);
	}
	if (strcmp(reply.schema, "1") != 0 && !ws_starts_with(reply.schema, "1.")) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' is not a build-details.json of schema 1 (PEP 739)", path);
	}
	const char *folder = ws_path_dir(a, path), *base = path_of(reply.base, folder, a);
	base = base ? base : folder;
	reply.include = path_of(reply.include, base, a);
	reply.free_threaded = ws_is_among("t", reply.flags, reply.flag_count);
	reply.ext_suffix =
		!reply.ext_suffix && reply.suffix_count > 0 ? reply.suffixes[0] : reply.ext_suffix;
	/* The shared libpython that extensions would find, else the interpreter; only what is there. */
	reply.library = path_of(reply.library, base, a);
	if (!reply.library || !ws_fs_exists(reply.library)) {
		reply.library = path_of(reply.interpreter, base, a);
	}
	reply.library = reply.library && ws_fs_exists(reply.library) ? reply.library : NULL;
	return accept_answer(path, &reply, a, kit, err);
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

/* Turns the failure of the question into what a person should know. */
static bool
explain(const char *path, const char *const *env, struct ws_err *err)
{
	if (!err) {
		return false;
	}
	/* A script has no machine. */
	Elf64_Ehdr head = {0};
	WS_AUTO_FD int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool elf = fd >= 0 && pread(fd, &head, sizeof(head), 0) == sizeof(head)
		&& memcmp(head.e_ident, ELFMAG, SELFMAG) == 0;
	const struct ws_machine *machine = elf ? ws_machine_of_elf(head.e_machine) : NULL;
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

bool
ws_python_ask(const struct ws_user_env *env, const char *path, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	static const char *const kept[] = {
		"PATH", "HOME", "LD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"};
	if (ws_ends_with(path, ".json")) {
		return read_details(path, a, kit, err);
	}
	const char *const argv[] = {path, "-I", "-S", "-c", question, NULL};
	const char **vars = WS_NEW_N(a, const char *, WS_LEN(kept) + 2);
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(kept); i++) {
		const char *value = ws_user_env_get(env, kept[i]);
		if (value) {
			vars[count++] = ws_arena_printf(a, "%s=%s", kept[i], value);
		}
	}
	vars[count] = "LANG=C";
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (!run(env ? env->ledger : NULL, argv, vars, &answer, err)) {
		const char *details = find_details(path, a);
		return details ? read_details(details, a, kit, err) : explain(path, vars, err);
	}
	struct ws_json_doc doc;
	struct reply reply = {0};
	if (!ws_json_parse(path, ws_buf_text(&answer), answer.len, WS_JSON_STRICT, a, &doc, err)) {
		return explain(path, vars, err);
	}
	if (!ws_table_read(&doc, doc.root, &answer_table, a, &reply, NULL)) {
		return fail_unknown(path, err);
	}
	bool fine = accept_answer(path, &reply, a, kit, err);
	kit->env = fine ? vars : NULL;
	return fine;
}
