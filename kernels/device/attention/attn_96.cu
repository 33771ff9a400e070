/* attn_96.cu - attention with a head dimension of 96 */
#define WSK_HEAD_DIM 96
#include "kernels.cuh"
