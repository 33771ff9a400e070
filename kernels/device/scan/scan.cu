/* scan.cu - the selective scan, forward and backward, and its state update */
#include "backward.cuh"
#include "forward.cuh"
#include "parts.cuh"
#include "update.cuh"

#define WSK_SCAN_KERNEL(name, params, blocks) \
	extern "C" __global__ void __launch_bounds__(WSK_SCAN_THREADS, blocks) \
		name(const __grid_constant__ params p)

/* Blocks at once where a multiprocessor of 7.5 has shared memory for one. */
#if __CUDA_ARCH__ < 800
#define WSK_SCAN_BLOCKS 1
#else
#define WSK_SCAN_BLOCKS 2
#endif

#define WSK_SCAN_KERNELS(type, suffix, blocks, blocks_of_constant) \
	WSK_SCAN_KERNEL(wsk_scan_forward_##suffix, wsk_scan_params, blocks) \
	{ \
		wsk::scan_forward<wsk::type, false, WSK_SCAN_FORWARD_EACH>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_scan_forward_constant_##suffix, wsk_scan_params, blocks_of_constant) \
	{ \
		wsk::scan_forward<wsk::type, true, WSK_SCAN_FORWARD_EACH>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_scan_states_##suffix, wsk_scan_params, 4) \
	{ \
		wsk::scan_local<wsk::type, false>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_scan_ends_##suffix, wsk_scan_params, 3) \
	{ \
		wsk::scan_local<wsk::type, true>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_scan_backward_##suffix, wsk_scan_params, WSK_SCAN_BLOCKS) \
	{ \
		wsk::scan_backward<wsk::type, false>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_scan_backward_constant_##suffix, wsk_scan_params, WSK_SCAN_BLOCKS) \
	{ \
		wsk::scan_backward<wsk::type, true>(p); \
	}

/* With x of one type. */
#define WSK_UPDATE_KERNELS_OF(type, x, name, blocks) \
	WSK_SCAN_KERNEL(wsk_update_##name, wsk_update_wide_params, blocks) \
	{ \
		wsk::state_update_wide<wsk::type, wsk::x>(p); \
	} \
	WSK_SCAN_KERNEL(wsk_update_alone_##name, wsk_update_wide_params, blocks) \
	{ \
		wsk::state_update_alone<wsk::type, wsk::x>(p); \
	}

#define WSK_UPDATE_KERNELS(type, suffix) \
	WSK_SCAN_KERNEL(wsk_update_any_##suffix, wsk_state_update_params, 8) \
	{ \
		wsk::state_update_any<wsk::type>(p); \
	} \
	WSK_UPDATE_KERNELS_OF(type, float16, suffix##_of_f16, 6) \
	WSK_UPDATE_KERNELS_OF(type, bfloat16, suffix##_of_bf16, 6) \
	WSK_UPDATE_KERNELS_OF(type, float32, suffix##_of_f32, 5)

WSK_SCAN_KERNELS(float16, f16, 3, 2)
WSK_SCAN_KERNELS(bfloat16, bf16, 3, 2)
WSK_SCAN_KERNELS(float32, f32, WSK_SCAN_BLOCKS, WSK_SCAN_BLOCKS)
WSK_UPDATE_KERNELS(float16, f16)
WSK_UPDATE_KERNELS(bfloat16, bf16)
WSK_UPDATE_KERNELS(float32, f32)

WSK_SCAN_KERNEL(wsk_scan_combine, wsk_scan_params, 4)
{
	wsk::scan_combine(p);
}
WSK_SCAN_KERNEL(wsk_scan_sum, wsk_scan_sums_params, 4)
{
	wsk::scan_sum(p);
}
