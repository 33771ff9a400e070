/* attn_64.cu - attention with a head dimension of 64 */
#define WSK_HEAD_DIM 64
#include "kernels.cuh"
