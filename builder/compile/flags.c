/* flags.c - the arguments of torch's BuildExtension, and our edits
 *
 * The facts have a table of what each release passes, measured by running each release's
 * cpp_extension.py (tests/cli/buildext.bats repeats it). The edits:
 *   - archs are the target's, not TORCH_CUDA_ARCH_LIST's; --threads and dependency files go
 *   - -ccbin, --cudart shared (archive kits have no static runtime: another CUDA of the host would
 *     be linked in silently)
 *   - -fno-canonical-system-headers, so that names stay canonical; -Wdate-time, so that units that
 *     compile the time in are found, without failing them; -ffile-prefix-map for the folder in -g
 *   - a constant in place of the interpreter's own CFLAGS, so that Pythons share objects
 *   - no debug info unless requested, GPU code compressed as the toolkit can
 * Folders are relative to the work folder, so __FILE__ has no path of the host. */
#include "compile/extension_target.h"

/* Arguments without a value. */
static const char *const compressing[] = {"-compress-all", "--compress-all", "-no-compress",
	"--no-compress", "-Xfatbin=-compress-all", "-Xfatbin=--compress-all",
	"--fatbin-options=-compress-all", "--fatbin-options=--compress-all"};
static const char *const debugging[] = {"-g", "-g0", "-g1", "-g2", "-g3", "-ggdb", "-gdwarf-4",
	"-gdwarf-5", "--debug", "-Xcompiler=-g", "--compiler-options=-g"};
static const char *const lines[] = {"-lineinfo", "--generate-line-info", "--ptxas-options=-v",
	"--ptxas-options=--verbose", "-Xptxas=-v", "-Xptxas=--verbose"};

/* Arguments followed by a value. */
static const struct pair {
	const char *option, *value; /* value NULL: any */
} compressing_pairs[] = {{"-Xfatbin", "-compress-all"}, {"-Xfatbin", "--compress-all"},
	{"--fatbin-options", "-compress-all"}, {"--fatbin-options", "--compress-all"},
	{"--compress-mode", NULL}, {"-compress-mode", NULL}},
  debugging_pairs[] = {{"-Xcompiler", "-g"}, {"--compiler-options", "-g"}},
  lines_pairs[] = {{"-Xptxas", "-v"}, {"-Xptxas", "--verbose"}, {"--ptxas-options", "-v"},
	  {"--ptxas-options", "--verbose"}};

static bool
is_pair(const char *word, const char *next, const struct pair *pairs, size_t count)
{
	for (size_t i = 0; i < count && next; i++) {
		if (strcmp(word, pairs[i].option) == 0
			&& (!pairs[i].value || strcmp(next, pairs[i].value) == 0)) {
			return true;
		}
	}
	return false;
}

/* Removes a recipe's arguments about compression, whatever @a size says, since gpu_flags
 * knows the way of each toolkit (upstream's flag breaks nvcc before 12.8); and those about debug
 * info, unless the matrix requests it. For nvcc and host compilers. */
static void
drop_size_flags(ws_name_list *words, const struct ws_size_options *size)
{
	bool debug = size->debug_info != WS_DEBUG_FULL, line = size->debug_info == WS_DEBUG_NONE;
	size_t kept = 0;
	for (size_t i = 0; i < words->len; i++) {
		const char *word = words->at[i], *next = i + 1 < words->len ? words->at[i + 1] : NULL;
		bool alone = ws_is_among(word, compressing, WS_LEN(compressing))
			|| ws_starts_with(word, "--compress-mode=") || ws_starts_with(word, "-compress-mode=")
			|| (debug && ws_is_among(word, debugging, WS_LEN(debugging)))
			|| (line && ws_is_among(word, lines, WS_LEN(lines)));
		bool with_value = !alone
			&& (is_pair(word, next, compressing_pairs, WS_LEN(compressing_pairs))
				|| (debug && is_pair(word, next, debugging_pairs, WS_LEN(debugging_pairs)))
				|| (line && is_pair(word, next, lines_pairs, WS_LEN(lines_pairs))));
		if (!alone && !with_value) {
			words->at[kept++] = word;
		}
		i += with_value;
	}
	words->len = kept;
}

/* ---- tools ---- */

const char *const ws_target_env[] = {"HOME={work}/tmp", "LANG=C", "PATH=/usr/bin:/bin",
	"SOURCE_DATE_EPOCH=315532800", "TMPDIR={work}/tmp", NULL};

struct ws_tool
ws_cxx_tool(const struct ws_hostcc *cxx)
{
	const char *name = cxx->kind == WS_HOSTCC_CLANG ? "clang++" : "g++";
	return (struct ws_tool){name, "{cxx}", cxx->fingerprint};
}

struct ws_tool
ws_c_tool(const struct ws_hostcc *cxx)
{
	const char *name = cxx->kind == WS_HOSTCC_CLANG ? "clang" : "gcc";
	return (struct ws_tool){name, "{cc}", cxx->c_fingerprint};
}

/* ---- torch's arguments ---- */

typedef ws_name_list words;

static void
add_word(words *w, struct ws_arena *a, const char *word)
{
	*ws_vec_push(w, a) = word;
}

static const char *const *
end_words(words *w, struct ws_arena *a)
{
	*ws_vec_push(w, a) = NULL;
	return w->at;
}

/* Adds the recipe's own arguments, without --threads N, -t N and options for dependency files: the
 * engine has its own. */
static void
add_own(words *w, const struct ws_target *target, const char *const *flags, size_t count,
	struct ws_arena *a)
{
	static const char *const alone[] = {"-MD", "-MMD", "--generate-dependencies-with-compile",
		"--generate-nonsystem-dependencies-with-compile"};
	static const char *const with_value[] = {
		"--threads", "-threads", "-t", "-MF", "--dependency-output"};
	words own = {0};
	for (size_t i = 0; i < count; i++) {
		if (ws_is_among(flags[i], with_value, WS_LEN(with_value))) {
			i++;
		} else if (!ws_starts_with(flags[i], "--threads=") && !ws_starts_with(flags[i], "-t=")
			&& !ws_is_among(flags[i], alone, WS_LEN(alone))) {
			add_word(&own, a, flags[i]);
		}
	}
	drop_size_flags(&own, &target->size);
	ws_name_list_add(w, own.at, own.len, a);
}

/* The arguments of BuildExtension after the package's own, for both compilers. */
static void
add_torch_defines(words *w, const struct ws_target *target, struct ws_arena *a)
{
	const struct ws_torch_kit *torch = target->torch;
	if (!torch) {
		return;
	}
	const char *dot = strrchr(target->extension->module, '.');
	const char *last = dot ? dot + 1 : target->extension->module;
	add_word(w, a, "-DTORCH_API_INCLUDE_EXTENSION_H");
	if (target->extension->binding == WS_BINDING_STABLE_ABI) {
		/* The oldest CPython that the release has wheels for, which cpp_extension.py passes from
		 * 2.7 on for py_limited_api=True; earlier releases leave it to the package. */
		const struct ws_version *version = &torch->release.version;
		bool from_310 = version->major > 2 || version->minor >= 10;
		add_word(w, a, from_310 ? "-DPy_LIMITED_API=0x030A0000" : "-DPy_LIMITED_API=0x03090000");
	} else if (torch->release.passes_pybind && torch->pybind_build_abi) {
		add_word(
			w, a, ws_arena_printf(a, "-DPYBIND11_COMPILER_TYPE=\"%s\"", torch->pybind_compiler));
		add_word(w, a, ws_arena_printf(a, "-DPYBIND11_STDLIB=\"%s\"", torch->pybind_stdlib));
		add_word(w, a, ws_arena_printf(a, "-DPYBIND11_BUILD_ABI=\"%s\"", torch->pybind_build_abi));
	}
	add_word(w, a, ws_arena_printf(a, "-DTORCH_EXTENSION_NAME=%s", last));
	/* Later releases pass nothing, which means 1; an ABI that the user chose must be passed. */
	if (torch->release.passes_abi || target->cxx11abi == 0) {
		add_word(w, a, ws_arena_printf(a, "-D_GLIBCXX_USE_CXX11_ABI=%d", target->cxx11abi));
	}
}

static void
add_standard(words *w, const struct ws_target *target, struct ws_arena *a)
{
	unsigned torch_std = target->torch ? target->torch->release.cxx_std_default : 17;
	unsigned std = target->recipe->cxx_std > torch_std ? target->recipe->cxx_std : torch_std;
	for (size_t i = 0; i < w->len; i++) {
		if (ws_starts_with(w->at[i], "-std=") || ws_starts_with(w->at[i], "--std")) {
			return;
		}
	}
	add_word(w, a, ws_arena_printf(a, "-std=c++%u", std));
}

/* Adds the folders of -I, in order. */
static void
add_include(words *w, const struct ws_target *target, struct ws_arena *a)
{
	const struct ws_extension *extension = target->extension;
	for (size_t i = 0; i < extension->include_count; i++) {
		add_word(w, a, ws_arena_printf(a, "-Isrc/%s", extension->include[i]));
	}
	if (target->torch) {
		add_word(w, a, "-Itorch/include");
		add_word(w, a, "-Itorch/include/torch/csrc/api/include");
		if (target->torch->release.has_thc) {
			add_word(w, a, "-Itorch/include/TH");
			add_word(w, a, "-Itorch/include/THC");
		}
	}
	if (target->cuda) {
		add_word(w, a, "-Icuda/include");
	}
	if (target->python) {
		add_word(w, a, "-Ipython/include");
	}
}

/* Stands for the CFLAGS of the interpreter. */
static words
host_flags(const struct ws_target *target, const char *const *own, size_t count, struct ws_arena *a)
{
	static const char *const constant[] = {
		"-Wsign-compare", "-DNDEBUG", "-g", "-fwrapv", "-O3", "-Wall", "-fPIC"};
	words w = {0};
	ws_name_list_add(&w, constant, WS_LEN(constant), a);
	drop_size_flags(&w, &target->size);
	add_include(&w, target, a);
	add_own(&w, target, own, count, a);
	add_torch_defines(&w, target, a);
	return w;
}

static const char *const *
finish_host(words *w, const struct ws_target *target, struct ws_arena *a)
{
	if (target->cxx->kind == WS_HOSTCC_GCC) {
		add_word(w, a, "-fno-canonical-system-headers");
	}
	add_word(w, a, "-Wdate-time");
	add_word(w, a, "-Wno-error=date-time");
	add_word(w, a, "-ffile-prefix-map={work}=" WS_SOURCE_ROOT);
	return end_words(w, a);
}

const char *const *
ws_target_cxx_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = host_flags(target, target->flags.cxx, target->flags.cxx_count, a);
	add_standard(&w, target, a);
	return finish_host(&w, target, a);
}

const char *const *
ws_target_c_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = host_flags(target, target->flags.c, target->flags.c_count, a);
	add_word(&w, a, "-std=c17");
	return finish_host(&w, target, a);
}

/* The arguments for GPU code, with and without host code. */
static const char *const *
gpu_flags(const struct ws_target *target, bool host, struct ws_arena *a)
{
	/* COMMON_NVCC_FLAGS of cpp_extension.py, equal in every release from 2.3 to 2.15. Without torch
	 * they are omitted. */
	static const char *const common[] = {"-D__CUDA_NO_HALF_OPERATORS__",
		"-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
		"-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr"};
	words w = {0};
	add_include(&w, target, a);
	ws_name_list_add(&w, common, target->torch ? WS_LEN(common) : 0, a);
	if (host) {
		add_word(&w, a, "--compiler-options");
		add_word(&w, a, "-fPIC");
	}
	add_own(&w, target, target->flags.nvcc, target->flags.nvcc_count, a);
	add_torch_defines(&w, target, a);
	size_t count;
	const char *const *archs = ws_arch_set_gencode(&target->archs, a, &count);
	ws_name_list_add(&w, archs, count, a);
	add_standard(&w, target, a);
	if (ws_hostcc_machine(target->cxx) != ws_machine_host()) {
		/* Headers are the same for every machine; nvcc would search a folder of the other
		 * machine. */
		add_word(&w, a, "-target-dir");
		add_word(&w, a, ws_arena_printf(a, "%s-linux", ws_machine_host()->name));
	}
	add_word(&w, a, "-ccbin");
	add_word(&w, a, "{cxx}");
	if (host) {
		add_word(&w, a, "--cudart");
		add_word(&w, a, "shared");
	}
	if (target->cxx->kind == WS_HOSTCC_GCC) {
		add_word(&w, a, "-Xcompiler");
		add_word(&w, a, "-fno-canonical-system-headers");
	}
	add_word(&w, a, "-Xcompiler");
	add_word(&w, a, "-Wdate-time");
	add_word(&w, a, "-Xcompiler");
	add_word(&w, a, "-Wno-error=date-time");
	switch (target->size.compress) {
	case WS_COMPRESS_NONE:
		break;
	case WS_COMPRESS_ALL:
		add_word(&w, a, "-Xfatbin");
		add_word(&w, a, "-compress-all");
		break;
	case WS_COMPRESS_SIZE:
		add_word(&w, a, "--compress-mode=size");
		break;
	}
	return end_words(&w, a);
}

const char *const *
ws_target_nvcc_flags(const struct ws_target *target, struct ws_arena *a)
{
	return gpu_flags(target, true, a);
}

const char *const *
ws_target_device_flags(const struct ws_target *target, struct ws_arena *a)
{
	return gpu_flags(target, false, a);
}

const char *const *
ws_target_link_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = {0};
	add_own(&w, target, target->flags.link, target->flags.link_count, a);
	/* .dynsym and unwind tables stay; the removed sections have names of nvcc's temporary files. */
	if (target->size.debug_info == WS_DEBUG_NONE) {
		add_word(&w, a, "-Wl,--strip-all");
	}
	return end_words(&w, a);
}
