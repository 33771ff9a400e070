/**
 * kernels.cuh - the kernels of one head dimension, WSK_HEAD_DIM, by their plain names
 *
 * Included by attn_<head dimension>.cu, each of which becomes one image. bfloat16 is there from
 * compute capability 8.0 on.
 */
#include "backward.cuh"
#include "decode.cuh"
#include "forward.cuh"
#include "shape.h"

#define WSK_KERNEL(name) \
	extern "C" __global__ void __launch_bounds__(WSK_THREADS, 2) \
		name(const __grid_constant__ wsk_attn_params p)

#define WSK_KERNELS(type, suffix) \
	WSK_KERNEL(wsk_forward_##suffix) \
	{ \
		wsk::forward<wsk::type, WSK_HEAD_DIM, WSK_FORWARD_M(WSK_HEAD_DIM)>(p); \
	} \
	WSK_KERNEL(wsk_delta_##suffix) \
	{ \
		wsk::delta<wsk::type, WSK_HEAD_DIM>(p); \
	} \
	WSK_KERNEL(wsk_dkdv_##suffix) \
	{ \
		wsk::dkdv<wsk::type, WSK_HEAD_DIM>(p); \
	} \
	WSK_KERNEL(wsk_dq_##suffix) \
	{ \
		wsk::dq<wsk::type, WSK_HEAD_DIM, WSK_DQ_M(WSK_HEAD_DIM)>(p); \
	} \
	WSK_KERNEL(wsk_decode_##suffix) \
	{ \
		wsk::decode<wsk::type, WSK_HEAD_DIM>(p); \
	} \
	WSK_KERNEL(wsk_combine_##suffix) \
	{ \
		wsk::combine<wsk::type, WSK_HEAD_DIM>(p); \
	}

WSK_KERNELS(half, f16)
#if __CUDA_ARCH__ >= 800
WSK_KERNELS(bfloat, bf16)
#endif
