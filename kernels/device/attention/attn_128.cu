/* attn_128.cu - attention with a head dimension of 128 */
#define WSK_HEAD_DIM 128
#include "kernels.cuh"
