/* attn_32.cu - attention with a head dimension of 32 */
#define WSK_HEAD_DIM 32
#include "kernels.cuh"
