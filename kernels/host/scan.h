/**
 * scan.h - the kernels of the scan's image, and their places in its table
 */
#ifndef WSK_SCAN_H
#define WSK_SCAN_H

/** One for each type. */
enum wsk_scan_kernel {
	WSK_SCAN_KERNEL_FORWARD,
	WSK_SCAN_KERNEL_FORWARD_CONSTANT, /**< B or C does not vary */
	WSK_SCAN_KERNEL_STATES,           /**< what a part of time does by itself */
	WSK_SCAN_KERNEL_ENDS,             /**< and the gradient that arrives at its begin */
	WSK_SCAN_KERNEL_BACKWARD,
	WSK_SCAN_KERNEL_BACKWARD_CONSTANT,
	WSK_SCAN_KERNEL_UPDATE_ANY, /**< any types and strides */
	WSK_SCAN_KERNEL_UPDATE,     /**< with x of float16; of the other types behind it */
	WSK_SCAN_KERNEL_UPDATE_LAST = WSK_SCAN_KERNEL_UPDATE + 2,
	WSK_SCAN_KERNEL_UPDATE_ALONE, /**< of one sequence, likewise */
	WSK_SCAN_KERNEL_UPDATE_ALONE_LAST = WSK_SCAN_KERNEL_UPDATE_ALONE + 2,
	WSK_SCAN_KERNEL_TYPED,
};

/** One for all types; they stand behind the others. */
enum {
	WSK_SCAN_KERNEL_COMBINE = 3 * WSK_SCAN_KERNEL_TYPED,
	WSK_SCAN_KERNEL_SUM,
	WSK_SCAN_KERNEL_COUNT,
};

/** By enum wsk_type, then by enum wsk_scan_kernel. */
extern const char *const wsk_scan_kernels[WSK_SCAN_KERNEL_COUNT];

#endif
