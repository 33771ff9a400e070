/* conv.cu - causal_conv1d: the kernels of the convolution by their plain names, for three types */
#include "first.cuh"
#include "first_backward.cuh"
#include "last.cuh"
#include "last_backward.cuh"
#include "update.cuh"

/* Each width is code of its own in one kernel, whose registers are those of 4, which models
 * have. */
#define WSK_CONV_KERNEL(name, params, blocks, ...) \
	extern "C" __global__ void __launch_bounds__(WSK_CONV_THREADS, blocks) \
		name(const __grid_constant__ params p) \
	{ \
		if (p.width == 4) { \
			constexpr int W = 4; \
			__VA_ARGS__(p); \
		} else if (p.width == 3) { \
			constexpr int W = 3; \
			__VA_ARGS__(p); \
		} else { \
			constexpr int W = 2; \
			__VA_ARGS__(p); \
		} \
	}

/* Blocks at once that registers are for; @a last, @a back: of contiguous channels. */
#define WSK_CONV_KERNELS(E, suffix, last, back) \
	WSK_CONV_KERNEL(wsk_conv_first_forward_##suffix, wsk_conv_params, 8, wsk::first_forward<E, W>) \
	WSK_CONV_KERNEL( \
		wsk_conv_first_backward_##suffix, wsk_conv_params, 4, wsk::first_backward<E, W>) \
	WSK_CONV_KERNEL( \
		wsk_conv_last_forward_##suffix, wsk_conv_params, last, wsk::last_forward<E, W, false>) \
	WSK_CONV_KERNEL( \
		wsk_conv_last_backward_##suffix, wsk_conv_params, back, wsk::last_backward<E, W, false>) \
	WSK_CONV_KERNEL( \
		wsk_conv_packed_forward_##suffix, wsk_conv_params, 4, wsk::last_forward<E, W, true>) \
	WSK_CONV_KERNEL( \
		wsk_conv_packed_backward_##suffix, wsk_conv_params, 2, wsk::last_backward<E, W, true>) \
	WSK_CONV_KERNEL(wsk_conv_update_##suffix, wsk_conv_update_params, 4, wsk::update<E, W>)

WSK_CONV_KERNELS(wsk::float16, f16, 6, 4)
WSK_CONV_KERNELS(wsk::bfloat16, bf16, 6, 4)
WSK_CONV_KERNELS(wsk::float32, f32, 5, 3)

extern "C" __global__ void
__launch_bounds__(WSK_CONV_THREADS) wsk_conv_reduce(const __grid_constant__ wsk_conv_params p)
{
	wsk::reduce_sums(p);
}
