/* test_kit_python.c - asking interpreters and finding them. Versions that this host does not have
 * are shell scripts that answer the question as a Python does. */
#include "test.h"

#include "base/fs.h"
#include "kit/python/python.h"
#include "sys/child.h"

/* A line is added to @a root/asked each time it is asked; its headers are beside it if @a
 * headers. */
static const char *
add_python(
	struct ws_arena *a, const char *root, const char *below, const char *version, bool headers)
{
	struct ws_python_tag tag;
	const char *number = strrchr(version, '.') + 1;
	const char *plain =
		ws_ends_with(version, "t") ? ws_arena_copy(a, version, strlen(version) - 1) : version;
	bool threads = plain != version;
	assert_true(ws_python_tag_parse(plain, &tag));
	const char *path = ws_path_join(a, root, below, NULL);
	const char *include = ws_arena_printf(a, "%s.include", path);
	if (headers) {
		ws_test_file(a, include, "Python.h", "", 0644);
	}
	const char *text = ws_arena_printf(a,
		"#!/bin/sh\necho %s >> %s/asked\n/bin/cat <<END\n"
		"{\"implementation\": \"cpython\", \"version\": {\"major\": 3, \"minor\": %u, \"micro\": "
		"%d,"
		" \"releaselevel\": \"final\", \"serial\": 0}, \"free_threaded\": %s,"
		" \"executable\": \"%s\", \"include\": \"%s\", \"multiarch\": \"\","
		" \"ext_suffix\": \".cpython-3%u%s-x86_64-linux-gnu.so\", \"library\": \"%s\","
		" \"purelib\": \"/p\"}\nEND\n",
		below, root, tag.minor, atoi(number), threads ? "true" : "false", path, include, tag.minor,
		threads ? "t" : "", path);
	return ws_test_file(a, root, below, text, 0755);
}

static const char *
read_file(struct ws_arena *a, const char *root, const char *below)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	ws_fs_read(ws_path_join(a, root, below, NULL), &b, NULL);
	return ws_arena_strdup(a, ws_buf_text(&b));
}

/* "3.11.7 /bin/python3.11", a line each. */
static const char *
list_text(struct ws_arena *a, const struct ws_user_env *env, const char *root)
{
	ws_python_list list = {0};
	ws_python_list_all(env, a, &list);
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < list.len; i++) {
		ws_buf_printf(&b, "%s%s %s\n", list.at[i].version, list.at[i].tag.free_threaded ? "t" : "",
			list.at[i].interpreter + strlen(root) + 1);
	}
	return ws_arena_strdup(a, ws_buf_text(&b));
}

static struct ws_python_tag
tag_of(const char *text)
{
	struct ws_python_tag tag;
	assert_true(ws_python_tag_parse(text, &tag));
	return tag;
}

WS_TEST(the_real_python_of_this_host_answers)
{
	struct ws_err err;
	const struct ws_user_env *env = ws_test_env();
	struct ws_python_kit kit, again;
	assert_ok(ws_python_find_host(env, a, &kit, &err), err);
	assert_int_equal(kit.tag.major, 3);
	assert_true(kit.interpreter[0] == '/' && kit.include[0] == '/' && kit.purelib[0] == '/');
	assert_true(ws_fs_exists(kit.interpreter) && ws_fs_exists(kit.library));
	const char *tag = ws_arena_printf(
		a, ".cpython-%u%u%s-", kit.tag.major, kit.tag.minor, kit.tag.free_threaded ? "t" : "");
	assert_contains(kit.ext_suffix, tag);
	assert_ok(ws_python_find(env, &kit.tag, a, &again, &err), err);
	assert_int_equal(again.tag.minor, kit.tag.minor);
}

/* Every listed interpreter is found by its tag, and reports its listed version. */
WS_TEST(the_real_pythons_of_this_host_are_found_by_their_tags)
{
	struct ws_err err;
	const struct ws_user_env *env = ws_test_env();
	ws_python_list list = {0};
	ws_python_list_all(env, a, &list);
	size_t answered = 0;
	for (size_t i = 0; i < list.len; i++) {
		struct ws_python_kit asked, found;
		if (!ws_python_ask(ws_test_env(), list.at[i].interpreter, a, &asked, NULL)) {
			continue; /* listed by its folder, broken */
		}
		assert_string_equal(asked.version, list.at[i].version);
		assert_ok(ws_python_find(env, &list.at[i].tag, a, &found, &err), err);
		assert_int_equal(found.tag.minor, list.at[i].tag.minor);
		answered++;
	}
	assert_true(answered > 0);
}

WS_TEST(a_venv_has_its_own_site_packages_and_the_headers_of_its_base)
{
	struct ws_err err;
	const struct ws_user_env *env = ws_test_env();
	struct ws_python_kit base, venv;
	assert_ok(ws_python_find_host(env, a, &base, &err), err);
	const char *folder = ws_path_join(a, ws_test_dir(a), "venv", NULL);
	const char *const argv[] = {base.interpreter, "-m", "venv", "--without-pip", folder, NULL};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&(struct ws_child_order){.argv = argv}, &out, &err), err);
	assert_ok(
		ws_python_ask(ws_test_env(), ws_path_join(a, folder, "bin/python", NULL), a, &venv, &err),
		err);
	assert_true(ws_starts_with(venv.purelib, folder));
	assert_true(ws_fs_is_dir(venv.purelib));
	assert_true(ws_starts_with(venv.interpreter, folder));
	assert_string_equal(venv.include, base.include);
	assert_string_equal(venv.library, base.library);
}

WS_TEST(python_2_and_pypy_are_refused_by_name)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const char *two = ws_test_file(a, root, "python2",
		"#!/bin/sh\nif [ \"$1\" = -V ]; then echo 'Python 2.7.18' >&2; else exit 2; fi\n", 0755);
	assert_fails(ws_python_ask(ws_test_env(), two, a, &kit, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "is Python 2.7.18");
	const char *pypy = ws_test_file(a, root, "pypy3",
		"#!/bin/sh\necho '{\"implementation\": \"pypy\", \"version\": {\"major\": 3, \"minor\": 10,"
		" \"micro\": 14, \"releaselevel\": \"final\", \"serial\": 0}}'\n",
		0755);
	assert_fails(ws_python_ask(ws_test_env(), pypy, a, &kit, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "is pypy 3.10.14, not CPython 3");
	assert_contains(err.cure, "CPython only");
}

/* A script that claims to be CPython of this version, with the answer more. */
#define SAYS(version, more) \
	("echo '{\"implementation\": \"cpython\", \"version\": {" version "}" more "}'")

WS_TEST(a_program_that_is_not_python_is_refused)
{
	static const char *const texts[] = {
		"exit 1",
		"echo hello",
		"echo '{}'",
		"echo '[1, 2]'",
		SAYS("\"major\": 3, \"minor\": 11", ""),
		SAYS("\"major\": 3, \"minor\": 11, \"micro\": 1",
			", \"include\": \"relative\", \"ext_suffix\": \".so\""),
		"kill -9 $$",
	};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		struct ws_err err;
		struct ws_python_kit kit;
		const char *text = ws_arena_printf(a, "#!/bin/sh\n%s\n", texts[i]);
		const char *path = ws_test_file(a, ws_test_dir(a), "python3", text, 0755);
		assert_fails(ws_python_ask(ws_test_env(), path, a, &kit, &err), err, WS_ERR_CONFIG);
		assert_contains(err.text, path);
	}
	struct ws_err err;
	struct ws_python_kit kit;
	assert_fails(
		ws_python_ask(ws_test_env(), "/nowhere/python3", a, &kit, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "No such file");
}

/* @a pyenv may be NULL. */
static const struct ws_user_env *
env_of(struct ws_arena *a, const char *path, const char *pyenv)
{
	const char **vars = WS_NEW_N(a, const char *, 3);
	struct ws_user_env *env = WS_NEW(a, struct ws_user_env);
	vars[0] = ws_arena_printf(a, "PATH=%s", path);
	vars[1] = pyenv ? ws_arena_printf(a, "PYENV_ROOT=%s", pyenv) : NULL;
	*env = (struct ws_user_env){.vars = vars, .root = ""};
	return env;
}

/* One host with a Python in every kind of place. */
static const struct ws_user_env *
make_places(struct ws_arena *a, const char *root)
{
	add_python(a, root, "pyenv/versions/3.9.18/bin/python3.9", "3.9.18", true);
	add_python(a, root, "pyenv/versions/3.11.2/bin/python", "3.11.2", true);
	add_python(a, root, "pyenv/versions/3.11.10/bin/python3.11", "3.11.10", true);
	add_python(a, root, "pyenv/versions/3.13.1t/bin/python3.13t", "3.13.1t", true);
	add_python(a, root, "pyenv/versions/miniconda3-latest/bin/python3.10", "3.10.4", true);
	ws_test_file(a, root, "pyenv/versions/2.7.18/bin/python", "", 0755);
	ws_test_file(a, root, "pyenv/versions/pypy3.10-7.3.15/bin/python3.10", "", 0755);
	ws_test_file(a, root, "pyenv/shims/python3.11", "#!/bin/sh\nexit 127\n", 0755);
	add_python(a, root, "pyenv/versions/3.12.4/bin/python3.12", "3.12.4", true);
	add_python(a, root, "pyenv/versions/3.14.0t/bin/python3.14t", "3.14.0t", true);
	add_python(a, root, "old/python3.8", "3.8.20", true);
	add_python(a, root, "local/python3.13t", "3.13.5t", true);
	add_python(a, root, "bin/python3.11", "3.11.4", false);
	ws_test_file(a, root, "bin/python3.99-config", "", 0755);
	ws_test_file(a, root, "bin/python3.7", "#!/bin/sh\nexit 1\n", 0755);
	assert_int_equal(symlink("python3.11", ws_path_join(a, root, "bin/python3", NULL)), 0);
	add_python(a, root, "bin2/python", "3.15.0", true);
	return env_of(a,
		ws_arena_printf(a, "%s/pyenv/shims:%s/local:%s/old:%s/bin:relative:%s/bin2", root, root,
			root, root, root),
		ws_path_join(a, root, "pyenv", NULL));
}

WS_TEST(every_place_is_listed_and_few_are_asked)
{
	const char *root = ws_test_dir(a);
	const struct ws_user_env *env = make_places(a, root);
	assert_string_equal(list_text(a, env, root),
		"3.8.20 old/python3.8\n"
		"3.9.18 pyenv/versions/3.9.18/bin/python3.9\n"
		"3.10.4 pyenv/versions/miniconda3-latest/bin/python3.10\n"
		"3.11.2 pyenv/versions/3.11.2/bin/python\n"
		"3.11.4 bin/python3.11\n"
		"3.11.10 pyenv/versions/3.11.10/bin/python3.11\n"
		"3.12.4 pyenv/versions/3.12.4/bin/python3.12\n"
		"3.13.1t pyenv/versions/3.13.1t/bin/python3.13t\n"
		"3.13.5t local/python3.13t\n"
		"3.14.0t pyenv/versions/3.14.0t/bin/python3.14t\n"
		"3.15.0 bin2/python\n");
	assert_string_equal(read_file(a, root, "asked"),
		"pyenv/versions/miniconda3-latest/bin/python3.10\nlocal/python3.13t\nold/python3.8\n"
		"bin/python3.11\nbin2/python\n");
	assert_string_equal(list_text(a, NULL, root), "");
}

WS_TEST(the_newest_patch_with_headers_is_found_and_others_are_not_asked)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const struct ws_user_env *env = make_places(a, root);
	struct ws_python_tag tag = tag_of("3.11");
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.11.10");
	assert_string_equal(
		read_file(a, root, "asked"), "pyenv/versions/3.11.10/bin/python3.11\nbin/python3.11\n");

	/* A newer one that has no headers does not win. */
	add_python(a, root, "bin3/python3.11", "3.11.99", false);
	const char *bin3 = ws_path_join(a, root, "bin3", NULL);
	env = env_of(a, bin3, ws_path_join(a, root, "pyenv", NULL));
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.11.10");
	env = env_of(a, bin3, NULL);
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.11.99");
}

WS_TEST(free_threaded_builds_are_another_tag)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const struct ws_user_env *env = make_places(a, root);
	struct ws_python_tag tag = tag_of("3.13t");
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.13.5");
	assert_true(kit.tag.free_threaded);
	assert_string_equal(kit.ext_suffix, ".cpython-313t-x86_64-linux-gnu.so");
	tag = tag_of("3.13");
	assert_fails(ws_python_find(env, &tag, a, &kit, &err), err, WS_ERR_CONFIG);
	/* uv's python3.13 in a folder on PATH may be one. */
	add_python(a, root, "bin4/python3.13", "3.13.7t", true);
	env = env_of(a, ws_path_join(a, root, "bin4", NULL), NULL);
	tag = tag_of("3.13t");
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.13.7");
}

WS_TEST(a_version_that_is_not_there_names_those_that_are)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const struct ws_user_env *env = make_places(a, root);
	struct ws_python_tag tag = tag_of("3.13");
	assert_fails(ws_python_find(env, &tag, a, &kit, &err), err, WS_ERR_CONFIG);
	assert_string_equal(err.text,
		"no Python 3.13 on this host: there is 3.8, 3.9, 3.10, 3.11, 3.12, "
		"3.13t, 3.14t, 3.15");
	assert_contains(err.cure, "uv python install 3.13");
	/* a broken interpreter is distinguished from a missing one. */
	tag = tag_of("3.7");
	assert_fails(ws_python_find(env, &tag, a, &kit, &err), err, WS_ERR_CONFIG);
	assert_contains(err.text, "no Python 3.7 on this host: there is 3.8");
	assert_contains(err.cure, "bin/python3.7' does not answer like a Python interpreter");
	/* "python" alone does not say what it is, and is asked. */
	tag = tag_of("3.15");
	assert_ok(ws_python_find(env, &tag, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.15.0");
}

WS_TEST(the_host_s_python_is_the_first_on_path)
{
	struct ws_err err;
	struct ws_python_kit kit;
	const char *root = ws_test_dir(a);
	const struct ws_user_env *env = make_places(a, root);
	assert_ok(ws_python_find_host(env, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.11.4");
	env = env_of(a, ws_path_join(a, root, "bin2", NULL), NULL);
	assert_ok(ws_python_find_host(env, a, &kit, &err), err);
	assert_string_equal(kit.version, "3.15.0");
	env = env_of(a, "/nowhere", NULL);
	assert_fails(ws_python_find_host(env, a, &kit, &err), err, WS_ERR_CONFIG);
}
