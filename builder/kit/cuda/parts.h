/**
 * parts.h - where the parts of a CUDA toolkit are, and which are missing
 *
 * NVIDIA's layout, with or without targets/x86_64-linux (conda and newer toolkits have it), and
 * that of Debian's and Ubuntu's nvidia-cuda-toolkit, which is spread over /usr. Looks at files
 * only; nvcc itself is asked by nvcc.h.
 */
#ifndef WS_KIT_CUDA_PARTS_H
#define WS_KIT_CUDA_PARTS_H

#include "base/arena.h"
#include "base/err.h"

enum ws_cuda_part {
	WS_CUDA_NVCC,
	WS_CUDA_PROFILE,
	WS_CUDA_CICC,
	WS_CUDA_CUDAFE,
	WS_CUDA_PTXAS,
	WS_CUDA_FATBINARY,
	WS_CUDA_NVLINK,
	WS_CUDA_BIN2C,
	WS_CUDA_LIBDEVICE,
	WS_CUDA_HOST_CONFIG,
	WS_CUDA_RUNTIME_H,
	WS_CUDA_RUNTIME_API_H,
	WS_CUDA_CCCL, /**< thrust, and with it CUB and libcu++ */
	WS_CUDA_NV_TARGET,
	WS_CUDA_CUBLAS_H, /**< this and what follows: ATen/cuda/CUDAContextLight.h includes it */
	WS_CUDA_CUSPARSE_H,
	WS_CUDA_CUSOLVER_H,
	WS_CUDA_CURAND_H,
	WS_CUDA_PARTS, /**< how many there are */
};

/** "ptxas", "CCCL (thrust/version.h)". */
const char *ws_cuda_part_name(enum ws_cuda_part part);

/** True for what decides the code that comes out: it is in a toolkit's fingerprint. */
bool ws_cuda_part_is_tool(enum ws_cuda_part part);

/** The part of the toolkit at @a root (absolute, without links); NULL when it is not there. */
const char *ws_cuda_part_find(const char *root, enum ws_cuda_part part, struct ws_arena *a);

/** Any libcudart.so.N of the toolkit; NULL when there is none. */
const char *ws_cuda_find_runtime(const char *root, struct ws_arena *a);

/**
 * The missing parts without which the toolkit compiles no extension, and headers whose release is
 * not @a version ("12.4"). NULL-terminated names.
 */
const char *const *ws_cuda_list_missing(
	const char *root, const char *version, struct ws_arena *a, size_t *count);

#endif
