/* test_kit_archive.c - kits of a very small toolkit (support/make_kit.py): by a definition, by
 * NVIDIA's manifests, and by both. Manifests as text: test_kit_redist.c. */
#include "test.h"

#include "base/fs.h"
#include "config/kit_def.h"
#include "kit/archive_kit.h"
#include "kit/cuda/cuda.h"
#include "kit/cuda/redist.h"
#include "kit_scene.h"

/* Makes the archives below the server's folder and tells the session where they are. */
static struct ws_kit_def
make(struct ws_scene *s, const char *fault)
{
	struct ws_kit_def def;
	ws_scene_run(s, "make_kit.py", s->served.dir, fault, NULL);
	s->fetch.debian_mirror = ws_served_url(&s->served, "/debian");
	s->fetch.redist_url = ws_served_url(&s->served, "/redist/");
	const char *path = ws_path_join(s->a, s->served.dir, "kit.json", NULL);
	assert_ok(ws_kit_def_read(path, s->a, &def, &s->err), s->err);
	return def;
}

static bool
open_kit(struct ws_scene *s, const struct ws_kit_def *def, struct ws_cuda_kit *kit)
{
	s->err = (struct ws_err){0};
	return ws_cuda_open_archive(&s->fetch, def, NULL, s->a, kit, &s->err);
}

static enum ws_tree_kind
kind_of(const struct ws_cuda_kit *kit, const char *path)
{
	for (size_t i = 0; i < kit->tree->count; i++) {
		if (strcmp(kit->tree->entries[i].path, path) == 0) {
			return kit->tree->entries[i].kind;
		}
	}
	fail_msg("'%s' is not in the kit", path);
	return WS_TREE_FILE;
}

static bool
has(const struct ws_cuda_kit *kit, const char *path)
{
	return ws_tree_lookup(kit->tree, path) != NULL;
}

static unsigned
requests(const struct ws_scene *s)
{
	return ws_served_count(&s->served, "\"path\"");
}

WS_TEST(a_definition_becomes_a_whole_toolkit)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	struct ws_kit_def def = make(&s, NULL);
	assert_ok(open_kit(&s, &def, &kit), s.err);
	assert_string_equal(kit.name, "cuda-12.4");
	assert_string_equal(kit.version.text, "12.4");
	assert_string_equal(kit.release, "12.4.131");
	assert_string_equal(kit.how, "archive");
	assert_string_equal(kit.debian, "mirror");
	assert_string_equal(kit.definition, def.digest.hex);
	assert_ok(ws_cuda_ask_include(&kit, "g++", NULL, a, &s.err), s.err);
	assert_int_equal(kit.include_count, 1);
	assert_string_equal(kit.include[0], "cuda/include");
	assert_string_equal(kit.runtime_soname, "libcudart.so.12");
	assert_string_equal(kit.runtime, ws_path_join(a, kit.path, "lib64/libcudart.so.12", NULL));
	assert_int_equal(kit.limits.gcc_max, 13);
	assert_int_equal(strlen(kit.fingerprint), 64);
	assert_contains(s.ready, "cuda-12.4: assembled from 5 archives");
	assert_int_equal(ws_scene_partials(&s), 0);
}

WS_TEST(modes_files_and_links_are_the_definitions)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	WS_AUTO_BUF struct ws_buf profile = {0};
	struct ws_kit_def def = make(&s, NULL);
	assert_ok(open_kit(&s, &def, &kit), s.err);
	assert_int_equal(kind_of(&kit, "bin/nvcc"), WS_TREE_EXECUTABLE);
	assert_int_equal(kind_of(&kit, "nvvm/bin/cicc"), WS_TREE_EXECUTABLE);
	assert_int_equal(kind_of(&kit, "include/cublas_v2.h"), WS_TREE_FILE); /* 0744 in its wheel */
	assert_int_equal(kind_of(&kit, "lib"), WS_TREE_LINK);
	assert_int_equal(kind_of(&kit, "lib64/libcudart.so"), WS_TREE_LINK);
	assert_int_equal(kind_of(&kit, "bin/nvcc.profile"), WS_TREE_FILE); /* a link in the package */
	assert_true(has(&kit, "include/shared.h"));                        /* in two wheels, the same */
	assert_false(has(&kit, "include/__init__.py"));
	assert_false(has(&kit, "padding.bin"));
	assert_ok(
		ws_fs_read(ws_path_join(a, kit.path, "bin/nvcc.profile", NULL), &profile, &s.err), s.err);
	assert_string_equal(ws_buf_text(&profile), "TOP = $(_HERE_)/..\n");
}

WS_TEST(the_second_time_nothing_is_asked)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit, again;
	struct ws_kit_def def = make(&s, NULL);
	assert_ok(open_kit(&s, &def, &kit), s.err);
	unsigned before = requests(&s);
	assert_ok(open_kit(&s, &def, &again), s.err);
	assert_int_equal(requests(&s), before);
	assert_string_equal(again.path, kit.path);
	assert_string_equal(again.fingerprint, kit.fingerprint);
	assert_string_equal(again.release, "12.4.131");
}

WS_TEST(a_changed_tool_changes_the_fingerprint)
{
	struct ws_cuda_kit kits[2];
	for (size_t i = 0; i < WS_LEN(kits); i++) {
		WS_SCENE(s, a);
		struct ws_kit_def def = make(&s, i == 0 ? NULL : "nvcc=12.4.140");
		assert_ok(open_kit(&s, &def, &kits[i]), s.err);
	}
	assert_string_not_equal(kits[0].fingerprint, kits[1].fingerprint);
}

WS_TEST(an_archive_that_differs_from_its_pin_is_refused)
{
	static const struct {
		const char *fault, *says;
		enum ws_err_kind kind;
	} cases[] = {
		{"deb=bad", "nvidia-cuda-toolkit_12.4.131_amd64.deb", WS_ERR_FETCH},
		{"record=bad", "RECORD of 'nvidia_cuda_nvcc_cu12-12.4.131-py3", WS_ERR_FETCH},
		{"lie=1", "does not match its RECORD", WS_ERR_FETCH},
		{"conflict=1", "holds another 'include/shared.h'", WS_ERR_FETCH},
		{"lack=curand.h", "it lacks curand.h", WS_ERR_CONFIG},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_SCENE(s, a);
		struct ws_cuda_kit kit;
		struct ws_kit_def def = make(&s, cases[i].fault);
		assert_fails(open_kit(&s, &def, &kit), s.err, cases[i].kind);
		assert_contains(s.err.text, cases[i].says);
		assert_contains(s.err.text, "kit 'cuda-12.4'");
	}
}

WS_TEST(a_broken_download_goes_on_where_it_stopped)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	struct ws_kit_def def = make(&s, NULL);
	s.fetch.debian_mirror = ws_served_url(&s.served, "/~cut=500:1/debian/");
	assert_ok(open_kit(&s, &def, &kit), s.err);
	assert_int_equal(ws_served_count(&s.served, "\"range\": \"bytes=500-"), 1);
}

WS_TEST(a_server_without_ranges_gives_whole_wheels_with_a_warning)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	struct ws_kit_def def = make(&s, NULL);
	ws_scene_set_index(&s, "default", "/~norange/simple");
	assert_ok(open_kit(&s, &def, &kit), s.err);
	assert_contains(s.warnings, "nvidia_cublas_cu12-12.4.5.8");
	assert_int_equal(ws_scene_partials(&s), 0);
}

/* ---- without Debian ---- */

WS_TEST(redistributables_take_the_place_of_debians_package)
{
	static const char *const mirrors[] = {NULL, "/~status=404/debian"};
	for (size_t i = 0; i < WS_LEN(mirrors); i++) {
		WS_SCENE(s, a);
		struct ws_cuda_kit kit, again;
		struct ws_kit_def def = make(&s, NULL);
		s.fetch.debian_mirror = mirrors[i] ? ws_served_url(&s.served, mirrors[i]) : NULL;
		assert_ok(open_kit(&s, &def, &kit), s.err);
		assert_string_equal(kit.how, "archive");
		assert_string_equal(kit.debian, "redist");
		assert_string_equal(kit.release, "12.4.131"); /* 12.4.1's, though there is a 12.4.2 */
		assert_true(has(&kit, "bin/ptxas") && has(&kit, "nvvm/bin/cicc"));
		assert_false(has(&kit, "bin/cuobjdump"));
		assert_string_equal(kit.definition, def.digest.hex);
		assert_int_equal(ws_served_count(&s.served, "cuda_nvcc-linux-x86_64-12.4.131"), 1);
		assert_int_equal(ws_served_count(&s.served, "libcublas-linux"), 0); /* its wheel does */
		unsigned before = ws_served_count(&s.served, "/redist/");
		assert_ok(open_kit(&s, &def, &again), s.err);
		assert_int_equal(ws_served_count(&s.served, "/redist/"), before);
		assert_string_equal(again.path, kit.path);
	}
}

/* The same, Debian's package last. */
static struct ws_kit_def
turn(const struct ws_kit_def *def, struct ws_arena *a)
{
	struct ws_kit_archive *archives = WS_NEW_N(a, struct ws_kit_archive, def->archive_count);
	struct ws_kit_def turned = *def;
	for (size_t i = 0; i < def->archive_count; i++) {
		archives[i] = def->archives[(i + 1) % def->archive_count];
	}
	turned.archives = archives;
	return turned;
}

WS_TEST(without_debian_and_redistributables_both_cures_are_printed)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	struct ws_kit_def def = make(&s, NULL);
	def = turn(&def, a);
	s.fetch.debian_mirror = NULL;
	s.fetch.redist_url = ws_served_url(&s.served, "/nothing");
	assert_fails(open_kit(&s, &def, &kit), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "this host has no Debian mirror configured");
	assert_cure(s.err, WS_CURE_DEBIAN_MIRROR, "");
	assert_contains(s.err.cure, "the index of NVIDIA's redistributables does not list CUDA 12.4");
	assert_int_equal(ws_served_count(&s.served, "/simple/"), 0); /* no download was wasted */
	s.fetch.debian_mirror = ws_served_url(&s.served, "/~status=500/debian");
	assert_fails(open_kit(&s, &def, &kit), s.err, WS_ERR_FETCH);
	assert_null(strstr(s.err.text, "no Debian mirror"));
}

/* ---- the lock ---- */

WS_TEST(the_lock_opens_a_kit_and_refuses_another)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit, again;
	struct ws_kit_def def = make(&s, NULL);
	s.fetch.debian_mirror = NULL;
	assert_ok(open_kit(&s, &def, &kit), s.err);
	struct ws_pin_cuda pin = {.cuda = "12.4",
		.how = kit.how,
		.name = kit.name,
		.digest = kit.tree->digest.hex,
		.definition = kit.definition,
		.debian = kit.debian};
	unsigned before = requests(&s);
	assert_ok(ws_cuda_open_archive(&s.fetch, &def, &pin, a, &again, &s.err), s.err);
	assert_int_equal(requests(&s), before);
	assert_string_equal(again.debian, "redist");

	pin.debian = "mirror";
	pin.digest = "00000000000000000000000000000000000000000000000000000000000000ff";
	assert_false(ws_cuda_open_archive(&s.fetch, &def, &pin, a, &again, &s.err));
	assert_contains(s.err.text, "not the one that was locked");
	assert_contains(s.err.cure, "came from a Debian mirror then");
	pin.definition = "00000000000000000000000000000000000000000000000000000000000000ff";
	assert_ok(ws_cuda_open_archive(&s.fetch, &def, &pin, a, &again, &s.err), s.err);
}

WS_TEST(the_lock_names_the_source_of_the_compiler)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit;
	struct ws_kit_def def = make(&s, NULL);
	struct ws_pin_cuda pin = {.definition = def.digest.hex, .debian = "redist"};
	assert_ok(ws_cuda_open_archive(&s.fetch, &def, &pin, a, &kit, &s.err), s.err);
	assert_string_equal(kit.debian, "redist");
	assert_int_equal(ws_served_count(&s.served, "/debian/"), 0);
	pin.debian = "mirror";
	assert_ok(ws_cuda_open_archive(&s.fetch, &def, &pin, a, &kit, &s.err), s.err);
	assert_string_equal(kit.debian, "mirror");
}

/* ---- NVIDIA's way ---- */

static bool
open_redist(
	struct ws_scene *s, const char *cuda, const struct ws_pin_cuda *pin, struct ws_cuda_kit *kit)
{
	struct ws_version version;
	assert_true(ws_version_parse(cuda, s->a, &version));
	return ws_cuda_open_redist(&s->fetch, &version, pin, s->a, kit, &s->err);
}

WS_TEST(a_manifest_becomes_a_whole_toolkit)
{
	static const struct {
		const char *cuda, *name, *release, *includes[2];
		const char *soname;
	} cases[] = {
		{"12.4", "cuda-12.4", "12.4.140", {"cuda/include", NULL}, "libcudart.so.12"},
		{"12.4.0", "cuda-12.4", "12.4.99", {"cuda/include", NULL}, "libcudart.so.12"},
		{"13.0", "cuda-13.0", "13.0.88", {"cuda/include", "cuda/include/cccl"}, "libcudart.so.13"},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		WS_SCENE(s, a);
		struct ws_cuda_kit kit;
		make(&s, i == 1 ? "top=another-name" : NULL);
		assert_ok(open_redist(&s, cases[i].cuda, NULL, &kit), s.err);
		assert_string_equal(kit.name, cases[i].name);
		assert_string_equal(kit.release, cases[i].release);
		assert_string_equal(kit.how, "redist");
		assert_int_equal(strlen(kit.definition), 64);
		assert_ok(ws_cuda_ask_include(&kit, "g++", NULL, a, &s.err), s.err);
		assert_int_equal(kit.include_count, cases[i].includes[1] ? 2 : 1);
		assert_string_equal(
			kit.include[kit.include_count - 1], cases[i].includes[cases[i].includes[1] ? 1 : 0]);
		assert_string_equal(kit.runtime_soname, cases[i].soname);
		assert_true(has(&kit, "lib64/libcudart.so"));
		assert_false(has(&kit, "LICENSE"));
		assert_false(has(&kit, "nvvm/lib64/libnvvm.so"));
		assert_int_equal(kind_of(&kit, "nvvm/bin/cicc"), WS_TREE_EXECUTABLE);
	}
}

WS_TEST(the_lock_pins_the_manifest)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit, again;
	make(&s, NULL);
	assert_ok(open_redist(&s, "13.0", NULL, &kit), s.err);
	struct ws_pin_cuda pin = {
		.how = "redist", .digest = kit.tree->digest.hex, .definition = kit.definition};
	unsigned before = requests(&s);
	assert_ok(open_redist(&s, "13.0", &pin, &again), s.err);
	assert_int_equal(requests(&s), before);
	pin.digest = NULL;
	pin.definition = "00000000000000000000000000000000000000000000000000000000000000ff";
	assert_fails(open_redist(&s, "13.0", &pin, &again), s.err, WS_ERR_FETCH);
	assert_contains(s.err.text, "redistrib_13.0.1.json is not the one that was locked");
}

WS_TEST(nvcc_of_an_assembled_toolkit_is_asked_for_its_release_once)
{
	WS_SCENE(s, a);
	struct ws_cuda_kit kit, again;
	make(&s, NULL);
	assert_ok(open_redist(&s, "13.0", NULL, &kit), s.err);
	struct ws_pin_cuda pin = {
		.how = "redist", .digest = kit.tree->digest.hex, .definition = kit.definition};
	/* An nvcc that does not answer: whoever starts it fails. */
	const char *nvcc = ws_path_join(a, kit.path, "bin/nvcc", NULL);
	assert_ok(ws_fs_remove(nvcc, &s.err), s.err);
	assert_ok(ws_fs_write(nvcc, "#!/bin/sh\nexit 1\n", 17, 0755, &s.err), s.err);
	assert_ok(open_redist(&s, "13.0", &pin, &again), s.err);
	assert_string_equal(again.release, kit.release);
	assert_ok(ws_fs_remove(ws_store_path(&s.store, a, "ac"), &s.err), s.err);
	assert_fails(open_redist(&s, "13.0", &pin, &again), s.err, WS_ERR_BUILD);
}

/* ---- places ---- */

WS_TEST(members_go_where_the_first_match_says)
{
	static const struct ws_map_entry map[] = {
		{"bin/nvcc", "bin/nvcc"}, {"bin/", "other/"}, {"bin/crt/", "never/"}, {"x/y", "bin/own"}};
	static const struct ws_kit_file own = {"bin/own", "text", 0644};
	static const struct ws_kit_link link = {"other/link", "x"};
	struct ws_kit_def def = {.files = &own, .file_count = 1, .links = &link, .link_count = 1};
	struct ws_kit_archive archive = {.map = map, .map_count = WS_LEN(map)};
	static const char *const cases[][2] = {
		{"bin/nvcc", "bin/nvcc"}, {"bin/crt/x", "other/crt/x"}, {"bin/__init__.py", NULL},
		{"binary", NULL}, {"bin", NULL}, {"x/y/z", NULL},
		{"x/y", NULL},      /* a file of the definition is in its place */
		{"bin/link", NULL}, /* and a link */
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		const char *place = ws_archive_kit_place(&def, &archive, cases[i][0], a);
		assert_true(ws_same(place, cases[i][1]));
	}
	archive.strip_top = true;
	assert_string_equal(ws_archive_kit_place(&def, &archive, "top/bin/x", a), "other/x");
	assert_null(ws_archive_kit_place(&def, &archive, "bin", a));
}
