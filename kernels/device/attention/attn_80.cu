/* attn_80.cu - attention with a head dimension of 80 */
#define WSK_HEAD_DIM 80
#include "kernels.cuh"
