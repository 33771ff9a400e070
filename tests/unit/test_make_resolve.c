/* test_make_resolve.c - what is resolved once, and what must not be. Kits are kit/'s tests. */
#include "test.h"

#include "base/fs.h"
#include "kit_scene.h"
#include "make/resolve.h"
#include "plan_world.h"
#include "sys/child.h"

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
	struct ws_child_order command = {.argv = make, .env = env};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &s->err), s->err);
	command.argv = unpack;
	assert_ok(ws_child_ask(&command, &out, &s->err), s->err);
	return python;
}

/* A resolver's context in a scene. */
static struct ws_context
context_in(struct ws_scene *s, const struct ws_facts *facts, const struct ws_host *host)
{
	return (struct ws_context){
		.a = s->a,
		.program = WS_PROGRAM,
		.facts = facts,
		.host = host,
		.store = &s->store,
		.ledger = s->fetch.ledger,
		.fetch = &s->fetch,
		.events = &s->events,
	};
}

WS_TEST(two_interpreters_of_one_tag_have_their_own_installed_torch)
{
	WS_SCENE(s, a);
	struct ws_torch_release releases[] = {{.standard = {"12.4", 0}, .cxx_std = 17}};
	assert_true(ws_version_parse("2.5.1", a, &releases[0].version));
	struct ws_facts facts = {.torch = releases, .torch_count = 1};
	struct ws_host host = ws_host_read("", a);
	struct ws_pins pins = {.a = a, .store = &s.store};
	struct ws_context ctx = context_in(&s, &facts, &host);
	struct ws_resolver *r = ws_resolver_open(&ctx, &pins, NULL, 0);
	struct ws_torch_choice installed = {.name = "installed", .installed = true};
	const struct ws_torch_kit *kits[2];
	struct ws_torch_kit own[2];
	for (size_t i = 0; i < 2; i++) {
		struct ws_python_kit kit;
		struct ws_plan_installed torch = {.kit = &own[i]};
		struct ws_plan_python interpreter = {.kit = &kit, .torch = &torch};
		const char *path = make_venv(&s, i ? "2.6.0" : "2.5.1");
		assert_ok(ws_python_ask(ws_test_env(), path, a, &kit, &s.err), s.err);
		assert_ok(ws_torch_open_installed(&facts, &kit, NULL, a, &own[i], &s.err), s.err);
		struct ws_python_choice python = {.name = "cp311", .interpreter = &interpreter};
		struct ws_point point = {
			.torch = &installed, .python = &python, .machine = ws_machine_host()};
		kits[i] = ws_resolve_torch(r, &point, &s.err);
		assert_ok(kits[i] != NULL, s.err);
		assert_ptr_equal(ws_resolve_torch(r, &point, &s.err), kits[i]);
	}
	assert_string_equal(kits[0]->version.public_text, "2.5.1");
	assert_string_equal(kits[1]->version.public_text, "2.6.0");
}

WS_TEST(a_python_without_torch_and_a_toolkit_that_was_not_opened_are_errors)
{
	WS_SCENE(s, a);
	struct ws_facts facts = {0};
	struct ws_host host = ws_host_read("", a);
	struct ws_pins pins = {.a = a, .store = &s.store};
	struct ws_context ctx = context_in(&s, &facts, &host);
	struct ws_resolver *r = ws_resolver_open(&ctx, &pins, NULL, 0);
	struct ws_torch_choice installed = {.name = "installed", .installed = true};
	struct ws_python_kit kit = {.interpreter = "/nowhere/python3"};
	struct ws_plan_python interpreter = {.kit = &kit};
	struct ws_python_choice python = {.name = "cp311", .interpreter = &interpreter};
	struct ws_point point = {.torch = &installed, .python = &python, .machine = ws_machine_host()};
	assert_null(ws_resolve_torch(r, &point, &s.err));
	assert_string_equal(s.err.text, "no torch is installed for Python cp311");
	const struct ws_python_kit *beside;
	const struct ws_torch_kit *torch;
	assert_false(ws_resolve_beside(r, &point, &beside, &torch));
	struct ws_cuda_kit toolkit = {0};
	struct ws_cuda_choice cuda = {.origin = WS_KIT_HOST, .name = "host-13.0", .host_kit = &toolkit};
	s.err = (struct ws_err){0};
	assert_null(ws_resolve_cuda(r, &cuda, &s.err));
	assert_string_equal(s.err.text, "the CUDA toolkit 'host-13.0' was not opened");
}

/* Builds of one release with both ABIs: cells that differ in it alone have a kit, an export list
 * and a pin each, also when they are planned by those pins. */
static void
resolve_both(struct ws_scene *s, struct world *world, const char *const *versions)
{
	struct ws_host host = ws_host_read("", s->a);
	struct ws_data data = {.facts = WS_SOURCE_DATA_DIR "/matrix/facts"};
	struct ws_context ctx = context_in(s, &world->facts, &host);
	struct ws_pins pins = {
		.a = s->a, .store = &s->store, .events = &s->events, .lock = world->lock};
	struct ws_plan plan;
	ctx.data = &data;
	world->input.lock = &pins.lock;
	assert_ok(ws_plan_make(&world->input, s->a, &plan, &s->err), s->err);
	assert_int_equal(plan.cell_count, 2);
	struct ws_resolver *r = ws_resolver_open(&ctx, &pins, NULL, 0);
	const char *exports[2];
	for (size_t i = 0; i < 2; i++) {
		const struct ws_point *point = &plan.cells[i]->point;
		assert_int_equal(plan.cells[i]->decision, WS_DECISION_BUILD);
		assert_string_equal(point->torch->version.text, versions[i]);
		const struct ws_torch_kit *kit = ws_resolve_torch(r, point, &s->err);
		assert_ok(kit != NULL, s->err);
		assert_int_equal(kit->cxx11abi, point->cxx11abi);
		assert_ok(ws_resolve_exports(r, point, &exports[i], &s->err), s->err);
		const struct ws_pin_torch *pin = ws_lock_torch(&pins.lock, versions[i]);
		assert_non_null(pin);
		assert_int_equal(pin->cxx11abi, point->cxx11abi);
		assert_string_equal(pin->tree, kit->tree->digest.hex);
		assert_string_equal(pin->cuda, kit->cuda);
	}
	assert_string_not_equal(exports[0], exports[1]);
	assert_int_equal(pins.lock.torch.len, 2);
	world->lock = pins.lock;
}

WS_TEST(two_abis_of_one_release_are_two_torches)
{
	static const struct ws_case both = {
		.names = {"recipe", "facts", "matrix"},
		.texts = {"demo 1.0 pybind a.cu", "shipped",
			"{\"packages\": [\"demo==1.0\"], \"torch\": [\"2.6.0\"], \"cxx11abi\": [0, 1],"
			" \"python\": [\"3.11\"], \"arch\": [\"8.6\"]}"},
		.count = 3,
	};
	static const char *const versions[] = {"2.6.0", "2.6.0+cu126"};
	WS_SCENE(s, a);
	struct world world;
	const char *files = ws_path_join(a, s.served.dir, "files", NULL);
	ws_scene_run(&s, "make_torch.py", files, "version=2.6.0", "all=1", NULL);
	ws_scene_run(&s, "make_torch.py", files, "version=2.6.0", "all=1", "label=cu126", "named=cu126",
		"cuda=12.6", "abi=1", NULL);
	assert_ok(world_read(&both, a, &world, &s.err), s.err);
	resolve_both(&s, &world, versions);
	struct ws_pin_torch pins[] = {
		*ws_lock_torch(&world.lock, versions[0]), *ws_lock_torch(&world.lock, versions[1])};
	resolve_both(&s, &world, versions);
	for (size_t i = 0; i < 2; i++) {
		assert_false(ws_lock_put(&world.lock, WS_PIN_TORCH, &pins[i], a));
	}
}
