/**
 * view.h - address and strides of one tensor, the parameter of every kernel
 *
 * One text for the host (C17) and the device (CUDA C++).
 */
#ifndef WSK_DEVICE_VIEW_H
#define WSK_DEVICE_VIEW_H

#include <stdint.h>

/** Strides are in elements; which of them a kernel reads its parameters say. */
struct wsk_view {
	uint64_t data; /**< device address; 0: not there */
	int64_t batch; /**< unused where sequences are packed */
	int64_t row;   /**< of tokens; of the scan's matrices: of states */
	int64_t head;  /**< or channel, or group */
};

#endif
