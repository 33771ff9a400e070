/**
 * kernels_emulated.h - the text of a kernel as C++ for the CPU: threads, barriers, tensor cores
 *
 * Included before an attn_*.cu, in place of nvcc; WSK_EMULATED_PARAMS is the type that its kernels
 * take. A block's threads are fibers of one OS thread, which change places only where a warp or a
 * block meets; blocks run one after the other, so __shared__ is static. A barrier that some threads
 * do not reach, and lanes of a warp that meet at different instructions, end the process with a
 * message. The seed of WSK_EMULATED_SEED decides who goes first: what a missing barrier leaves to
 * chance changes with it. Uninitialised registers and addresses outside of a tensor are for the
 * sanitizers of the compiler.
 */
#ifndef WSK_TESTS_KERNELS_EMULATED_H
#define WSK_TESTS_KERNELS_EMULATED_H

#include <algorithm>
#include <math.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <vector>

#define __global__
#define __device__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __grid_constant__
#define __shared__ static
#define __align__(n) __attribute__((aligned(n)))

using std::max;
using std::min;

struct uint2 {
	uint32_t x, y;
};
struct uint4 {
	uint32_t x, y, z, w;
};
struct float2 {
	float x, y;
};
struct float4 {
	float x, y, z, w;
};
struct dim3 {
	unsigned x, y, z;
};

static inline uint4
make_uint4(uint32_t x, uint32_t y, uint32_t z, uint32_t w)
{
	return {x, y, z, w};
}
static inline uint2
make_uint2(uint32_t x, uint32_t y)
{
	return {x, y};
}
static inline float2
make_float2(float x, float y)
{
	return {x, y};
}
static inline float4
make_float4(float x, float y, float z, float w)
{
	return {x, y, z, w};
}
template <class T>
static inline T
__ldg(const T *p)
{
	return *p;
}
static inline float
__uint_as_float(uint32_t x)
{
	float f;
	memcpy(&f, &x, 4);
	return f;
}
static inline uint32_t
__umulhi(uint32_t a, uint32_t b)
{
	return (uint32_t)((uint64_t)a * b >> 32);
}
static inline uint32_t
__byte_perm(uint32_t a, uint32_t b, uint32_t selector)
{
	uint64_t all = (uint64_t)b << 32 | a;
	uint32_t r = 0;
	for (int i = 0; i < 4; i++) {
		r |= (uint32_t)(all >> 8 * (selector >> 4 * i & 7) & 255) << 8 * i;
	}
	return r;
}

namespace emulated
{

/* ---- fibers ---- */

extern "C" void emulated_switch(void **from, void *to);
asm(R"(
	.text
	.p2align 4
emulated_switch:
	pushq %rbp
	pushq %rbx
	pushq %r12
	pushq %r13
	pushq %r14
	pushq %r15
	movq %rsp, (%rdi)
	movq %rsi, %rsp
	popq %r15
	popq %r14
	popq %r13
	popq %r12
	popq %rbx
	popq %rbp
	ret
)");

constexpr size_t STACK = 128 << 10;

struct meeting { /**< of a warp or of a block */
	int alive, arrived;
	unsigned generation;
	const char *what; /**< the barrier that the first lane reached */
};

struct thread {
	void *stack, *saved;
	bool done;
	unsigned turns; /**< of the exchange between lanes */
};

static struct state {
	std::vector<thread> threads;
	std::vector<meeting> warps;
	meeting block, pairs[16];
	int current;
	void *scheduler;
	unsigned progress; /**< meetings that were complete, and threads that are done */
	/** The value that each lane passes to the others. */
	uint64_t shown[2][1024][8];
	void (*kernel)(WSK_EMULATED_PARAMS);
	const WSK_EMULATED_PARAMS *params;
} s;

static dim3 threadIdx_now, blockIdx_now;
#define threadIdx (emulated::threadIdx_now)
#define blockIdx (emulated::blockIdx_now)

[[noreturn]] static inline void
fail(const char *what, const char *other = "")
{
	fprintf(stderr, "emulated kernel: %s%s%s\n", what, *other ? ", " : "", other);
	abort();
}

static inline void
yield()
{
	int me = s.current;
	emulated_switch(&s.threads[me].saved, s.scheduler);
	threadIdx_now.x = me;
}

static inline void
release(meeting &m)
{
	m.arrived = 0;
	m.generation++;
	s.progress++;
}

static inline void
meet(meeting &m, const char *what)
{
	unsigned generation = m.generation;
	if (m.arrived++ == 0) {
		m.what = what;
	} else if (strcmp(m.what, what) != 0) {
		fail(m.what, what);
	}
	if (m.arrived == m.alive) {
		release(m);
	}
	while (m.generation == generation) {
		yield();
	}
}

static inline meeting &
my_warp()
{
	return s.warps[s.current / 32];
}

static void
run_thread()
{
	s.kernel(*s.params);
	meeting *of[] = {&my_warp(), &s.block};
	for (meeting *m : of) {
		m->alive--;
		if (m->alive > 0 && m->arrived == m->alive) {
			release(*m);
		}
	}
	s.threads[s.current].done = true;
	s.progress++;
	yield();
	fail("a thread that is done runs again");
}

static inline void
run_block(int threads)
{
	static uint32_t seed = getenv("WSK_EMULATED_SEED") ? atoi(getenv("WSK_EMULATED_SEED")) : 0;
	std::vector<int> order(threads);
	s.threads.resize(threads);
	s.warps.assign((threads + 31) / 32, meeting{32, 0, 0, ""});
	s.block = {threads, 0, 0, ""};
	std::fill(s.pairs, s.pairs + 16, meeting{64, 0, 0, ""});
	for (int i = 0; i < threads; i++) {
		thread &t = s.threads[i];
		t.stack = t.stack ? t.stack : aligned_alloc(64, STACK);
		void **top = (void **)((char *)t.stack + STACK) - 1;
		*--top = (void *)run_thread; /* `ret` goes there, and the stack is as after a call */
		t.saved = top - 6;
		memset(t.saved, 0, 6 * sizeof(void *));
		t.done = false;
		t.turns = 0;
		order[i] = i;
	}
	for (int left = threads; left > 0;) {
		unsigned before = s.progress;
		if (seed) {
			for (int i = threads - 1; i > 0; i--) {
				seed = seed * 1664525 + 1013904223;
				std::swap(order[i], order[(seed >> 8) % (i + 1)]);
			}
		}
		for (int i : order) {
			if (!s.threads[i].done) {
				s.current = i;
				threadIdx_now.x = i;
				emulated_switch(&s.scheduler, s.threads[i].saved);
				left -= s.threads[i].done;
			}
		}
		if (s.progress == before) {
			fail("threads wait for one another at", s.block.arrived ? s.block.what : "a warp's");
		}
	}
}

/** Shows `words` to the warp, and returns what all of it shows: [lane][8]. */
static inline uint64_t (*exchange(const char *what, const uint64_t *words, int count))[8]
{
	unsigned turn = s.threads[s.current].turns++ & 1;
	memcpy(s.shown[turn][s.current], words, count * sizeof(*words));
	meet(my_warp(), what);
	return &s.shown[turn][s.current & ~31];
}

static inline int
lane()
{
	return s.current & 31;
}

template <class T>
static inline T
from_lane(T x, int other, const char *what)
{
	uint64_t word = 0;
	memcpy(&word, &x, sizeof(x));
	memcpy(&x, exchange(what, &word, 1)[other & 31], sizeof(x));
	return x;
}

} // namespace emulated

static inline void
__syncthreads()
{
	emulated::meet(emulated::s.block, "__syncthreads");
}
static inline void
__syncwarp(unsigned = ~0u)
{
	emulated::meet(emulated::my_warp(), "__syncwarp");
}
template <class T>
static inline T
__shfl_xor_sync(unsigned, T x, int mask)
{
	return emulated::from_lane(x, emulated::lane() ^ mask, "__shfl_xor_sync");
}
template <class T>
static inline T
__shfl_sync(unsigned, T x, int lane)
{
	return emulated::from_lane(x, lane, "__shfl_sync");
}
static inline bool
__any_sync(unsigned, bool x)
{
	uint64_t word = x;
	auto all = emulated::exchange("__any_sync", &word, 1);
	for (int i = 0; i < 32; i++) {
		word |= all[i][0];
	}
	return word & 1;
}

/* ---- instructions.cuh ---- */

#define WSK_DEVICE_INSTRUCTIONS_CUH
#include "../../kernels/device/common/device.cuh"

namespace wsk
{

alignas(
	1024) static char anchor; /* addresses of shared memory are distances from it: 32 bits hold them */

static inline float
exp2_fast(float x)
{
	return exp2f(x);
}
static inline float
log2_fast(float x)
{
	return log2f(x);
}
static inline float
reciprocal_fast(float x)
{
	return 1 / x;
}
static inline void
meet_pair(int id)
{
	emulated::meet(emulated::s.pairs[id], "meet_pair");
}
static inline uint32_t
shared_address(const void *p)
{
	return (uint32_t)((const char *)p - &anchor);
}
static inline const char *
of_shared(uint32_t address)
{
	return &anchor + (int32_t)address;
}

struct half_bits {
	static uint16_t
	of(float x)
	{
		_Float16 h = (_Float16)x;
		uint16_t r;
		memcpy(&r, &h, 2);
		return r;
	}
	static float
	to(uint16_t x)
	{
		_Float16 h;
		memcpy(&h, &x, 2);
		return (float)h;
	}
};

struct bfloat_bits {
	static uint16_t
	of(float x)
	{
		uint32_t r;
		memcpy(&r, &x, 4);
		return x != x ? 0x7fff : (uint16_t)((r + 0x7fff + (r >> 16 & 1)) >> 16);
	}
	static float
	to(uint16_t x)
	{
		return __uint_as_float((uint32_t)x << 16);
	}
};

template <class BITS> struct element {
	static uint32_t
	pack(float lo, float hi)
	{
		return BITS::of(lo) | (uint32_t)BITS::of(hi) << 16;
	}
	static float2
	unpack(uint32_t r)
	{
		return {BITS::to(r & 0xffff), BITS::to(r >> 16)};
	}
	static void
	mma(float (&c)[4], const uint32_t (&a)[4], uint32_t b0, uint32_t b1)
	{
		const uint64_t words[6] = {a[0], a[1], a[2], a[3], b0, b1};
		auto all = emulated::exchange("mma", words, 6);
		int g = emulated::lane() / 4, q = emulated::lane() % 4;
		for (int i = 0; i < 4; i++) {
			int row = g + 8 * (i / 2), column = 2 * q + (i & 1);
			for (int k = 0; k < 16; k += 2) {
				/* Word k of a row is with lane (row % 8, k / 2 % 4), of a column likewise. */
				uint32_t x = (uint32_t)all[row % 8 * 4 + k / 2 % 4][row / 8 + k / 8 * 2];
				uint32_t y = (uint32_t)all[column * 4 + k / 2 % 4][4 + k / 8];
				float2 f = unpack(x), h = unpack(y);
				c[i] += f.x * h.x + f.y * h.y;
			}
		}
	}
};
using half = element<half_bits>;
using bfloat = element<bfloat_bits>;

static inline void
load(uint32_t (&r)[4], uint32_t address, bool transposed)
{
	if (address % 16) {
		emulated::fail("ldmatrix: the address is not a multiple of 16");
	}
	const uint64_t word = address;
	auto all = emulated::exchange(transposed ? "ldmatrix.trans" : "ldmatrix", &word, 1);
	int g = emulated::lane() / 4, q = emulated::lane() % 4;
	for (int m = 0; m < 4; m++) {
		auto at = [&](int row, int column) {
			uint16_t x;
			memcpy(&x, of_shared((uint32_t)all[8 * m + row][0]) + 2 * column, 2);
			return (uint32_t)x;
		};
		r[m] = transposed ? at(2 * q, g) | at(2 * q + 1, g) << 16
						  : at(g, 2 * q) | at(g, 2 * q + 1) << 16;
	}
	/* As with the instruction, all lanes read before any lane writes. */
	emulated::meet(emulated::my_warp(), "ldmatrix's end");
}
static inline void
load_matrices(uint32_t (&r)[4], uint32_t address)
{
	load(r, address, false);
}
static inline void
load_transposed(uint32_t (&r)[4], uint32_t address)
{
	load(r, address, true);
}

} // namespace wsk

extern "C" __attribute__((visibility("default"))) void
emulated_launch(void (*kernel)(WSK_EMULATED_PARAMS), const WSK_EMULATED_PARAMS *params,
	const unsigned *grid, unsigned threads)
{
	emulated::s.kernel = kernel;
	emulated::s.params = params;
	for (unsigned z = 0; z < grid[2]; z++) {
		for (unsigned y = 0; y < grid[1]; y++) {
			for (unsigned x = 0; x < grid[0]; x++) {
				emulated::blockIdx_now = {x, y, z};
				emulated::run_block((int)threads);
			}
		}
	}
}

#endif
