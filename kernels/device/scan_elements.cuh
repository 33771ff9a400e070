/**
 * scan_elements.cuh - numbers of 2 and 4 bytes as floats, one or four at a time, and the fast functions
 *
 * Everything is computed in float: the types differ only here.
 */
#ifndef WSK_DEVICE_SCAN_ELEMENTS_CUH
#define WSK_DEVICE_SCAN_ELEMENTS_CUH

#include "warp.cuh"

namespace wsk
{

constexpr float LOG2E = 1.44269504088896341f;
constexpr float LN2 = 0.69314718055994531f;

/** 16-bit elements as they lie in memory; @a P packs and unpacks two of them. */
template <typename P> struct packed {
	typedef uint16_t element;
	struct four {
		uint2 r;
	};
	static WSK_DEVICE float
	get(element e)
	{
		return P::unpack(e).x;
	}
	static WSK_DEVICE element
	put(float x)
	{
		return (element)P::pack(x, 0.0f);
	}
	static WSK_DEVICE void
	unpack(float (&x)[4], const four &v)
	{
		float2 lo = P::unpack(v.r.x), hi = P::unpack(v.r.y);
		x[0] = lo.x, x[1] = lo.y, x[2] = hi.x, x[3] = hi.y;
	}
	static WSK_DEVICE four
	pack(const float (&x)[4])
	{
		four v;
		v.r = make_uint2(P::pack(x[0], x[1]), P::pack(x[2], x[3]));
		return v;
	}
};

/** cvt to bfloat16 is there from 8.0 on: this rounds with integers, to nearest even. */
struct bfloat_anywhere : bfloat {
	static WSK_DEVICE uint32_t
	round(float x)
	{
		uint32_t r = __float_as_uint(x);
		return x != x ? 0x7fffu : (r + 0x7fffu + ((r >> 16) & 1)) >> 16;
	}
	static WSK_DEVICE uint32_t
	pack(float lo, float hi)
	{
#if __CUDA_ARCH__ >= 800
		return bfloat::pack(lo, hi);
#else
		return round(lo) | round(hi) << 16;
#endif
	}
};

struct float16 : packed<half> {
};
struct bfloat16 : packed<bfloat_anywhere> {
};
struct float32 {
	typedef float element;
	struct four {
		float4 r;
	};
	static WSK_DEVICE float
	get(element e)
	{
		return e;
	}
	static WSK_DEVICE element
	put(float x)
	{
		return x;
	}
	static WSK_DEVICE void
	unpack(float (&x)[4], const four &v)
	{
		x[0] = v.r.x, x[1] = v.r.y, x[2] = v.r.z, x[3] = v.r.w;
	}
	static WSK_DEVICE four
	pack(const float (&x)[4])
	{
		four v;
		v.r = make_float4(x[0], x[1], x[2], x[3]);
		return v;
	}
};

/** Four elements from @a at, of which the first @a count are there; the others are 0. */
template <typename T>
WSK_DEVICE typename T::four
load_four(const typename T::element *at, int count, bool wide)
{
	if (wide && count >= 4) {
		return *reinterpret_cast<const typename T::four *>(at);
	}
	float x[4];
#pragma unroll
	for (int i = 0; i < 4; i++) {
		x[i] = i < count ? T::get(at[i]) : 0.0f;
	}
	return T::pack(x);
}

template <typename T>
WSK_DEVICE void
store_four(typename T::element *at, const float (&x)[4], int count, bool wide)
{
	if (wide && count >= 4) {
		*reinterpret_cast<typename T::four *>(at) = T::pack(x);
		return;
	}
#pragma unroll
	for (int i = 0; i < 4; i++) {
		if (i < count) {
			at[i] = T::put(x[i]);
		}
	}
}

WSK_DEVICE float
log2_fast(float x)
{
	float y;
	asm("lg2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

WSK_DEVICE float
reciprocal_fast(float x)
{
	float y;
	asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
}

WSK_DEVICE float
sigmoid(float x)
{
	return reciprocal_fast(1.0f + exp2_fast(-x * LOG2E));
}

/** log(1 + exp(x)); x itself above 20, as torch and upstream have it. */
WSK_DEVICE float
softplus(float x)
{
	float e = exp2_fast(x * LOG2E);
	/* Near 1 the logarithm would lose what e adds: five terms, to 2e-7 of the result. */
	float series = e * (1.0f + e * (-0.5f + e * (1.0f / 3 + e * (-0.25f + e * 0.2f))));
	float y = e < 0.0625f ? series : LN2 * log2_fast(1.0f + e);
	return x <= 20.0f ? y : x;
}

} // namespace wsk

#endif
