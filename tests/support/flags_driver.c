/* flags_driver.c - the words compile/ gives for a torch release, for comparing with torch's own.
 *
 *     flags_driver FACTS VERSION [stable]
 *
 * Prints JSON: "cxx" and "nvcc" words (of the stable ABI), "needed" libraries, and the release's
 * "abi" and "pybind" id. */
#include "compile/extension_target.h"
#include "config/facts.h"

static void
add_words(struct ws_json_writer *w, const char *key, const char *const *words)
{
	size_t count = 0;
	while (words[count]) {
		count++;
	}
	ws_json_add_texts(w, key, words, count);
}

static bool
run(char **argv, struct ws_arena *a, struct ws_err *err)
{
	static const char *const cxx_flags[] = {"-O2", "-DOWN_CXX"};
	static const char *const nvcc_flags[] = {
		"-O3", "-DOWN_NVCC", "--threads", "4", "-lineinfo", "--compress-mode=balance"};
	static const char *const include[] = {"inc"};
	struct ws_facts facts;
	struct ws_version version;
	if (!ws_facts_read(argv[1], a, &facts, err)) {
		return false;
	}
	ws_version_parse(argv[2], a, &version);
	const struct ws_torch_release *release = ws_facts_torch(&facts, &version);
	if (!release) {
		return ws_err_set(err, WS_ERR_CONFIG, "the facts have no torch %s", argv[2]);
	}
	struct ws_recipe recipe = {0};
	struct ws_extension extension = {.module = "pkg._C",
		.binding = argv[3] ? WS_BINDING_STABLE_ABI : WS_BINDING_PYBIND,
		.include = include,
		.include_count = 1,
		.flags = {.cxx = cxx_flags, .cxx_count = 2, .nvcc = nvcc_flags, .nvcc_count = 6}};
	struct ws_torch_kit torch = {.version = version,
		.release = *release,
		.pybind_compiler = "_gcc",
		.pybind_stdlib = "_libstdcpp",
		.pybind_build_abi = release->pybind_build_abi};
	struct ws_cuda_kit cuda = {.version = version, .runtime_soname = "libcudart.so.12"};
	struct ws_python_kit python = {.version = "3.11.7"};
	struct ws_hostcc cxx = {.kind = WS_HOSTCC_GCC, .machine = ws_machine_host()->multiarch};
	struct ws_target target = {.recipe = &recipe,
		.extension = &extension,
		.flags = extension.flags,
		.torch = &torch,
		.cuda = &cuda,
		.python = &python,
		.cxx = &cxx,
		.size = {.compress = WS_COMPRESS_SIZE, .usual = WS_COMPRESS_SIZE},
		.cxx11abi = release->standard.cxx11abi};
	const char *why;
	ws_arch_set_parse("8.0;9.0+PTX", a, &target.archs, &why);
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	add_words(w, "cxx", ws_target_cxx_flags(&target, a));
	add_words(w, "nvcc", ws_target_nvcc_flags(&target, a));
	add_words(w, "needed", ws_target_needed(&target, true, a));
	ws_json_add_i64(w, "abi", target.cxx11abi);
	ws_json_add_text(w, "pybind", release->pybind_build_abi ? release->pybind_build_abi : "");
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	puts(text.data);
	return true;
}

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_err err;
	char text[WS_ERR_PRINTED];
	if (argc < 3 || argc > 4 || !run(argv, a, &err)) {
		fputs(argc >= 3 ? ws_err_print(&err, text) : "usage: flags_driver FACTS VERSION [stable]\n",
			stderr);
		return 1;
	}
	return 0;
}
