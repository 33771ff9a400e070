/**
 * python.h - a Python to build for: its headers, tag and module suffix
 *
 * Found on PATH and among the versions of pyenv, or named by a path. uv and the manylinux images
 * put their Pythons on PATH. The interpreter is asked once; build-details.json (PEP 739) replaces
 * the answer of an interpreter that cannot be run. The include folder is copied to a tree, so
 * Pythons whose headers a unit never reads share its object. CPython 3 only: Python 2, PyPy and
 * others are refused by name.
 */
#ifndef WS_KIT_PYTHON_PYTHON_H
#define WS_KIT_PYTHON_PYTHON_H

#include "model/wheel_name.h"
#include "store/tree.h"

struct ws_host;

struct ws_python_kit {
	struct ws_python_tag tag;
	const char *version;          /**< "3.11.7", "3.15.0b2" */
	const char *interpreter;      /**< absolute; NULL when only build-details.json was there */
	const char *include;          /**< folder with Python.h, where it is installed */
	const char *platform_include; /**< Debian's second folder with pyconfig.h; NULL: none */
	const char *ext_suffix;       /**< ".cpython-311-x86_64-linux-gnu.so" */
	/** The file with Python's symbols: the libpython, else the interpreter. NULL: unknown. */
	const char *library;
	const char *purelib; /**< site-packages, a venv's own; NULL when not known */
	/**
	 * The environment of the interpreter, NULL-terminated: LANG=C, and the variables that a shim of
	 * pyenv or an interpreter outside the linker's folders needs. NULL: it was not asked.
	 */
	const char *const *env;
	struct ws_tree tree; /**< include/ with all headers; filled by ws_python_open */
};

typedef WS_VEC(struct ws_python_kit) ws_python_list;

/**
 * Every interpreter there is, for `doctor` and for messages, each real file once, by tag and then
 * oldest first. Only tag, version and interpreter are filled. One whose folder says its version is
 * not started.
 */
void ws_python_list_all(const struct ws_user_env *env, struct ws_arena *a, ws_python_list *list);

/**
 * The newest patch release of this tag, one with headers before one without. When there is none:
 * WS_ERR_CONFIG naming those there are.
 */
bool ws_python_find(const struct ws_user_env *env, const struct ws_python_tag *tag,
	struct ws_arena *a, struct ws_python_kit *kit, struct ws_err *err);

/** The python3 that a person who types it gets. */
bool ws_python_find_host(const struct ws_user_env *env, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err);

/**
 * The interpreter that a person means: at @a path when it is not NULL, else the host's own with @a
 * host, else the best for @a tag.
 */
bool ws_python_find_meant(const struct ws_user_env *env, const char *path, bool host,
	const struct ws_python_tag *tag, struct ws_arena *a, struct ws_python_kit *kit,
	struct ws_err *err);

/**
 * Asks the interpreter at @a path, or reads a build-details.json there; fills all but tree. An
 * interpreter that cannot be run is looked up in the build-details.json of its own folders. It sees
 * of @a env what decides which Python a shim starts: PATH, HOME, LD_LIBRARY_PATH, PYENV_*.
 */
bool ws_python_ask(const struct ws_user_env *env, const char *path, struct ws_arena *a,
	struct ws_python_kit *kit, struct ws_err *err);

/** Headers that are not installed are WS_ERR_BUILD with the package of @a host to install. */
bool ws_python_check_headers(
	const struct ws_python_kit *kit, const struct ws_host *host, struct ws_err *err);

/**
 * Fills tree, whose name is "python-3.11.7" or "python-3.13.1t". Debian's second folder stands
 * below include/ by the name under which pyconfig.h includes it. Headers must be there. One whose
 * modules are called otherwise than its tag implies (a debug build, musl) is WS_ERR_CONFIG.
 */
bool ws_python_open(const struct ws_store *store, const struct ws_host *host,
	struct ws_python_kit *kit, struct ws_arena *a, struct ws_err *err);

#endif
