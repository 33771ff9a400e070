/**
 * device.cuh - what stands before every function of a kernel
 */
#ifndef WSK_DEVICE_DEVICE_CUH
#define WSK_DEVICE_DEVICE_CUH

#include <stdint.h>

/** A part of a kernel: always inlined, so array arguments stay in registers. */
#define WSK_DEVICE __device__ __forceinline__

namespace wsk
{

/** The compiler keeps the other way out of the way: a branch that is taken waits for its
 * instructions. */
WSK_DEVICE bool
usually(bool x)
{
	return __builtin_expect(x, true);
}

/** All 32 lanes take part in a shuffle or a vote. */
constexpr unsigned ALL = 0xffffffffu;

} // namespace wsk

#endif
