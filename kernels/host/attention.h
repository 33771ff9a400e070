/**
 * attention.h - the kernels of an attention image, and their places in its table
 *
 * An image lacks those of bfloat16 where the device does (below compute capability 8.0).
 */
#ifndef WSK_ATTENTION_H
#define WSK_ATTENTION_H

#include "../device/common/view.h"
#include "wsk.h"

enum wsk_kernel {
	WSK_KERNEL_FORWARD,
	WSK_KERNEL_DELTA,
	WSK_KERNEL_DKDV,
	WSK_KERNEL_DQ,
	WSK_KERNEL_DECODE,
	WSK_KERNEL_COMBINE,
	WSK_KERNEL_FORWARD_ANY,
	WSK_KERNEL_DKDV_ANY,
	WSK_KERNEL_DQ_ANY,
	WSK_KERNEL_SPLIT,
	WSK_KERNEL_SPLIT_MANY, /**< with more rows a warp */
	WSK_KERNEL_COUNT,
};

/** By type, WSK_FLOAT16 first, then by enum wsk_kernel. */
extern const char *const wsk_attention_kernels[2 * WSK_KERNEL_COUNT];

static inline struct wsk_view
wsk_view_of(const struct wsk_tensor *t)
{
	return (struct wsk_view){t->data, t->stride_batch, t->stride_row, t->stride_head};
}

#endif
