/**
 * conv.h - the kernels of the convolution's image, and their places in its table
 */
#ifndef WSK_CONV_H
#define WSK_CONV_H

enum wsk_conv_kernel {
	WSK_CONV_FIRST_FORWARD, /**< rows are contiguous */
	WSK_CONV_FIRST_BACKWARD,
	WSK_CONV_LAST_FORWARD, /**< channels are contiguous */
	WSK_CONV_LAST_BACKWARD,
	WSK_CONV_PACKED_FORWARD, /**< the same, with seq_idx */
	WSK_CONV_PACKED_BACKWARD,
	WSK_CONV_UPDATE,
	WSK_CONV_KERNEL_COUNT,
};

/** The one that is behind those of the three types. */
#define WSK_CONV_REDUCE (3 * WSK_CONV_KERNEL_COUNT)

/** By type, WSK_FLOAT16 first, then by enum wsk_conv_kernel. */
extern const char *const wsk_conv_kernels[WSK_CONV_REDUCE + 1];

#endif
