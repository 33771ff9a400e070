/**
 * elements.cuh - the element types as they lie in memory, and neighbours of them in registers, as
 * floats
 *
 * E is float16, bfloat16 or float, and piece<E, N> has N of them, 4, 8 or 16 bytes: one load, one
 * store. All arithmetic is in float. bfloat16 works on every device here: it is the upper half of a
 * float, and devices without the instruction round in integers.
 */
#ifndef WSK_DEVICE_ELEMENTS_CUH
#define WSK_DEVICE_ELEMENTS_CUH

#include "instructions.cuh"

namespace wsk
{

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

struct float16 {
	typedef half words; /**< packs and unpacks two of them */
	uint16_t bits;
};
struct bfloat16 {
	typedef bfloat_anywhere words;
	uint16_t bits;
};
typedef float float32;

WSK_DEVICE float
to_float(float x)
{
	return x;
}

template <typename E>
WSK_DEVICE float
to_float(E x)
{
	return E::words::unpack(x.bits).x;
}

template <typename E>
WSK_DEVICE E
from_float(float x)
{
	if constexpr (sizeof(E) == 4) {
		return x;
	} else {
		return {(uint16_t)E::words::pack(x, 0.0f)};
	}
}

/** The element in the low bits of a wider word. */
template <typename E>
WSK_DEVICE E
from_bits(uint32_t bits)
{
	if constexpr (sizeof(E) == 4) {
		return __uint_as_float(bits);
	} else {
		return {(uint16_t)bits};
	}
}

/** @a N neighbouring elements in registers, at least 4 bytes; in memory at a multiple of its
 * size. */
template <typename E, int N> struct alignas(N * sizeof(E)) piece {
	static constexpr int WORDS = N * (int)sizeof(E) / 4;
	static_assert(WORDS == 1 || WORDS == 2 || WORDS == 4, "one load");
	uint32_t w[WORDS];

	WSK_DEVICE float
	at(int i) const
	{
		if constexpr (sizeof(E) == 4) {
			return __uint_as_float(w[i]);
		} else {
			float2 f = E::words::unpack(w[i / 2]);
			return i % 2 ? f.y : f.x;
		}
	}

	WSK_DEVICE void
	unpack(float (&f)[N]) const
	{
#pragma unroll
		for (int i = 0; i < N; i++) {
			f[i] = at(i);
		}
	}

	WSK_DEVICE void
	pack(const float (&f)[N])
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++) {
			if constexpr (sizeof(E) == 4) {
				w[i] = __float_as_uint(f[i]);
			} else {
				w[i] = E::words::pack(f[2 * i], f[2 * i + 1]);
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

	/** For memory that no thread writes at the same time. */
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

	/** Word by word: of states that are updated in place, which took up to 1.2 times as long by
	 * whole pieces. */
	WSK_DEVICE void
	load_words(const E *from)
	{
#pragma unroll
		for (int i = 0; i < WORDS; i++) {
			w[i] = reinterpret_cast<const uint32_t *>(from)[i];
		}
	}

	WSK_DEVICE void
	store(E *to) const
	{
		*reinterpret_cast<piece *>(to) = *this;
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
			return from_bits<E>(w[i]);
		} else {
			return from_bits<E>(w[i / 2] >> (i % 2 * 16));
		}
	}

	/** Into a place that is 0. */
	WSK_DEVICE void
	put(int i, E x)
	{
		if constexpr (sizeof(E) == 4) {
			w[i] = __float_as_uint(x);
		} else {
			w[i / 2] |= (uint32_t)x.bits << (i % 2 * 16);
		}
	}
};

/** All elements of @a v as floats. */
template <typename E, int N, int COUNT>
WSK_DEVICE void
unpack_all(float (&x)[N * COUNT], const piece<E, N> (&v)[COUNT])
{
#pragma unroll
	for (int i = 0; i < N * COUNT; i++) {
		x[i] = v[i / N].at(i % N);
	}
}

/** Element @a i of an array whose type, enum wsk_type, is known when it runs; the same for all
 * threads. */
WSK_DEVICE float
load_any(uint64_t data, int type, int64_t i)
{
	if (type == 3) {
		return reinterpret_cast<const float *>(data)[i];
	}
	uint16_t bits = reinterpret_cast<const uint16_t *>(data)[i];
	return type == 1 ? to_float(float16{bits}) : to_float(bfloat16{bits});
}

WSK_DEVICE void
store_any(uint64_t data, int type, int64_t i, float f)
{
	if (type == 3) {
		reinterpret_cast<float *>(data)[i] = f;
	} else {
		reinterpret_cast<uint16_t *>(data)[i] =
			type == 1 ? from_float<float16>(f).bits : from_float<bfloat16>(f).bits;
	}
}

} // namespace wsk

#endif
