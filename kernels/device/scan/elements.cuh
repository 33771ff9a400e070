/**
 * elements.cuh - the element types of the scan and of its update: as floats, one or four at a time
 *
 * Everything is computed in float: the types differ only here. The convolution has the same for any number of
 * neighbours (../convolution/elements.cuh). One of both would change machine code: cuda_bf16.h, by which the convolution
 * converts, makes other instructions of one bfloat16 than a shift, and on sm_75 rounds it in other ones.
 */
#ifndef WSK_DEVICE_SCAN_ELEMENTS_CUH
#define WSK_DEVICE_SCAN_ELEMENTS_CUH

#include "../common/instructions.cuh"

namespace wsk
{

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

/** All elements of @a v as floats. */
template <typename T, int COUNT>
WSK_DEVICE void
unpack_fours(float (&x)[4 * COUNT], const typename T::four (&v)[COUNT])
{
#pragma unroll
	for (int k = 0; k < COUNT; k++) {
		float four[4];
		T::unpack(four, v[k]);
#pragma unroll
		for (int i = 0; i < 4; i++) {
			x[4 * k + i] = four[i];
		}
	}
}

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

} // namespace wsk

#endif
