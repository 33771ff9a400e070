/**
 * gpu.h - the GPUs of this host, and who uses them
 *
 * Asked from the driver's own nvidia-smi, so nothing of CUDA is linked and a host without a
 * driver is not a special case: it has none, and the reason is said. Building does not need it; the
 * matrix's "arch": "host" and `doctor` do.
 */
#ifndef WS_KIT_CUDA_GPU_H
#define WS_KIT_CUDA_GPU_H

#include "base/user_env.h"
#include "model/arch.h"

/** One device. */
struct ws_gpu {
	unsigned index;
	const char *name;      /**< "NVIDIA H200" */
	struct ws_arch arch;   /**< its compute capability: number 90 for 9.0 */
	uint64_t memory_bytes; /**< in all; 0: not said */
};

/** A process that computes on one of them. */
struct ws_gpu_user {
	unsigned pid;          /**< as the driver numbers it: not ours inside a container */
	const char *name;      /**< path of the program, or what nvidia-smi says instead */
	uint64_t memory_bytes; /**< of the device's; 0: not said */
};

struct ws_gpus {
	const char *program; /**< the nvidia-smi that was asked; NULL: none was found */
	const char *driver;  /**< "580.159.04"; NULL: not known */
	const struct ws_gpu *at;
	size_t count;
	const struct ws_gpu_user *users;
	size_t user_count;
	const char *why_none; /**< with count 0: one line; else NULL */
	/** Devices in the driver's own files, without nvidia-smi. */
	const char *const *seen;
	size_t seen_count;
};

/**
 * Asks the nvidia-smi on PATH, else <root>/usr/bin/nvidia-smi; without one
 * <root>/proc/driver/nvidia is read, which names the driver and the devices and no more. Never
 * fails. Texts hold no control characters, whatever nvidia-smi printed.
 */
void ws_gpu_list(const struct ws_user_env *env, struct ws_arena *a, struct ws_gpus *gpus);

/** The architectures of all of them, each once, in whatever order the driver numbers the
 * devices. */
struct ws_arch_set ws_gpu_archs(const struct ws_gpus *gpus, struct ws_arena *a);

#endif
