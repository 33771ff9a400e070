/**
 * instructions.cuh - instructions that CUDA C++ has no name for: exponential, conversions, tensor
 * cores
 *
 * Fragments are those of mma.m16n8k16 (PTX ISA, "Matrix Fragments"). On sm_75, which has m16n8k8
 * alone, one product of 16 is two of 8: the fragments are the same registers.
 */
#ifndef WSK_DEVICE_INSTRUCTIONS_CUH
#define WSK_DEVICE_INSTRUCTIONS_CUH

#include "device.cuh"

namespace wsk
{

/* CUDA's own functions for float add code for denormal numbers, which nothing here needs: they are
 * 0 (ftz). ex2, lg2 and rcp are right to about 2 units in the last place. */

WSK_DEVICE float
exp2_fast(float x)
{
	float y;
	asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(x));
	return y;
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

/** The element types: how two floats become one register, and which product takes them. */
struct half {
	/** Rounds to nearest even; @a lo goes to the low half. */
	static WSK_DEVICE uint32_t
	pack(float lo, float hi)
	{
		uint32_t r;
#if __CUDA_ARCH__ >= 800
		asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
#else
		asm("{ .reg .b16 l, h; cvt.rn.f16.f32 l, %1; cvt.rn.f16.f32 h, %2; mov.b32 %0, {l, h}; }"
			: "=r"(r)
			: "f"(lo), "f"(hi));
#endif
		return r;
	}
	static WSK_DEVICE float2
	unpack(uint32_t r)
	{
		float2 f;
		asm("{ .reg .b16 l, h; mov.b32 {l, h}, %2; cvt.f32.f16 %0, l; cvt.f32.f16 %1, h; }"
			: "=f"(f.x), "=f"(f.y)
			: "r"(r));
		return f;
	}
	static WSK_DEVICE void
	mma8(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b0)
	{
		asm("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
			"{%0,%1,%2,%3};"
			: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			: "r"(a0), "r"(a1), "r"(b0));
	}
	static WSK_DEVICE void
	mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
	{
#if __CUDA_ARCH__ >= 800
		asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
			"{%8,%9}, {%0,%1,%2,%3};"
			: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
		mma8(c, a[0], a[1], b0);
		mma8(c, a[2], a[3], b1);
#endif
	}
};

/** bfloat16: no product of sm_75 takes it. */
struct bfloat {
	static WSK_DEVICE uint32_t
	pack(float lo, float hi)
	{
		uint32_t r;
		asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(r) : "f"(hi), "f"(lo));
		return r;
	}
	static WSK_DEVICE float2
	unpack(uint32_t r)
	{
		return make_float2(__uint_as_float(r << 16), __uint_as_float(r & 0xffff0000u));
	}
	static WSK_DEVICE void
	mma8(float (&c)[4], uint32_t a0, uint32_t a1, uint32_t b0)
	{
		asm("mma.sync.aligned.m16n8k8.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
			"{%0,%1,%2,%3};"
			: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			: "r"(a0), "r"(a1), "r"(b0));
	}
	static WSK_DEVICE void
	mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
	{
		asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
			"{%8,%9}, {%0,%1,%2,%3};"
			: "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
			: "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
	}
};

/** Four 8 x 8 matrices; lane l gives the address of row l % 8 of matrix l / 8. */
WSK_DEVICE void
load_matrices(uint32_t (&r)[4], uint32_t address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
				 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
				 : "r"(address)
				 : "memory");
}

WSK_DEVICE void
load_transposed(uint32_t (&r)[4], uint32_t address)
{
	asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
				 : "=r"(r[0]), "=r"(r[1]), "=r"(r[2]), "=r"(r[3])
				 : "r"(address)
				 : "memory");
}

/** A barrier of two warps only; id, 1 to 15, belongs to them. */
WSK_DEVICE void
meet_pair(int id)
{
	asm volatile("bar.sync %0, 64;" ::"r"(id) : "memory");
}

WSK_DEVICE uint32_t
shared_address(const void *p)
{
	return (uint32_t)__cvta_generic_to_shared(p);
}

} // namespace wsk

#endif
