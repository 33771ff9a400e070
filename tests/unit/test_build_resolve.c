/* test_build_resolve.c - what is resolved once, and what must not be. Kits are kit/'s tests. */
#include "test.h"

#include "base/fs.h"
#include "build/resolve.h"
#include "kit_scene.h"
#include "sys/command.h"

#include <stdlib.h>

/* A virtual environment with a torch in it; the path of its interpreter. */
static const char *
make_venv(struct ws_scene *s, const char *version)
{
	const char *dir = ws_test_dir(s->a);
	const char *venv = ws_path_join(s->a, dir, "venv", NULL);
	const char *python = ws_path_join(s->a, venv, "bin/python", NULL);
	const char *option = ws_arena_printf(s->a, "version=%s", version);
	const char *wheel = ws_scene_run(s, "make_torch.py", dir, option, NULL);
	const char *const make[] = {
		"/usr/bin/env", "python3", "-m", "venv", "--without-pip", venv, NULL};
	const char *const unpack[] = {python, "-c",
		"import sys, sysconfig, zipfile\n"
		"zipfile.ZipFile(sys.argv[1]).extractall(sysconfig.get_path('purelib'))",
		ws_path_join(s->a, dir, wheel, NULL), NULL};
	const char *const env[] = {ws_arena_printf(s->a, "PATH=%s", getenv("PATH")), NULL};
	struct ws_command command = {.argv = make, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_command_run(&command, &out, &s->err), s->err);
	command.argv = unpack;
	assert_ok(ws_command_run(&command, &out, &s->err), s->err);
	return python;
}

WS_TEST(two_interpreters_of_one_tag_have_their_own_installed_torch)
{
	WS_AUTO_SCENE struct ws_scene s;
	ws_scene_begin(&s, a);
	struct ws_torch_release releases[] = {{.standard = {"12.4", 0}, .cxx_std = 17}};
	assert_true(ws_version_parse("2.5.1", a, &releases[0].version));
	struct ws_facts facts = {.torch = releases, .torch_count = 1};
	struct ws_host host = ws_host_read("", a);
	struct ws_lock lock = {0};
	struct ws_context ctx = {.a = a,
		.facts = &facts,
		.host = &host,
		.store = &s.store,
		.ledger = s.fetch.ledger,
		.fetch = &s.fetch,
		.events = &s.events,
		.lock = &lock};
	struct ws_resolver *r = ws_resolver_open(&ctx);
	struct ws_torch_choice installed = {.name = "installed", .installed = true};
	const struct ws_torch_kit *kits[2];
	for (size_t i = 0; i < 2; i++) {
		struct ws_plan_python interpreter = {.path = make_venv(&s, i ? "2.6.0" : "2.5.1")};
		struct ws_python_choice python = {.name = "cp311", .interpreter = &interpreter};
		kits[i] = ws_resolve_torch(r, &installed, &python, &s.err);
		assert_ok(kits[i] != NULL, s.err);
		assert_ptr_equal(ws_resolve_torch(r, &installed, &python, &s.err), kits[i]);
	}
	assert_string_equal(kits[0]->version.public_text, "2.5.1");
	assert_string_equal(kits[1]->version.public_text, "2.6.0");
}
