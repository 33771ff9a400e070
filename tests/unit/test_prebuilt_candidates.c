/* test_prebuilt_candidates.c - candidates from names to verdicts, with a real server, store and
 * judge: what is known of which bytes, what is asked again, what is fetched. In which order names
 * are tried: test_plan_candidate_order.c. */

#include "compile.h"
#include "config/facts.h"
#include "kit_scene.h"
#include "prebuilt/candidates.h"

#define NAME "tiny-1.0-cp311-cp311-linux_x86_64.whl"

/* A package of which one cell is wanted, with what a command lends. */
struct world {
	struct ws_scene scene;
	struct ws_data data;
	struct ws_facts facts;
	struct ws_host host;
	struct ws_context ctx;
	struct ws_matrix matrix;
	struct ws_recipe recipe;
	struct ws_python_choice python;
	struct ws_cell cell, *cells[1];
	struct ws_product product;
	struct ws_pins pins;
	struct ws_candidate_memory *memory;
	struct ws_candidates list;
	const char *good, *damaged; /* wheels of one name */
	struct ws_arena *a;
};

/* A module that needs nothing, in a wheel whose RECORD is @record, NULL: right. */
static const char *
make_wheel(struct world *w, const char *record)
{
	static const char *const bare[] = {"-nostdlib", NULL};
	const char *dir = ws_test_dir(w->a);
	const char *module =
		ws_test_library(w->a, dir, "_C.so", "void *PyInit__C(void) {return 0;}", bare);
	const char *path = ws_path_join(w->a, dir, NAME, NULL);
	const char *wrong = ws_path_join(w->a, dir, "RECORD", NULL);
	struct ws_err err;
	const char *member =
		ws_arena_printf(w->a, "tiny/_C.cpython-311-x86_64-linux-gnu.so=%s", module);
	if (record) {
		assert_ok(ws_fs_write(wrong, record, strlen(record), 0644, &err), err);
	}
	ws_scene_run(&w->scene, "make_wheel.py", path, member,
		record ? ws_arena_printf(w->a, "tiny-1.0.dist-info/RECORD=%s", wrong) : NULL, NULL);
	return path;
}

/* As at the start of a command: only the store and the lock are kept. */
static void
begin_run(struct world *w)
{
	w->memory = ws_candidate_memory_open(&w->ctx, &w->pins, &w->matrix);
	w->list = ws_candidate_list(w->memory, &w->product, false);
}

static void
make_world(struct world *w, struct ws_arena *a)
{
	static char good[4096], damaged[4096]; /* the same for all tests */
	*w = (struct world){.a = a};
	ws_scene_begin(&w->scene, a);
	w->data.facts = WS_SOURCE_DATA_DIR "/matrix/facts";
	w->host = ws_host_read("", a);
	w->ctx = (struct ws_context){
		.a = a,
		.env = ws_test_env(),
		.program = WS_PROGRAM,
		.data = &w->data,
		.facts = &w->facts,
		.host = &w->host,
		.store = &w->scene.store,
		.ledger = w->scene.store.ledger,
		.fetch = &w->scene.fetch,
		.indexes = &w->scene.indexes,
		.events = &w->scene.events,
	};
	w->pins = (struct ws_pins){.a = a, .store = &w->scene.store, .events = &w->scene.events};
	w->recipe.name = "tiny";
	assert_true(ws_version_parse("1.0", a, &w->recipe.version));
	w->python = (struct ws_python_choice){.name = "cp311", .tag = {3, 11, false}};
	w->cells[0] = &w->cell;
	w->cell = (struct ws_cell){.name = "tiny-1.0/cp311",
		.recipe = &w->recipe,
		.point = {.python = &w->python, .machine = ws_machine_host(), .cxx11abi = -1},
		.product = &w->product};
	w->product = (struct ws_product){.recipe = &w->recipe,
		.binding = WS_BINDING_C_ABI,
		.point = w->cell.point,
		.cells = w->cells,
		.cell_count = 1};
	if (!good[0]) {
		snprintf(good, sizeof(good), "%s", make_wheel(w, NULL));
		snprintf(damaged, sizeof(damaged), "%s", make_wheel(w, "nothing,,\n"));
	}
	w->good = good;
	w->damaged = damaged;
}

static void
end_world(struct world *w)
{
	ws_scene_end(&w->scene);
}

#define WS_AUTO_WORLD __attribute__((cleanup(end_world)))

/* Places of the role "prebuilt", NULL-terminated. */
static void
set_places(struct world *w, const char *const *urls)
{
	struct ws_index_choice choice = {.role = "prebuilt", .urls = urls, .from = "a test"};
	while (urls[choice.count]) {
		choice.count++;
	}
	w->scene.choices[w->scene.indexes.count++] = choice;
}

/* @wheel as @to, whatever lies there. */
static void
put(const char *wheel, const char *to)
{
	struct ws_err err;
	assert_ok(ws_fs_remove(to, &err) && ws_fs_copy(wheel, to, 0644, &err), err);
}

/* A folder of wheels with this one. */
static const char *
put_in_folder(struct world *w, const char *wheel)
{
	const char *dir = ws_test_dir(w->a);
	put(wheel, ws_path_join(w->a, dir, NAME, NULL));
	return dir;
}

/* An index below @place whose page promises @sha256 and, unless it is 0, @size; its URL. */
static const char *
put_on_index(
	struct world *w, const char *place, const char *wheel, const char *sha256, unsigned size)
{
	struct ws_err err;
	const char *root = ws_path_join(w->a, w->scene.served.dir, place, NULL);
	const char *file = ws_path_join(w->a, root, "files", NAME, NULL);
	const char *page = ws_path_join(w->a, root, "pages/tiny/index.html", NULL);
	assert_ok(ws_fs_mkdirs(ws_path_dir(w->a, file), &err), err);
	assert_ok(ws_fs_mkdirs(ws_path_dir(w->a, page), &err), err);
	put(wheel, file);
	const char *text = ws_arena_printf(w->a,
		"{\"meta\": {\"api-version\": \"1.0\"}, \"name\": \"tiny\", \"files\": [{\"filename\": "
		"\"%s\","
		" \"url\": \"../../files/%s\", \"hashes\": {%s%s%s}%s}]}",
		NAME, NAME, sha256 ? "\"sha256\": \"" : "", sha256 ? sha256 : "", sha256 ? "\"" : "",
		size ? ws_arena_printf(w->a, ", \"size\": %u", size) : "");
	assert_ok(ws_fs_write(page, text, strlen(text), 0644, &err), err);
	return ws_served_url(&w->scene.served,
		ws_arena_printf(w->a, "/~type=application%%2Fvnd.pypi.simple.v1%%2Bjson/%s/pages", place));
}

static const char *
digest_of(struct world *w, const char *path)
{
	struct ws_digest digest;
	struct ws_err err;
	assert_ok(ws_digest_file(path, &digest, NULL, &err), err);
	return ws_arena_strdup(w->a, digest.hex);
}

static bool
try(struct world *w, struct ws_err *err)
{
	const struct ws_product *products[] = {&w->product};
	*err = (struct ws_err){0};
	w->scene.warnings = "";
	bool done = ws_candidates_try(w->memory, products, 1, err);
	w->list = ws_candidate_list(w->memory, &w->product, false);
	return done;
}

static void
assert_tries(struct world *w)
{
	struct ws_err err;
	assert_ok(try(w, &err), err);
}

static void
assert_state(const struct world *w, size_t number, enum ws_candidate_state state)
{
	assert_in_range(number, 0, w->list.count - 1);
	const struct ws_candidate *c = &w->list.at[number];
	if (c->state != state) {
		fail_msg("%zu is %s (%s), not %s; %s", number, ws_candidate_state_words[c->state],
			c->why ? c->why : "", ws_candidate_state_words[state], w->scene.warnings);
	}
}

WS_TEST(a_wheel_that_loads_is_pinned_by_name_and_bytes_and_found_by_later_runs)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *sha256 = digest_of(&w, w.good);
	const char *const places[] = {put_on_index(&w, "x", w.good, sha256, 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_int_equal(w.list.count, 0);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
	assert_int_equal(w.pins.lock.prebuilt.len, 1);
	assert_string_equal(w.pins.lock.prebuilt.at[0].sha256, sha256);
	unsigned asked = ws_served_count(&w.scene.served, "GET");
	begin_run(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
	assert_string_equal(w.list.at[0].sha256, sha256);
	assert_int_equal(ws_served_count(&w.scene.served, "GET"), asked);
}

WS_TEST(two_of_one_name_are_two_and_each_has_its_own_verdict)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_in_folder(&w, w.damaged), put_in_folder(&w, w.good), NULL};
	set_places(&w, places);
	for (unsigned run = 0; run < 2; run++) {
		begin_run(&w);
		assert_tries(&w);
		assert_int_equal(w.list.count, 2);
		/* From then on the pinned wheel is tried first; the list of the first run is older. */
		const struct ws_candidate *chosen = ws_candidate_that_loads(&w.list);
		assert_non_null(chosen);
		assert_string_equal(chosen->sha256, digest_of(&w, w.good));
		assert_state(&w, 1, WS_CANDIDATE_FAILS);
		assert_contains(w.list.at[1].why, "RECORD");
	}
	assert_int_equal(w.pins.lock.prebuilt.len, 1);
	assert_string_equal(w.pins.lock.prebuilt.at[0].from, ws_path_join(a, places[1], NAME, NULL));
}

WS_TEST(urls_without_digests_are_not_answered_with_each_others_bytes)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {
		put_on_index(&w, "x", w.damaged, NULL, 0), put_on_index(&w, "y", w.good, NULL, 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	const struct ws_candidate *chosen = ws_candidate_that_loads(&w.list);
	assert_non_null(chosen);
	assert_contains(chosen->url, "/y/");
	assert_string_equal(chosen->sha256, digest_of(&w, w.good));
	/* Which bytes each URL gave is remembered: neither is fetched again. */
	unsigned asked = ws_served_count(&w.scene.served, ".whl");
	begin_run(&w);
	assert_tries(&w);
	assert_int_equal(ws_served_count(&w.scene.served, ".whl"), asked);
	assert_state(&w, 1, WS_CANDIDATE_FAILS);
}

WS_TEST(other_bytes_where_the_pinned_wheel_lay_are_an_error)
{
	WS_AUTO_WORLD struct world w;
	struct ws_err err;
	make_world(&w, a);
	const char *const places[] = {put_in_folder(&w, w.good), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	/* Also where both are known: the pinned one to load, and this one to load as well. */
	const char *other = make_wheel(&w, NULL);
	const char *extra = ws_path_join(a, ws_test_dir(a), "extra", NULL);
	assert_ok(ws_fs_write(extra, "x", 1, 0644, &err), err);
	ws_scene_run(
		&w.scene, "make_wheel.py", other, ws_arena_printf(a, "tiny/extra.py=%s", extra), NULL);
	put(other, ws_path_join(a, places[0], NAME, NULL));
	begin_run(&w);
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	assert_fails(try(&w, &err), err, WS_ERR_FETCH);
	assert_contains(err.text, "is not the wheel that the lock pins");
	assert_cure(err, WS_CURE_LOCK_UPDATE, "tiny");
}

/* A program whose judge ends as the words say. */
static const char *
make_program(struct world *w, const char *words)
{
	struct ws_err err;
	const char *path = ws_path_join(w->a, ws_test_dir(w->a), "wheelsmith", NULL);
	const char *text = ws_arena_printf(
		w->a, "#!/bin/sh\n[ \"$2\" != verify ] || { %s; }\nexec " WS_PROGRAM " \"$@\"\n", words);
	assert_ok(ws_fs_write(path, text, strlen(text), 0755, &err), err);
	assert_int_equal(chmod(path, 0755), 0);
	return path;
}

WS_TEST(a_judge_that_was_killed_or_failed_has_said_nothing)
{
	static const char *const ends[] = {"kill -9 $$", "exit 3", "echo '{' > verdict.json; exit 1"};
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_in_folder(&w, w.good), NULL};
	set_places(&w, places);
	for (size_t i = 0; i < WS_LEN(ends); i++) {
		w.ctx.program = make_program(&w, ends[i]);
		begin_run(&w);
		assert_tries(&w);
		assert_state(&w, 0, WS_CANDIDATE_UNKNOWN);
		assert_int_equal(w.pins.lock.prebuilt.len, 0);
	}
	w.ctx.program = WS_PROGRAM;
	begin_run(&w);
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
}

/* A library of the host's name in a folder of its own. */
static const char *
make_library(struct world *w, const char *source)
{
	static const char *const bare[] = {"-nostdlib", NULL};
	return ws_test_library(w->a, ws_test_dir(w->a), "libc.so.6", source, bare);
}

static void
begin_on(struct world *w, const char *const *libraries)
{
	begin_run(w);
	*ws_vec_push(&w->memory->libraries, w->a) = *libraries;
	w->list = ws_candidate_list(w->memory, &w->product, false);
}

WS_TEST(another_libc_or_driver_asks_anew_and_the_first_one_is_known_still)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_in_folder(&w, w.damaged), NULL};
	const char *libraries[] = {make_library(&w, "int one;"), make_library(&w, "int two;")};
	set_places(&w, places);
	begin_on(&w, &libraries[0]);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
	/* A failure is a verdict about one host. */
	begin_on(&w, &libraries[1]);
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	w.matrix.driver.text = "550.54.14";
	begin_on(&w, &libraries[0]);
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	w.matrix.driver.text = NULL;
	begin_on(&w, &libraries[0]);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
}

WS_TEST(a_file_that_is_not_what_its_index_promises_is_not_used_and_asked_for_again)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_on_index(&w, "x", w.damaged, digest_of(&w, w.good), 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
	assert_string_equal(w.list.at[0].why, "it is not the file that its index promises");
	/* The server has the right one now. */
	put_on_index(&w, "x", w.good, digest_of(&w, w.good), 0);
	begin_run(&w);
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
}

WS_TEST(a_file_that_is_denied_to_a_login_is_not_absent)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	put_on_index(&w, "x", w.good, NULL, 0);
	for (unsigned login = 0; login < 2; login++) {
		const char *file = ws_arena_printf(a, "http://%s127.0.0.1:%u/~status=403/x/files/" NAME,
			login ? "me:secret@" : "", w.scene.served.port);
		const struct ws_prebuilt published = {.url = file, .from = "a release"};
		w.recipe.prebuilt = &published;
		w.recipe.prebuilt_count = 1;
		begin_run(&w);
		assert_tries(&w);
		assert_state(&w, 0, login ? WS_CANDIDATE_UNREACHABLE : WS_CANDIDATE_ABSENT);
		assert_true(
			(strstr(w.scene.warnings, "denies access to this login (403)") != NULL) == login);
	}
}

/* "tail" for a request of a part, "whole" for one of a file, in their order. */
static const char *
requests_of(const struct world *w)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	WS_AUTO_BUF struct ws_buf order = {0};
	struct ws_err err;
	assert_ok(ws_fs_read(w->scene.served.log, &log, &err), err);
	struct ws_str rest = ws_buf_str(&log);
	while (rest.s && rest.n > 0) {
		const char *line = ws_str_copy(ws_str_cut(&rest, '\n'), w->a);
		ws_buf_puts(&order, strstr(line, "\"range\": null") ? " whole" : " tail");
	}
	return ws_buf_copy(&order, w->a);
}

WS_TEST(candidates_of_one_round_are_fetched_together)
{
	WS_AUTO_WORLD struct world w;
	struct ws_err err = {0};
	make_world(&w, a);
	const char *other = "other-1.0-cp311-cp311-linux_x86_64.whl";
	put_on_index(&w, "x", w.good, NULL, 0);
	ws_scene_run(&w.scene, "make_wheel.py",
		ws_path_join(a, w.scene.served.dir, "x/files", other, NULL), NULL);
	const struct ws_prebuilt published[] = {
		{.url = ws_served_url(&w.scene.served, "/x/files/" NAME), .from = "a release"},
		{.url = ws_served_url(&w.scene.served, ws_arena_printf(a, "/x/files/%s", other)),
			.from = "a release"},
	};
	struct ws_recipe recipe = w.recipe;
	recipe.name = "other";
	w.recipe.prebuilt = &published[0];
	recipe.prebuilt = &published[1];
	w.recipe.prebuilt_count = recipe.prebuilt_count = 1;
	struct ws_cell cell = w.cell, *cells[] = {&cell};
	struct ws_product product = w.product;
	cell.recipe = product.recipe = &recipe;
	cell.product = &product;
	product.cells = cells;
	begin_run(&w);
	const struct ws_product *products[] = {&w.product, &product};
	assert_ok(ws_candidates_try(w.memory, products, 2, &err), err);
	/* One after the other would be: tail whole tail whole. */
	const char *order = strstr(requests_of(&w), " tail");
	assert_string_equal(order, " tail tail whole whole");
}

WS_TEST(no_more_is_fetched_than_its_index_promises)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_on_index(&w, "x", w.good, digest_of(&w, w.good), 100), NULL};
	set_places(&w, places);
	w.matrix.policy = WS_POLICY_PREBUILT_ONLY;
	begin_run(&w);
	assert_tries(&w);
	/* It has no replacement: it is still needed, and the reason of the failure is reported. */
	assert_state(&w, 0, WS_CANDIDATE_UNOPENED);
	assert_contains(w.list.at[0].why, "where 100 are expected");
	assert_contains(w.scene.warnings, "where 100 are expected");
}

WS_TEST(a_wheel_that_contradicts_its_name_is_not_downloaded_and_not_requested_again)
{
	WS_AUTO_WORLD struct world w;
	struct ws_err err;
	make_world(&w, a);
	const char *metadata = ws_path_join(a, ws_test_dir(a), "METADATA", NULL);
	const char *text = "Metadata-Version: 2.1\nName: other\nVersion: 1.0\n";
	assert_ok(ws_fs_write(metadata, text, strlen(text), 0644, &err), err);
	const char *wheel = ws_path_join(a, ws_test_dir(a), NAME, NULL);
	ws_scene_run(&w.scene, "make_wheel.py", wheel,
		ws_arena_printf(a, "tiny-1.0.dist-info/METADATA=%s", metadata), NULL);
	const char *const places[] = {put_on_index(&w, "x", wheel, NULL, 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
	assert_contains(w.list.at[0].why, "its METADATA is of other 1.0");
	assert_int_equal(ws_served_count(&w.scene.served, "\"range\": null") - 1, 0); /* the page */
	unsigned asked = ws_served_count(&w.scene.served, ".whl");
	begin_run(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
	assert_tries(&w);
	assert_int_equal(ws_served_count(&w.scene.served, ".whl"), asked);
}

WS_TEST(under_a_locked_lock_only_the_pinned_bytes_count)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_in_folder(&w, w.good), NULL};
	set_places(&w, places);
	w.pins.locked = true;
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_REFUSED);
	assert_string_equal(w.list.at[0].why, "the lock does not pin it");
	/* Pinned from elsewhere: the bytes are the same. */
	const struct ws_pin_prebuilt pin = {
		"tiny", "1.0", NAME, "https://elsewhere.example/" NAME, digest_of(&w, w.good)};
	ws_lock_put(&w.pins.lock, WS_PIN_PREBUILT, &pin, a);
	begin_run(&w);
	assert_tries(&w);
	assert_string_equal(ws_candidate_that_loads(&w.list)->sha256, pin.sha256);
}

WS_TEST(a_pinned_wheel_in_the_store_needs_no_index)
{
	WS_AUTO_WORLD struct world w;
	make_world(&w, a);
	const char *const places[] = {put_on_index(&w, "x", w.good, NULL, 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	w.scene.indexes.count--;
	w.scene.fetch.offline = true;
	begin_run(&w);
	assert_int_equal(w.list.count, 1);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
}

WS_TEST(pins_that_are_renewed_let_servers_be_asked_again)
{
	static const char *const renewed[] = {"tiny"};
	WS_AUTO_WORLD struct world w;
	struct ws_err err;
	make_world(&w, a);
	const char *const places[] = {put_on_index(&w, "x", w.damaged, NULL, 0), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
	put_on_index(&w, "x", w.good, NULL, 0);
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS); /* as it is known */
	w.pins.renewed = renewed;
	w.pins.renewed_count = 1;
	begin_run(&w);
	assert_ok(try(&w, &err), err);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
}

/* A wheel whose module needs libcudart.so.13, as a build with the shared runtime links it. */
static const char *
make_cuda_wheel(struct world *w)
{
	const char *dir = ws_test_dir(w->a);
	const char *const runtime[] = {"-nostdlib", "-Wl,-soname,libcudart.so.13", NULL};
	ws_test_library(
		w->a, dir, "libcudart.so", "int cudaGetDeviceCount(int *n) {return *n;}", runtime);
	const char *const link[] = {
		"-nostdlib", ws_arena_printf(w->a, "-L%s", dir), "-Wl,--no-as-needed", "-lcudart", NULL};
	const char *module = ws_test_library(w->a, dir, "libtiny.so",
		"int cudaGetDeviceCount(int *); int tiny(int *n) {return cudaGetDeviceCount(n);}", link);
	const char *path = ws_path_join(w->a, dir, NAME, NULL);
	ws_scene_run(&w->scene, "make_wheel.py", path,
		ws_arena_printf(w->a, "tiny/libtiny.so=%s", module), NULL);
	return path;
}

WS_TEST(a_wheel_without_torch_loads_with_the_runtime_of_its_cuda)
{
	WS_AUTO_WORLD struct world w;
	struct ws_err err;
	struct ws_cuda_choice cuda = {.name = "13.0"};
	make_world(&w, a);
	assert_ok(ws_facts_read(w.data.facts, a, &w.facts, &err), err);
	assert_true(ws_version_parse("13.0", a, &cuda.version));
	w.cell.point.cuda = w.product.point.cuda = &cuda;
	const char *const places[] = {put_in_folder(&w, make_cuda_wheel(&w)), NULL};
	set_places(&w, places);
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_LOADS);
	/* The runtime of a different CUDA major does not serve. */
	assert_true(ws_version_parse("12.4", a, &cuda.version));
	cuda.name = "12.4";
	begin_run(&w);
	assert_tries(&w);
	assert_state(&w, 0, WS_CANDIDATE_FAILS);
}
