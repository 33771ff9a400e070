/* ask.c - one question to an interpreter, answered in JSON. Which interpreters to ask is
 * find.c's; an answer without running anything is details.c's. */
#include "base/fs.h"
#include "base/json.h"
#include "base/str.h"
#include "kit/python/details.h"
#include "kit/python/python.h"
#include "sys/capture.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>

/* Runs on Python 3.4 and newer with -I -S: neither the person's environment nor site-packages have a
 * say, and .pth files do not run. That leaves a venv unseen before 3.14, so its folder is told by its
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

const char *const *
ws_python_env(struct ws_arena *a)
{
	static const char *const kept[] = {
		"PATH", "HOME", "LD_LIBRARY_PATH", "PYENV_ROOT", "PYENV_VERSION"};
	const char **env = WS_NEW_N(a, const char *, WS_LEN(kept) + 2);
	size_t count = 0;
	for (size_t i = 0; i < WS_LEN(kept); i++) {
		const char *value = getenv(kept[i]);
		if (value) {
			env[count++] = ws_arena_printf(a, "%s=%s", kept[i], value);
		}
	}
	env[count] = "LANG=C";
	return env;
}

static bool
run(const char *const *argv, struct ws_arena *a, struct ws_buf *out, struct ws_err *err)
{
	struct ws_capture command = {
		.argv = argv,
		.env = ws_python_env(a),
		.dir = ".", /* pyenv looks for .python-version from here upwards */
		.with_stderr = strcmp(argv[1], "-V") == 0,
	};
	return ws_capture_run(&command, out, err);
}

/* Turns the failure of the question into what a person should know. */
static bool
explain(const char *path, struct ws_arena *a, struct ws_err *err)
{
	if (!err) {
		return false;
	}
	const char *const argv[] = {path, "-V", NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (run(argv, a, &answer, NULL) && ws_starts_with(ws_buf_text(&answer), "Python 2.")) {
		struct ws_str line = ws_str_trim(ws_buf_str(&answer));
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is %.*s", path, WS_STR_ARGS(line));
		return ws_err_cure(err, "name a Python 3");
	}
	err->kind = WS_ERR_CONFIG;
	return ws_err_wrap(err, "'%s' does not answer as a Python does", path);
}

/* The build-details.json of the interpreter's own prefix; NULL when there is none. Debian puts flags
 * and machine into the name: build-details..x86_64-linux-gnu.json; the shortest has the fewest. */
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
read_answer(const char *path, const struct ws_buf *text, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_parse(path, ws_buf_text(text), text->len, WS_JSON_STRICT, a, &doc, err)) {
		return explain(path, a, err);
	}
	const struct ws_json *free_threaded = ws_json_find(doc.root, "free_threaded");
	struct ws_python_said said = {
		.path = path,
		.implementation = ws_json_text(doc.root, "implementation"),
		.version = ws_json_find(doc.root, "version"),
		.free_threaded = free_threaded && free_threaded->truth,
		.multiarch = ws_json_text(doc.root, "multiarch"),
	};
	*kit = (struct ws_python_kit){
		.interpreter = text_of(doc.root, "executable", a),
		.include = text_of(doc.root, "include", a),
		.ext_suffix = text_of(doc.root, "ext_suffix", a),
		.library = text_of(doc.root, "library", a),
		.purelib = text_of(doc.root, "purelib", a),
	};
	return ws_python_accept(&said, a, kit, err);
}

bool
ws_python_ask(const char *path, struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err)
{
	if (ws_ends_with(path, ".json")) {
		return ws_python_read_details(path, a, kit, err);
	}
	const char *const argv[] = {path, "-I", "-S", "-c", question, NULL};
	WS_AUTO_BUF struct ws_buf answer = {0};
	if (run(argv, a, &answer, err)) {
		return read_answer(path, &answer, a, kit, err);
	}
	const char *details = find_details(path, a);
	return details ? ws_python_read_details(details, a, kit, err) : explain(path, a, err);
}
