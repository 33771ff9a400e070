/**
 * gpu_code.h - the GPU architectures in the code of a library
 *
 * Sorts the images of the fatbin reader (elf/fatbin.h) into sets of the matrix. The file name of a
 * wheel and its recipe have the wanted architectures; these are the real ones.
 */
#ifndef WS_VERIFY_GPU_CODE_H
#define WS_VERIFY_GPU_CODE_H

#include "elf/fatbin.h"
#include "verify/subject.h"

struct ws_gpu_code {
	struct ws_arch_set archs;    /**< with machine code; +PTX where there is PTX of it as well */
	struct ws_arch_set ptx_only; /**< PTX without machine code: "X+PTX" would promise more */
	const struct ws_fatbin_image *images;
	size_t image_count;     /**< 0: no GPU code at all */
	size_t container_count; /**< units that have any */
	uint64_t stored_bytes;  /**< of all images, as they are in the file */
	uint64_t raw_bytes;     /**< of all images, once unpacked */
	/** The oldest driver that unpacks it and runs its CUDA, "550.54.14"; NULL: every driver
	 * does. */
	const char *driver;
	bool zstd;            /**< it is its packing that asks for one */
	bool packing_unknown; /**< some image is compressed in a way that is not known here */
};

/** WS_ERR_FETCH, with the library's name, when its .nv_fatbin cannot be read to the end. */
bool ws_gpu_code_read(
	const struct ws_elf *elf, struct ws_arena *a, struct ws_gpu_code *code, struct ws_err *err);

/**
 * The driver that the compression, or the CUDA of the runtime, needs; @a name is the module's.
 * @a driver ("550.54.14") is judged; NULL: the finding is OK. False: any driver will do.
 */
bool ws_gpu_code_driver(const struct ws_gpu_code *code, const char *name, const char *driver,
	struct ws_arena *a, struct ws_finding *finding);

/* ---- the GPUs of a place ----
 * Machine code runs on GPUs of its major version and its own or a later minor one; code for an `a`
 * target on that GPU alone, for an `f` target on its family; PTX on every later GPU whose driver
 * reads its version (CUDA C++ Programming Guide, "Compute Capability" and "Family-specific
 * features"). */

/**
 * Adds one finding for each GPU of place->archs; "X+PTX" needs PTX of X or older, too. If only some
 * units of the module serve a GPU, the program may choose them at run time: OK, with that text. No
 * finding without GPU code. @a name is the module's.
 */
void ws_runs_on(const struct ws_gpu_code *code, const char *name, const struct ws_load_place *place,
	struct ws_arena *a, ws_finding_list *findings);

#endif
