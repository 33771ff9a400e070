/**
 * kernels.cuh - the kernels of one head dimension, WSK_HEAD_DIM, by their plain names
 *
 * Included by attn_<head dimension>.cu, each of which becomes one image. bfloat16 needs compute
 * capability 8.0 or newer.
 */
#include "decode.cuh"
#include "dkdv_pair.cuh"
#include "forward.cuh"

#define WSK_KERNEL_OF(name, blocks) \
	extern "C" __global__ void __launch_bounds__(WSK_THREADS, blocks) \
		name(const __grid_constant__ wsk_attn_params p)

#define WSK_KERNEL(name) WSK_KERNEL_OF(name, 2)

/* Blocks at once: of more shared memory than half of 64 KiB a multiprocessor of 7.5 holds one. */
#if __CUDA_ARCH__ < 800
#define WSK_BLOCKS(half_is_enough) ((half_is_enough) ? 2 : 1)
#else
#define WSK_BLOCKS(half_is_enough) 2
#endif
#define WSK_DECODE_BLOCKS WSK_BLOCKS(WSK_HEAD_DIM <= 96)
#define WSK_DKDV_BLOCKS WSK_BLOCKS(WSK_HEAD_DIM != 128)
#define WSK_DKDV_ANY_BLOCKS WSK_BLOCKS(WSK_HEAD_DIM != 96)

#define WSK_DKDV(type, any) \
	if constexpr (WSK_DKDV_IN_PAIRS(WSK_HEAD_DIM, any)) { \
		wsk::dkdv_pair<wsk::type, WSK_HEAD_DIM, any>(p); \
	} else { \
		wsk::dkdv<wsk::type, WSK_HEAD_DIM, any>(p); \
	}

#define WSK_KERNELS(type, suffix) \
	WSK_KERNEL(wsk_forward_##suffix) \
	{ \
		wsk::forward<wsk::type, WSK_HEAD_DIM, WSK_FORWARD_M(WSK_HEAD_DIM), wsk::kind::USUAL>(p); \
	} \
	WSK_KERNEL(wsk_forward_any_##suffix) \
	{ \
		wsk::forward<wsk::type, WSK_HEAD_DIM, 1, wsk::kind::ANY>(p); \
	} \
	WSK_KERNEL(wsk_split_##suffix) \
	{ \
		wsk::forward<wsk::type, WSK_HEAD_DIM, 1, wsk::kind::SPLIT>(p); \
	} \
	WSK_KERNEL(wsk_delta_##suffix) \
	{ \
		wsk::delta<wsk::type, WSK_HEAD_DIM>(p); \
	} \
	WSK_KERNEL_OF(wsk_dkdv_##suffix, WSK_DKDV_BLOCKS) \
	{ \
		WSK_DKDV(type, false); \
	} \
	WSK_KERNEL_OF(wsk_dkdv_any_##suffix, WSK_DKDV_ANY_BLOCKS) \
	{ \
		WSK_DKDV(type, true); \
	} \
	WSK_KERNEL(wsk_dq_##suffix) \
	{ \
		wsk::dq<wsk::type, WSK_HEAD_DIM, WSK_DQ_M(WSK_HEAD_DIM), false>(p); \
	} \
	WSK_KERNEL(wsk_dq_any_##suffix) \
	{ \
		wsk::dq<wsk::type, WSK_HEAD_DIM, 1, true>(p); \
	} \
	WSK_KERNEL(wsk_combine_##suffix) \
	{ \
		wsk::combine<wsk::type, WSK_HEAD_DIM>(p); \
	}

#define WSK_DECODE_KERNEL(type, suffix) \
	WSK_KERNEL_OF(wsk_decode_##suffix, WSK_DECODE_BLOCKS) \
	{ \
		wsk::decode<wsk::type, WSK_HEAD_DIM>(p); \
	}

/* For head dimensions where the kernel above cannot hold 32 rows a warp. */
#define WSK_SPLIT_MANY_KERNEL(type, suffix) \
	WSK_KERNEL(wsk_split_many_##suffix) \
	{ \
		wsk::forward<wsk::type, WSK_HEAD_DIM, WSK_FORWARD_M(WSK_HEAD_DIM), wsk::kind::SPLIT>(p); \
	}

WSK_KERNELS(half, f16)
#if WSK_SPLIT_HAS_MANY(WSK_HEAD_DIM)
WSK_SPLIT_MANY_KERNEL(half, f16)
#endif
#if WSK_HEAD_DIM <= WSK_DECODE_COLUMNS
WSK_DECODE_KERNEL(half, f16)
#endif
#if __CUDA_ARCH__ >= 800
WSK_KERNELS(bfloat, bf16)
#if WSK_SPLIT_HAS_MANY(WSK_HEAD_DIM)
WSK_SPLIT_MANY_KERNEL(bfloat, bf16)
#endif
#if WSK_HEAD_DIM <= WSK_DECODE_COLUMNS
WSK_DECODE_KERNEL(bfloat, bf16)
#endif
#endif
