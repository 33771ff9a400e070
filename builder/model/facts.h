/**
 * facts.h - known releases of torch and CUDA, and their limits
 *
 * Plain data, filled from matrix/facts/torch.json and cuda.json. Facts serve planning; the files of
 * an opened kit take precedence.
 */
#ifndef WS_MODEL_FACTS_H
#define WS_MODEL_FACTS_H

#include "model/condition.h"

/** One build of a torch release: "2.5.1" on the default index is the variant "12.4". */
struct ws_torch_variant {
	const char *cuda; /**< toolkit it was built for: "12.4" */
	int cxx11abi;     /**< 0 or 1 */
};

/** One torch release. */
struct ws_torch_release {
	struct ws_version version;        /**< "2.5.1", no local label */
	struct ws_torch_variant standard; /**< what the default index has */
	const struct ws_torch_variant *others;
	size_t other_count;
	const struct ws_python_tag *pythons; /**< interpreters with a wheel on the default index */
	size_t python_count;
	const char *glibc;        /**< oldest that its wheel runs on: "2.28"; NULL: not said */
	bool aarch64;             /**< so do those for aarch64, built with the same CUDA */
	unsigned cxx_std;         /**< what its headers need: 17 or 20 */
	unsigned cxx_std_default; /**< what its BuildExtension passes: 17 or 20 */
	unsigned gcc_min;         /**< 0: not known */
	bool passes_abi;          /**< BuildExtension passes -D_GLIBCXX_USE_CXX11_ABI (before 2.8) */
	bool passes_pybind;       /**< ... and the three -DPYBIND11_* (before 2.9) */
	bool has_thc;             /**< ... and -I include/TH, include/THC (before 2.7) */
	const char *pybind_build_abi; /**< "_cxxabi1011"; NULL when not passed */
};

/** One CUDA toolkit. */
struct ws_cuda_toolkit {
	struct ws_version version; /**< "12.4" */
	struct ws_version ptx;     /**< version of PTX that it writes, "8.4"; text NULL: not known */
	struct ws_version driver;  /**< the first that reads that, "550.54.14"; text NULL: not known */
	unsigned gcc_max;
	unsigned clang_max;
	struct ws_arch_set archs; /**< every target it has, suffixed ones included; ptx unset */
	unsigned cxx_std_max;     /**< 17, 20, 23; 0: not known */
	bool compress_size;       /**< --compress-mode=size for every driver that runs this toolkit */
	/** From this driver on it is right there; text NULL: nvcc does not know it, or see above. */
	struct ws_version size_driver;
	bool random_seed; /**< nvcc supports --frandom-seed */
	const char *kit;  /**< name of an archive kit: "cuda-12.4"; NULL: not defined */
};

/** A name for an arch set: "hopper" is "9.0"; of a family: code for "12.0f" runs on "12.0;12.1". */
struct ws_arch_alias {
	const char *name;
	struct ws_arch_set archs;
};

struct ws_facts {
	const struct ws_torch_release *torch; /**< ascending */
	size_t torch_count;
	const struct ws_cuda_toolkit *cuda; /**< ascending */
	size_t cuda_count;
	const struct ws_arch_alias *aliases;
	size_t alias_count;
	const struct ws_arch_alias *families; /**< which GPUs run code for an f target */
	size_t family_count;
	unsigned gcc_min; /**< no host compiler below this is chosen */
	const struct ws_shared_bad *shared_bad;
	size_t shared_bad_count;
};

/** NULL when not known. The local label of @a version is ignored. */
const struct ws_torch_release *ws_facts_torch(
	const struct ws_facts *facts, const struct ws_version *version);

/**
 * For a release that is not known: of the same minor the last before it, else that minor's first;
 * else of all the last before it, else the first. NULL only where the facts have none.
 */
const struct ws_torch_release *ws_facts_torch_nearest(
	const struct ws_facts *facts, const struct ws_version *version);

/**
 * The release that @a version means: itself, else for "2.12" the newest of that minor. NULL: none
 * that is known.
 */
const struct ws_torch_release *ws_facts_torch_meant(
	const struct ws_facts *facts, const struct ws_version *version);

/** For "did you mean": a release of the same minor, else one with the same digits ("2.5.1" for
 * "2.51"), else the last before @a version. NULL: the facts are empty. */
const char *ws_facts_torch_suggest(const struct ws_facts *facts, const struct ws_version *version);

/**
 * The archs of a set whose parts are numbers or words: "8.6", "hopper", "RTX-4090;9.0+PTX"; in
 * words case and "-" do not count. False: @a word is a part that is neither, and @a why says so.
 */
bool ws_facts_archs(const struct ws_facts *facts, const char *text, struct ws_arena *a,
	struct ws_arch_set *set, const char **word, const char **why);

/** As wheels of torch are labelled: "cu124" for "12.4". */
const char *ws_cuda_label(const char *cuda, struct ws_arena *a);

/** The newest version of PTX that @a driver ("550.54.14") reads, "8.4"; "0": none that is known. */
const char *ws_facts_ptx_of_driver(const struct ws_facts *facts, const char *driver);

/** Suffixes count: 9.0a is not 9.0. */
bool ws_cuda_has_target(const struct ws_cuda_toolkit *toolkit, const struct ws_arch *arch);

/** All of them; true for a toolkit that is not known (NULL). */
bool ws_cuda_has_targets(const struct ws_cuda_toolkit *toolkit, const struct ws_arch_set *archs);

/** By major and minor; NULL when not known. */
const struct ws_cuda_toolkit *ws_facts_cuda(
	const struct ws_facts *facts, const struct ws_version *version);

#endif
