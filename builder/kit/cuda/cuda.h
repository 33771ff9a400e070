/**
 * cuda.h - a CUDA toolkit: found on the host, or assembled from pinned archives
 *
 * Compilers are called below the work folder's link `cuda`, so commands read the same whichever
 * it is. A host toolkit must be complete (compiler, runtime, CCCL and the math headers that ATen
 * includes) to be chosen. plan/ chooses the toolkit of a cell.
 *
 * An archive kit has neither libcudart_static nor libcudadevrt: whoever links by nvcc passes
 * `--cudart shared --cudadevrt none`, or it takes another CUDA's from the host without a word
 * (measured: /usr/local/lib64 is among ld's folders).
 */
#ifndef WS_KIT_CUDA_CUDA_H
#define WS_KIT_CUDA_CUDA_H

#include "kit/hostcc/hostcc.h"
#include "model/kit_def.h"
#include "model/lock.h"
#include "store/tree.h"

struct ws_fetch;

struct ws_cuda_kit {
	const char *name;           /**< "cuda-12.4" */
	struct ws_version version;  /**< "12.4" */
	const char *release;        /**< nvcc's own: "12.4.131" */
	const char *path;           /**< absolute root, without links */
	const struct ws_tree *tree; /**< an archive kit; NULL: a host toolkit, whose files may change */
	const char *how;            /**< origin, as in the lock: "host", "archive", "redist" */
	const char *definition; /**< sha256 of the definition or manifest it was made by; NULL: host */
	/** Where what the definition takes from Debian came from: "mirror", "redist"; NULL: nothing. */
	const char *debian;
	const char *fingerprint; /**< of nvcc, its profile and sub-tools */
	/** sha256 of each tool, by enum ws_cuda_part; "" where it has none; filled with the
	 * fingerprint. */
	const char *const *digests;
	/** Canonical folders nvcc searches after -I: "cuda/include", ...; filled by
	 * ws_cuda_ask_include. */
	const char *const *include;
	size_t include_count;
	const char *runtime;        /**< absolute path of libcudart.so.N */
	const char *runtime_soname; /**< "libcudart.so.12" */
	struct ws_hostcc_limits limits;
	const char *const *missing; /**< of a host toolkit: what keeps it from being complete */
	size_t missing_count;
	const struct ws_err *failure; /**< of a host toolkit: why it cannot be used here, or NULL */
};

typedef WS_VEC(struct ws_cuda_kit) ws_cuda_list;

/** Cached answers of toolkits: an unchanged nvcc is not started again. */
struct ws_cuda_memory {
	const struct ws_store *store;
	struct ws_ledger *ledger;
};

/**
 * Toolkits of this host: CUDA_HOME, nvcc on PATH, /usr/local/cuda*, /opt/cuda, and the package of
 * Debian and Ubuntu; each once, newest first. Only name, version, release, path, how and missing
 * are filled. @a memory may be NULL.
 */
void ws_cuda_list_host(const struct ws_user_env *env, const struct ws_cuda_memory *memory,
	struct ws_arena *a, ws_cuda_list *list);

/** Fills the rest of a host toolkit, except include. One with missing parts is WS_ERR_BUILD. */
bool ws_cuda_open_host(
	struct ws_cuda_kit *kit, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err);

/**
 * Assembles the archive kit of @a def, or finds it in the store, and fills all except include.
 * Where the Debian mirror is not known or does not have what the definition takes from it, NVIDIA's
 * redistributables of the same CUDA take its place. @a pin is the lock's, or NULL: one of the same
 * definition says which of the two it was, and what must come out; another tree is WS_ERR_FETCH.
 */
bool ws_cuda_open_archive(const struct ws_fetch *fetch, const struct ws_kit_def *def,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err);

/** Fills include of a kit that is open. nvcc does not answer without a host compiler: @a cxx. @a
 * ledger as for ws_answer_cache_ask. */
bool ws_cuda_ask_include(struct ws_cuda_kit *kit, const char *cxx, struct ws_ledger *ledger,
	struct ws_arena *a, struct ws_err *err);

/**
 * The kit that the redistributables of CUDA @a cuda ("12.4", or "12.4.1") make: no definition of
 * ours. @a pin as above; it pins the manifest, which is not signed.
 */
bool ws_cuda_open_redist(const struct ws_fetch *fetch, const struct ws_version *cuda,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err);

#endif
