/* test_kit_cuda.c - toolkits of made-up hosts: an nvcc that is a script, other files as large as
 * they need to be. */
#include "test.h"

#include "base/fs.h"
#include "kit/cuda/nvcc.h"
#include "kit/cuda/parts.h"
#include "sys/child.h"

/* ---- what nvcc prints ---- */

WS_TEST(folders_are_read_from_a_dry_run)
{
	static const struct {
		const char *printed, *root;
		const char *folders[4];
	} cases[] = {
		/* 12.4, an archive kit */
		{"#$ TOP=/s/cuda-12.4/bin/..\n#$ INCLUDES=\"-I/s/cuda-12.4/bin/../include\"  \n"
		 "#$ LIBRARIES=  \"-L/s/cuda-12.4/bin/../lib64\"\n#$ g++ -I/not/this x.cu\n",
			"/s/cuda-12.4", {"cuda/include"}},
		/* 13.0, the host's */
		{"#$ INCLUDES=\"-I/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include\"  \n"
		 "#$ SYSTEM_INCLUDES=\"-isystem\" "
		 "\"/usr/local/cuda-13.0/bin/../targets/x86_64-linux/include/cccl\"  \n",
			"/usr/local/cuda-13.0",
			{"cuda/targets/x86_64-linux/include", "cuda/targets/x86_64-linux/include/cccl"}},
		/* -I goes first whatever the order of the lines; folders outside of the toolkit stay
		 * absolute */
		{"#$ SYSTEM_INCLUDES=-isystem /opt/a b\n#$ INCLUDES=-I /opt/c \"-I/r/d e\"\n", "/r",
			{"/opt/c", "cuda/d e", "/opt/a"}},
		/* Debian's: everything is in /usr/include; a neighbour is not inside */
		{"#$ INCLUDES=  \n", "/usr/lib/nvidia-cuda-toolkit", {NULL}},
		{"#$ INCLUDES=-I/usr/local/cuda-13.0.1/include", "/usr/local/cuda-13.0",
			{"/usr/local/cuda-13.0.1/include"}},
		{"nvcc fatal : no\n", "/r", {NULL}},
		{"#$ INCLUDES=-I", "/r", {NULL}},
	};
	for (size_t i = 0; i < WS_LEN(cases); i++) {
		size_t count;
		const char *const *found = ws_nvcc_read_include(cases[i].printed, cases[i].root, a, &count);
		size_t wanted = 0;
		for (; cases[i].folders[wanted]; wanted++) {
			assert_true(wanted < count);
			assert_string_equal(found[wanted], cases[i].folders[wanted]);
		}
		assert_int_equal(count, wanted);
	}
}

/* ---- hosts ---- */

struct host {
	const char *root;
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_err err;
	struct ws_arena *a;
};

static struct host
make_host(struct ws_arena *a)
{
	struct host h = {.a = a};
	char real[4096];
	assert_non_null(realpath(ws_test_dir(a), real));
	h.root = ws_arena_strdup(a, real);
	const char *store = ws_path_join(a, h.root, "store", NULL);
	assert_ok(ws_store_open(store, a, &h.store, &h.err), h.err);
	h.ledger = h.store.ledger;
	assert_ok(h.ledger != NULL, h.err);
	return h;
}

static void
end_host(struct host *h)
{
	ws_store_close(&h->store);
}

#define AUTO_HOST __attribute__((cleanup(end_host)))

static void
put(const struct host *h, const char *path, const char *text, mode_t mode)
{
	ws_test_file(h->a, h->root, path, text, mode);
}

static void
drop(const struct host *h, const char *path)
{
	assert_int_equal(unlink(ws_path_join(h->a, h->root, path, NULL)), 0);
}

/* Real enough to have a name of its own. */
static void
put_runtime(const struct host *h, const char *path, const char *soname)
{
	const char *full = ws_test_file(h->a, h->root, path, "", 0644);
	struct ws_err err;
	const char *const argv[] = {"/usr/bin/gcc", "-shared", "-nostdlib", "-x", "c", "/dev/null",
		"-o", full, ws_arena_printf(h->a, "-Wl,-soname,%s", soname), NULL};
	struct ws_child_order command = {.argv = argv};
	WS_AUTO_BUF struct ws_buf out = {0};
	assert_ok(ws_child_ask(&command, &out, &err), err);
}

static const char host_config[] =
	"#if defined(__GNUC__)\n#if __GNUC__ > 13\n#error -- unsupported GNU version!\n#endif\n#endif\n"
	"#if defined(__clang__)\n#if (__clang_major__ >= 18) || (__clang_major__ < 3)\n"
	"#error -- unsupported clang version!\n#endif\n#endif\n";

static void
put_nvcc(const struct host *h, const char *path, const char *release, const char *includes)
{
	const char *minor = ws_arena_copy(h->a, release, strcspn(release, ".") + 2);
	put(h, path,
		ws_arena_printf(h->a,
			"#!/bin/sh\nroot=$(cd $(dirname $0)/.. && pwd)\ncase $1 in\n"
			"--version) echo 'Cuda compilation tools, release %s, V%s' ;;\n"
			"--dryrun) echo \"#\\$ INCLUDES=%s\" >&2 ;;\nesac\n",
			minor, release, includes),
		0755);
}

/* Headers below @a folder. */
static void
put_headers(const struct host *h, const char *folder, unsigned version)
{
	static const char *const names[] = {"cuda_runtime.h", "thrust/version.h", "nv/target",
		"cublas_v2.h", "cusparse.h", "cusolverDn.h", "curand.h"};
	for (size_t i = 0; i < WS_LEN(names); i++) {
		put(h, ws_path_join(h->a, folder, names[i], NULL), "// x\n", 0644);
	}
	put(h, ws_path_join(h->a, folder, "crt/host_config.h", NULL), host_config, 0644);
	put(h, ws_path_join(h->a, folder, "cuda_runtime_api.h", NULL),
		ws_arena_printf(h->a, "#define CUDART_VERSION  %u\n", version), 0644);
}

/* NVIDIA's layout at usr/local/cuda-V. */
static void
put_toolkit(const struct host *h, const char *folder, const char *release, unsigned version)
{
	static const char *const files[] = {"bin/nvcc.profile", "nvvm/bin/cicc", "bin/cudafe++",
		"bin/ptxas", "bin/fatbinary", "bin/nvlink", "nvvm/libdevice/libdevice.10.bc"};
	for (size_t i = 0; i < WS_LEN(files); i++) {
		put(h, ws_path_join(h->a, folder, files[i], NULL), files[i], 0755);
	}
	put_nvcc(h, ws_path_join(h->a, folder, "bin/nvcc", NULL), release, "-I$root/bin/../include");
	put_headers(h, ws_path_join(h->a, folder, "include", NULL), version);
	put_runtime(
		h, ws_path_join(h->a, folder, "lib64/libcudart.so.12.4.127", NULL), "libcudart.so.12");
	const char *link = ws_path_join(h->a, h->root, folder, "lib64/libcudart.so.12", NULL);
	assert_int_equal(symlink("libcudart.so.12.4.127", link), 0);
}

static ws_cuda_list
list_host(const struct host *h, const char *cuda_home, const char *path)
{
	ws_cuda_list list = {0};
	const char *vars[3] = {NULL};
	size_t count = 0;
	if (path) {
		vars[count++] = ws_arena_printf(h->a, "PATH=%s", path);
	}
	if (cuda_home) {
		vars[count] = ws_arena_printf(h->a, "CUDA_HOME=%s", cuda_home);
	}
	ws_cuda_list_host(&(struct ws_user_env){vars, h->root, NULL}, NULL, h->a, &list);
	return list;
}

WS_TEST(each_toolkit_is_listed_once_newest_first)
{
	AUTO_HOST struct host h = make_host(a);
	put_toolkit(&h, "usr/local/cuda-11.8", "11.8.89", 11080);
	put_toolkit(&h, "usr/local/cuda-12.4", "12.4.131", 12040);
	put_toolkit(&h, "home/me/cuda", "12.10.5", 12100);
	put(&h, "usr/local/cuda-99/readme", "nothing", 0644);
	assert_int_equal(symlink("cuda-12.4", ws_path_join(a, h.root, "usr/local/cuda", NULL)), 0);
	const char *home = ws_path_join(a, h.root, "usr/local/cuda", NULL);
	const char *path = ws_arena_printf(a, "relative::%s/home/me/cuda/bin:/nowhere", h.root);
	ws_cuda_list list = list_host(&h, home, path);
	assert_int_equal(list.len, 3);
	static const char *const releases[] = {"12.10.5", "12.4.131", "11.8.89"};
	for (size_t i = 0; i < list.len; i++) {
		assert_string_equal(list.at[i].release, releases[i]);
		assert_string_equal(list.at[i].how, "host");
	}
	assert_string_equal(list.at[1].name, "cuda-12.4");
	assert_string_equal(list.at[1].path, ws_path_join(a, h.root, "usr/local/cuda-12.4", NULL));
	assert_int_equal(list.at[1].missing_count, 0);
}

WS_TEST(an_nvcc_that_did_not_change_is_asked_once)
{
	AUTO_HOST struct host h = make_host(a);
	put_toolkit(&h, "usr/local/cuda-12.4", "12.4.131", 12040);
	const char *asked = ws_path_join(a, h.root, "asked", NULL);
	put(&h, "usr/local/cuda-12.4/bin/nvcc",
		ws_arena_printf(a,
			"#!/bin/sh\necho >> %s\necho 'Cuda compilation tools, release 12.4, V12.4.131'\n",
			asked),
		0755);
	struct ws_cuda_memory memory = {&h.store, h.ledger};
	for (unsigned i = 0; i < 4; i++) {
		ws_cuda_list list = {0};
		struct stat status;
		if (i == 3) {
			put(&h, "usr/local/cuda-12.4/nvvm/bin/cicc", "another", 0755);
		}
		ws_cuda_list_host(&(struct ws_user_env){.root = h.root}, &memory, a, &list);
		assert_int_equal(list.len, 1);
		assert_string_equal(list.at[0].release, "12.4.131");
		assert_int_equal(stat(asked, &status), 0);
		assert_int_equal(status.st_size, i < 3 ? 1 : 2);
	}
}

WS_TEST(a_complete_toolkit_opens)
{
	AUTO_HOST struct host h = make_host(a);
	put_toolkit(&h, "usr/local/cuda-12.4", "12.4.131", 12040);
	ws_cuda_list list = list_host(&h, NULL, NULL);
	struct ws_cuda_kit *kit = &list.at[0];
	assert_ok(ws_cuda_open_host(kit, h.ledger, a, &h.err), h.err);
	assert_ok(ws_cuda_ask_include(kit, "g++", NULL, a, &h.err), h.err);
	assert_int_equal(kit->include_count, 1);
	assert_string_equal(kit->include[0], "cuda/include");
	assert_string_equal(kit->runtime_soname, "libcudart.so.12");
	assert_string_equal(kit->runtime, ws_path_join(a, kit->path, "lib64/libcudart.so.12", NULL));
	assert_int_equal(kit->limits.gcc_max, 13);
	assert_null(kit->tree);
	/* Every tool counts, and so does one that comes or goes. */
	static const char *const tools[] = {"bin/nvcc.profile", "nvvm/bin/cicc", "bin/cudafe++",
		"bin/ptxas", "bin/fatbinary", "bin/nvlink", "bin/bin2c", "nvvm/libdevice/libdevice.10.bc"};
	for (size_t i = 0; i < WS_LEN(tools); i++) {
		const char *before = kit->fingerprint;
		put(&h, ws_path_join(a, "usr/local/cuda-12.4", tools[i], NULL), "changed", 0755);
		assert_ok(ws_cuda_open_host(kit, h.ledger, a, &h.err), h.err);
		assert_string_not_equal(kit->fingerprint, before);
	}
}

WS_TEST(a_missing_part_of_a_toolkit_is_named)
{
	static const char *const gone[][2] = {
		{"nvvm/bin/cicc", "cicc"},
		{"bin/fatbinary", "fatbinary"},
		{"nvvm/libdevice/libdevice.10.bc", "libdevice.10.bc"},
		{"include/cusolverDn.h", "cusolverDn.h"},
		{"include/thrust/version.h", "CCCL (thrust/version.h)"},
		{"lib64/libcudart.so.12.4.127", "libcudart.so"},
	};
	for (size_t i = 0; i < WS_LEN(gone); i++) {
		AUTO_HOST struct host h = make_host(a);
		put_toolkit(&h, "usr/local/cuda", "12.4.131", 12040);
		drop(&h, ws_path_join(a, "usr/local/cuda", gone[i][0], NULL));
		ws_cuda_list list = list_host(&h, NULL, NULL);
		assert_int_equal(list.len, 1);
		assert_int_equal(list.at[0].missing_count, 1);
		assert_string_equal(list.at[0].missing[0], gone[i][1]);
		assert_fails(ws_cuda_open_host(&list.at[0], h.ledger, a, &h.err), h.err, WS_ERR_BUILD);
		assert_contains(h.err.text, ws_arena_printf(a, "it lacks %s", gone[i][1]));
		assert_cure(h.err, WS_CURE_KITS_ARCHIVE, "");
	}
}

WS_TEST(headers_of_a_different_release_are_detected)
{
	AUTO_HOST struct host h = make_host(a);
	put_toolkit(&h, "usr/local/cuda", "12.4.131", 11080);
	ws_cuda_list list = list_host(&h, NULL, NULL);
	assert_int_equal(list.at[0].missing_count, 1);
	assert_contains(list.at[0].missing[0], "headers of 12.4");
	assert_contains(list.at[0].missing[0], "those of 11.8");
}

WS_TEST(a_file_called_nvcc_is_not_a_toolkit)
{
	AUTO_HOST struct host h = make_host(a);
	put(&h, "usr/local/cuda-1/bin/nvcc", "#!/bin/sh\nexit 1\n", 0755);
	put(&h, "usr/local/cuda-1/bin/nvcc.profile", "", 0644);
	put(&h, "usr/local/cuda-2/bin/nvcc", "#!/bin/sh\necho hello\n", 0755);
	put(&h, "usr/local/cuda-2/bin/nvcc.profile", "", 0644);
	put_nvcc(&h, "wrapped/bin/nvcc", "12.4.131", ""); /* ccache and similar wrappers: no profile */
	const char *path = ws_arena_printf(a, "%s/wrapped/bin", h.root);
	assert_int_equal(list_host(&h, "/nowhere", path).len, 0);
	assert_int_equal(list_host(&h, "", "").len, 0);
}

/* /usr/bin/nvcc is a script there, the headers lie among all others. */
static void
put_debian(const struct host *h)
{
	static const char *const files[] = {"usr/lib/nvidia-cuda-toolkit/bin/cicc", "usr/bin/cudafe++",
		"usr/bin/ptxas", "usr/bin/fatbinary", "usr/bin/nvlink", "usr/bin/bin2c",
		"usr/lib/nvidia-cuda-toolkit/libdevice/libdevice.10.bc", "etc/nvcc.profile"};
	for (size_t i = 0; i < WS_LEN(files); i++) {
		put(h, files[i], files[i], 0755);
	}
	put_nvcc(h, "usr/lib/nvidia-cuda-toolkit/bin/nvcc", "11.8.89", " ");
	put_nvcc(h, "usr/bin/nvcc", "11.8.89", " ");
	const char *link =
		ws_path_join(h->a, h->root, "usr/lib/nvidia-cuda-toolkit/bin/nvcc.profile", NULL);
	assert_int_equal(symlink("../../../../etc/nvcc.profile", link), 0);
	put_headers(h, "usr/include", 11080);
	put_runtime(h, "usr/lib/x86_64-linux-gnu/libcudart.so.11.0", "libcudart.so.11.0");
}

WS_TEST(debians_layout_is_one_toolkit)
{
	AUTO_HOST struct host h = make_host(a);
	put_debian(&h);
	ws_cuda_list list = list_host(&h, NULL, ws_arena_printf(a, "%s/usr/bin", h.root));
	assert_int_equal(list.len, 1);
	struct ws_cuda_kit *kit = &list.at[0];
	assert_string_equal(kit->path, ws_path_join(a, h.root, "usr/lib/nvidia-cuda-toolkit", NULL));
	assert_int_equal(kit->missing_count, 0);
	assert_ok(ws_cuda_open_host(kit, h.ledger, a, &h.err), h.err);
	assert_ok(ws_cuda_ask_include(kit, "g++", NULL, a, &h.err), h.err);
	assert_int_equal(kit->include_count, 0); /* the compiler searches /usr/include anyway */
	assert_string_equal(
		kit->runtime, ws_path_join(a, h.root, "usr/lib/x86_64-linux-gnu/libcudart.so.11.0", NULL));
	const char *before = kit->fingerprint;
	put(&h, "usr/bin/ptxas", "changed", 0755);
	assert_ok(ws_cuda_open_host(kit, h.ledger, a, &h.err), h.err);
	assert_string_not_equal(kit->fingerprint, before);
	drop(&h, "usr/include/thrust/version.h"); /* a package of its own: libthrust-dev */
	list = list_host(&h, NULL, NULL);
	assert_string_equal(list.at[0].missing[0], "CCCL (thrust/version.h)");
}

WS_TEST(a_runtime_with_a_different_name_is_reported)
{
	AUTO_HOST struct host h = make_host(a);
	put_toolkit(&h, "usr/local/cuda", "12.4.131", 12040);
	drop(&h, "usr/local/cuda/lib64/libcudart.so.12");
	ws_cuda_list list = list_host(&h, NULL, NULL);
	assert_fails(ws_cuda_open_host(&list.at[0], h.ledger, a, &h.err), h.err, WS_ERR_BUILD);
	assert_contains(h.err.text, "lib64/libcudart.so.12'");
}

/* ---- this host ---- */

WS_TEST(every_toolkit_of_this_host_opens_or_says_why)
{
	AUTO_HOST struct host h = make_host(a);
	ws_cuda_list list = {0};
	ws_cuda_list_host(ws_test_env(), NULL, a, &list);
	for (size_t i = 0; i < list.len; i++) {
		struct ws_cuda_kit *kit = &list.at[i];
		if (kit->missing_count > 0) {
			continue;
		}
		assert_ok(ws_cuda_open_host(kit, h.ledger, a, &h.err), h.err);
		assert_ok(ws_cuda_ask_include(kit, "g++", NULL, a, &h.err), h.err);
		for (size_t k = 0; k < kit->include_count; k++) {
			const char *folder = kit->include[k];
			bool inside = ws_starts_with(folder, "cuda/");
			assert_true(inside || folder[0] == '/');
			assert_true(
				ws_fs_is_dir(inside ? ws_path_join(a, kit->path, folder + 5, NULL) : folder));
		}
	}
}
