/* attn_256.cu - attention with a head dimension of 256 */
#define WSK_HEAD_DIM 256
#include "kernels.cuh"
