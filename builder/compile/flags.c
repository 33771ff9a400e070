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

/* The number of arguments from @a word on to remove: 0, 1 or 2. */
static size_t
count_dropped(const char *word, const char *next, enum ws_debug_info info)
{
	bool debug = info != WS_DEBUG_FULL, line = info == WS_DEBUG_NONE;
	if (ws_is_among(word, compressing, WS_LEN(compressing))
		|| ws_starts_with(word, "--compress-mode=") || ws_starts_with(word, "-compress-mode=")
		|| (debug && ws_is_among(word, debugging, WS_LEN(debugging)))
		|| (line && ws_is_among(word, lines, WS_LEN(lines)))) {
		return 1;
	}
	return is_pair(word, next, compressing_pairs, WS_LEN(compressing_pairs))
			|| (debug && is_pair(word, next, debugging_pairs, WS_LEN(debugging_pairs)))
			|| (line && is_pair(word, next, lines_pairs, WS_LEN(lines_pairs)))
		? 2
		: 0;
}

void
ws_size_flags_drop(ws_name_list *words, const struct ws_size_options *size)
{
	size_t kept = 0;
	for (size_t i = 0; i < words->len;) {
		const char *next = i + 1 < words->len ? words->at[i + 1] : NULL;
		size_t dropped = count_dropped(words->at[i], next, size->debug_info);
		if (dropped == 0) {
			words->at[kept++] = words->at[i];
		}
		i += dropped ? dropped : 1;
	}
	words->len = kept;
}

void
ws_size_flags_add_nvcc(ws_name_list *words, const struct ws_size_options *size, struct ws_arena *a)
{
	switch (size->compress) {
	case WS_COMPRESS_NONE:
		break;
	case WS_COMPRESS_ALL:
		*ws_vec_push(words, a) = "-Xfatbin";
		*ws_vec_push(words, a) = "-compress-all";
		break;
	case WS_COMPRESS_SIZE:
		*ws_vec_push(words, a) = "--compress-mode=size";
		break;
	}
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

static void
add_words(words *w, struct ws_arena *a, const char *const *list, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		add_word(w, a, list[i]);
	}
}

static const char *const *
end_words(words *w, struct ws_arena *a)
{
	*ws_vec_push(w, a) = NULL;
	return w->at;
}

/* A list of struct ws_flags. */
enum which {
	C,
	CXX,
	NVCC,
	LINK,
};

static void
add_flags(words *w, struct ws_arena *a, const struct ws_flags *flags, enum which which)
{
	switch (which) {
	case C:
		add_words(w, a, flags->c, flags->c_count);
		break;
	case CXX:
		add_words(w, a, flags->cxx, flags->cxx_count);
		break;
	case NVCC:
		add_words(w, a, flags->nvcc, flags->nvcc_count);
		break;
	case LINK:
		add_words(w, a, flags->link, flags->link_count);
		break;
	}
}

/* Removes --threads N, -t N and options for dependency files: the engine has its own. */
static void
strip_scheduling(words *w)
{
	static const char *const alone[] = {"-MD", "-MMD", "--generate-dependencies-with-compile",
		"--generate-nonsystem-dependencies-with-compile"};
	static const char *const with_value[] = {
		"--threads", "-threads", "-t", "-MF", "--dependency-output"};
	size_t kept = 0;
	for (size_t i = 0; i < w->len; i++) {
		bool goes = ws_starts_with(w->at[i], "--threads=") || ws_starts_with(w->at[i], "-t=");
		for (size_t j = 0; j < WS_LEN(alone); j++) {
			goes = goes || strcmp(w->at[i], alone[j]) == 0;
		}
		for (size_t j = 0; j < WS_LEN(with_value); j++) {
			if (strcmp(w->at[i], with_value[j]) == 0) {
				goes = true;
				i++;
				break;
			}
		}
		if (!goes) {
			w->at[kept++] = w->at[i];
		}
	}
	w->len = kept;
}

/* The recipe's own arguments. */
static words
recipe_flags(const struct ws_target *target, enum which which, struct ws_arena *a)
{
	words w = {0};
	add_flags(&w, a, &target->flags, which);
	strip_scheduling(&w);
	ws_size_flags_drop(&w, &target->size);
	return w;
}

static bool
names_standard(const words *w)
{
	for (size_t i = 0; i < w->len; i++) {
		if (ws_starts_with(w->at[i], "-std=") || ws_starts_with(w->at[i], "--std")) {
			return true;
		}
	}
	return false;
}

static void
add_pybind(words *w, const struct ws_torch_kit *torch, struct ws_arena *a)
{
	if (torch->release.passes_pybind && torch->pybind_build_abi) {
		add_word(
			w, a, ws_arena_printf(a, "-DPYBIND11_COMPILER_TYPE=\"%s\"", torch->pybind_compiler));
		add_word(w, a, ws_arena_printf(a, "-DPYBIND11_STDLIB=\"%s\"", torch->pybind_stdlib));
		add_word(w, a, ws_arena_printf(a, "-DPYBIND11_BUILD_ABI=\"%s\"", torch->pybind_build_abi));
	}
}

/* The oldest CPython that the release has wheels for, which cpp_extension.py passes from 2.7 on
 * for py_limited_api=True; earlier releases leave it to the package. */
static const char *
limited_api(const struct ws_torch_release *release)
{
	bool from_310 = release->version.major > 2 || release->version.minor >= 10;
	return from_310 ? "-DPy_LIMITED_API=0x030A0000" : "-DPy_LIMITED_API=0x03090000";
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
		add_word(w, a, limited_api(&torch->release));
	} else {
		add_pybind(w, torch, a);
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
	if (!names_standard(w)) {
		add_word(w, a, ws_arena_printf(a, "-std=c++%u", std));
	}
}

/* The folders of -I, in order. */
static const char *const *
include_folders(const struct ws_target *target, struct ws_arena *a)
{
	words w = {0};
	const struct ws_extension *extension = target->extension;
	for (size_t i = 0; i < extension->include_count; i++) {
		add_word(&w, a, ws_arena_printf(a, "src/%s", extension->include[i]));
	}
	if (target->torch) {
		add_word(&w, a, "torch/include");
		add_word(&w, a, "torch/include/torch/csrc/api/include");
		if (target->torch->release.has_thc) {
			add_word(&w, a, "torch/include/TH");
			add_word(&w, a, "torch/include/THC");
		}
	}
	if (target->cuda) {
		add_word(&w, a, "cuda/include");
	}
	if (target->python) {
		add_word(&w, a, "python/include");
	}
	return end_words(&w, a);
}

static void
add_include(words *w, const struct ws_target *target, struct ws_arena *a)
{
	const char *const *folders = include_folders(target, a);
	for (size_t i = 0; folders[i]; i++) {
		add_word(w, a, ws_arena_printf(a, "-I%s", folders[i]));
	}
}

/* Stands for the CFLAGS of the interpreter. */
static words
host_flags(const struct ws_target *target, enum which which, struct ws_arena *a)
{
	static const char *const constant[] = {
		"-Wsign-compare", "-DNDEBUG", "-g", "-fwrapv", "-O3", "-Wall", "-fPIC"};
	words w = {0};
	add_words(&w, a, constant, WS_LEN(constant));
	ws_size_flags_drop(&w, &target->size);
	add_include(&w, target, a);
	words own = recipe_flags(target, which, a);
	add_words(&w, a, own.at, own.len);
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
	words w = host_flags(target, CXX, a);
	add_standard(&w, target, a);
	return finish_host(&w, target, a);
}

const char *const *
ws_target_c_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = host_flags(target, C, a);
	add_word(&w, a, "-std=c17");
	return finish_host(&w, target, a);
}

/* COMMON_NVCC_FLAGS of cpp_extension.py, equal in every release from 2.3 to 2.15. Without torch
 * they are omitted. */
static void
add_torch_nvcc(words *w, const struct ws_target *target, struct ws_arena *a)
{
	static const char *const common[] = {"-D__CUDA_NO_HALF_OPERATORS__",
		"-D__CUDA_NO_HALF_CONVERSIONS__", "-D__CUDA_NO_BFLOAT16_CONVERSIONS__",
		"-D__CUDA_NO_HALF2_OPERATORS__", "--expt-relaxed-constexpr"};
	if (target->torch) {
		add_words(w, a, common, WS_LEN(common));
	}
}

/* The arguments for GPU code, with and without host code. */
static words
gpu_flags(const struct ws_target *target, bool host, struct ws_arena *a)
{
	words w = {0};
	add_include(&w, target, a);
	add_torch_nvcc(&w, target, a);
	if (host) {
		add_word(&w, a, "--compiler-options");
		add_word(&w, a, "-fPIC");
	}
	words own = recipe_flags(target, NVCC, a);
	add_words(&w, a, own.at, own.len);
	add_torch_defines(&w, target, a);
	size_t count;
	const char *const *archs = ws_arch_set_gencode(&target->archs, a, &count);
	add_words(&w, a, archs, count);
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
	return w;
}

const char *const *
ws_target_nvcc_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = gpu_flags(target, true, a);
	ws_size_flags_add_nvcc(&w, &target->size, a);
	return end_words(&w, a);
}

const char *const *
ws_target_device_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = gpu_flags(target, false, a);
	ws_size_flags_add_nvcc(&w, &target->size, a);
	return end_words(&w, a);
}

const char *const *
ws_target_link_flags(const struct ws_target *target, struct ws_arena *a)
{
	words w = recipe_flags(target, LINK, a);
	/* .dynsym and unwind tables stay; the removed sections have names of nvcc's temporary files. */
	if (target->size.debug_info == WS_DEBUG_NONE) {
		add_word(&w, a, "-Wl,--strip-all");
	}
	return end_words(&w, a);
}
