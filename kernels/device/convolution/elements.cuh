/**
 * elements.cuh - the element types of the convolution: neighbours in registers, as floats
 *
 * E is __half, __nv_bfloat16 or float, and piece<E, N> has N of them, 4, 8 or 16 bytes: one load, one store.
 * Everything is computed in float. bfloat16 works on every device here: it is the upper half of a float, and
 * rounding is done in integers where there is no instruction for it. The scan converts in its own way, with
 * the same results: ../scan/elements.cuh says why.
 */
#ifndef WSK_DEVICE_ELEMENTS_CUH
#define WSK_DEVICE_ELEMENTS_CUH

#include "../common/device.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <stdint.h>

namespace wsk
{

static WSK_DEVICE float
to_float(float x)
{
	return x;
}

static WSK_DEVICE float
to_float(__half x)
{
	return __half2float(x);
}

static WSK_DEVICE float
to_float(__nv_bfloat16 x)
{
	return __bfloat162float(x);
}

static WSK_DEVICE void
from_float(float &x, float f)
{
	x = f;
}

static WSK_DEVICE void
from_float(__half &x, float f)
{
	x = __float2half_rn(f);
}

static WSK_DEVICE void
from_float(__nv_bfloat16 &x, float f)
{
	x = __float2bfloat16_rn(f);
}

static WSK_DEVICE uint32_t
two(__half, float lo, float hi)
{
	__half2 h = __floats2half2_rn(lo, hi);
	return *reinterpret_cast<uint32_t *>(&h);
}

static WSK_DEVICE uint32_t
two(__nv_bfloat16, float lo, float hi)
{
	__nv_bfloat162 h = __floats2bfloat162_rn(lo, hi);
	return *reinterpret_cast<uint32_t *>(&h);
}

static WSK_DEVICE float2
two_floats(__half, uint32_t w)
{
	return __half22float2(*reinterpret_cast<__half2 *>(&w));
}

static WSK_DEVICE float2
two_floats(__nv_bfloat16, uint32_t w)
{
	return make_float2(__uint_as_float(w << 16), __uint_as_float(w & 0xffff0000u));
}

/** @a N neighbouring elements in registers, at least 4 bytes. */
template <typename E, int N> struct piece {
	static constexpr int WORDS = N * (int)sizeof(E) / 4;
	static_assert(WORDS == 1 || WORDS == 2 || WORDS == 4, "one load");
	uint32_t w[WORDS];

	WSK_DEVICE float
	at(int i) const
	{
		if constexpr (sizeof(E) == 4) {
			return __uint_as_float(w[i]);
		} else {
			float2 f = two_floats(E(), w[i / 2]);
			return i % 2 ? f.y : f.x;
		}
	}

	WSK_DEVICE void
	set(const float (&f)[N])
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++) {
			if constexpr (sizeof(E) == 4) {
				w[i] = __float_as_uint(f[i]);
			} else {
				w[i] = two(E(), f[2 * i], f[2 * i + 1]);
			}
		}
	}

	WSK_DEVICE void
	clear()
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++) {
			w[i] = 0;
		}
	}

	/** @a from lies at a multiple of the piece's size. */
	WSK_DEVICE void
	load(const E *from)
	{
		if constexpr (WORDS == 4) {
			uint4 v = __ldg(reinterpret_cast<const uint4 *>(from));
			w[0] = v.x, w[1] = v.y, w[2] = v.z, w[3] = v.w;
		} else if constexpr (WORDS == 2) {
			uint2 v = __ldg(reinterpret_cast<const uint2 *>(from));
			w[0] = v.x, w[1] = v.y;
		} else {
			w[0] = __ldg(reinterpret_cast<const uint32_t *>(from));
		}
	}

	WSK_DEVICE void
	store(E *to) const
	{
		if constexpr (WORDS == 4) {
			*reinterpret_cast<uint4 *>(to) = make_uint4(w[0], w[1], w[2], w[3]);
		} else if constexpr (WORDS == 2) {
			*reinterpret_cast<uint2 *>(to) = make_uint2(w[0], w[1]);
		} else {
			*reinterpret_cast<uint32_t *>(to) = w[0];
		}
	}

	/** Elements [first, last) at any address; the others are 0. */
	WSK_DEVICE void
	load_some(const E *from, int first, int last)
	{
		clear();
#pragma unroll
		for (int i = 0; i < N; i++) {
			if (i >= first && i < last) {
				put(i, from[i]);
			}
		}
	}

	WSK_DEVICE void
	store_some(E *to, int first, int last) const
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			if (i >= first && i < last) {
				to[i] = get(i);
			}
		}
	}

	WSK_DEVICE E
	get(int i) const
	{
		if constexpr (sizeof(E) == 4) {
			return *reinterpret_cast<const E *>(&w[i]);
		} else {
			unsigned short bits = (unsigned short)(w[i / 2] >> (i % 2 * 16));
			return *reinterpret_cast<const E *>(&bits);
		}
	}

	/** Into a place that is 0. */
	WSK_DEVICE void
	put(int i, E x)
	{
		if constexpr (sizeof(E) == 4) {
			w[i] = *reinterpret_cast<const uint32_t *>(&x);
		} else {
			w[i / 2] |= (uint32_t) * reinterpret_cast<const unsigned short *>(&x) << (i % 2 * 16);
		}
	}
};

/** Element @a i of an array whose type, enum wsk_type, is known when it runs. */
static WSK_DEVICE float
load_any(uint64_t data, int type, int64_t i)
{
	switch (type) {
	case 1:
		return to_float(reinterpret_cast<const __half *>(data)[i]);
	case 2:
		return to_float(reinterpret_cast<const __nv_bfloat16 *>(data)[i]);
	default:
		return reinterpret_cast<const float *>(data)[i];
	}
}

static WSK_DEVICE void
store_any(uint64_t data, int type, int64_t i, float f, bool add)
{
	f += add ? load_any(data, type, i) : 0.f;
	switch (type) {
	case 1:
		from_float(reinterpret_cast<__half *>(data)[i], f);
		break;
	case 2:
		from_float(reinterpret_cast<__nv_bfloat16 *>(data)[i], f);
		break;
	default:
		reinterpret_cast<float *>(data)[i] = f;
	}
}

} // namespace wsk

#endif
