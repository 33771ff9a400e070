/**
 * fatbin.h - the GPU code of a library, from its .nv_fatbin section
 *
 * The section is a row of containers (one for each translation unit), a container is a row of
 * images: machine code (cubin), PTX text or LTO-IR for one architecture. Only headers are read,
 * without decompression. verify/ decides which code runs on which GPU.
 *
 * NVIDIA documents none of this. Measured on the output of nvcc 11.8 to 13.5 (tests/fuzz/fatbin
 * has samples, each with the command that made it).
 */
#ifndef WS_ELF_FATBIN_H
#define WS_ELF_FATBIN_H

#include "base/err.h"
#include "base/text.h"

/** The section that holds containers in a linked library. */
#define WS_FATBIN_SECTION ".nv_fatbin"

enum ws_fatbin_kind {
	WS_FATBIN_PTX = 1,
	WS_FATBIN_CUBIN = 2,
	WS_FATBIN_LTO = 8,
};

enum ws_fatbin_packing {
	WS_FATBIN_PLAIN,
	WS_FATBIN_LZ4,
	WS_FATBIN_ZSTD,
	WS_FATBIN_PACKED, /**< compressed by an unknown method */
};

/** One image. */
struct ws_fatbin_image {
	enum ws_fatbin_kind kind; /**< other numbers are kept as they are */
	unsigned sm;              /**< 75, 90, 100 */
	char suffix;              /**< 'a', 'f', or 0 */
	unsigned major, minor;    /**< PTX: version of its language, 9.0 */
	enum ws_fatbin_packing packing;
	uint64_t stored_bytes; /**< in the section, without padding */
	uint64_t raw_bytes;    /**< once unpacked */
	size_t container;      /**< which container of the section, from 0 */
};

struct ws_fatbin {
	const struct ws_fatbin_image *images; /**< in the order of the section */
	size_t image_count;
	size_t container_count; /**< those that hold an image */
};

/** The code for one architecture. */
struct ws_fatbin_arch {
	unsigned sm;
	char suffix;
	bool code;         /**< machine code: runs on this GPU (without suffix: and later minors) */
	bool ptx;          /**< PTX: can be compiled when it is loaded */
	size_t containers; /**< how many hold either */
};

/**
 * Reads a whole section. WS_ERR_FETCH when a header is malformed or points outside of it: an
 * incomplete list is never returned.
 */
bool ws_fatbin_read(const void *bytes, size_t len, struct ws_arena *a, struct ws_fatbin *fatbin,
	struct ws_err *err);

/** Sorted by number, then suffix (none, a, f). LTO-IR does not count: it cannot run by itself. */
const struct ws_fatbin_arch *ws_fatbin_archs(
	const struct ws_fatbin *fatbin, struct ws_arena *a, size_t *count);

#endif
