/* rate.cu - how many m16n8k8 products a device does: 16 independent accumulators a warp */
extern "C" __global__ void
rate(float *out, int n)
{
	float c[16][4] = {};
	unsigned a0 = threadIdx.x, a1 = blockIdx.x, b = threadIdx.x * 3;
	for (int i = 0; i < n; i++) {
#pragma unroll
		for (int j = 0; j < 16; j++) {
			asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, "
						 "{%6}, {%0,%1,%2,%3};"
						 : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
						 : "r"(a0), "r"(a1), "r"(b));
		}
	}
	float sum = 0;
	for (int j = 0; j < 16; j++) {
		sum += c[j][0] + c[j][1] + c[j][2] + c[j][3];
	}
	out[(blockIdx.x * blockDim.x + threadIdx.x) % (1 << 20)] = sum;
}
