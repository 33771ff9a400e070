/**
 * fatbin.h - what GPU code a library holds, read from its .nv_fatbin section
 *
 * The section is a row of containers (one for each translation unit), a container a row of images:
 * machine code (cubin), PTX text or LTO-IR for one architecture. Only headers are read; nothing is
 * decompressed. Which of it runs where is verify's question.
 *
 * NVIDIA documents none of this. Measured on what nvcc 11.8 to 13.5 writes (tests/fuzz/fatbin has
 * samples, each with the command that made it).
 */
#ifndef WS_ELF_FATBIN_H
#define WS_ELF_FATBIN_H

#include "base/arena.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

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
	WS_FATBIN_PACKED, /**< compressed in a way that is not known here */
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

/** What there is for one architecture. */
struct ws_fatbin_arch {
	unsigned sm;
	char suffix;
	bool code;         /**< machine code: runs on this GPU (without suffix: and later minors) */
	bool ptx;          /**< PTX: can be compiled when it is loaded */
	size_t containers; /**< how many hold either */
};

/**
 * Reads a whole section. WS_ERR_FETCH when a header points outside of it or is none: a list that
 * may be incomplete is never returned.
 */
bool ws_fatbin_read(const void *bytes, size_t len, struct ws_arena *a, struct ws_fatbin *fatbin,
	struct ws_err *err);

/** By number, then suffix (none, a, f). LTO-IR is not counted: nothing runs it by itself. */
const struct ws_fatbin_arch *ws_fatbin_archs(
	const struct ws_fatbin *fatbin, struct ws_arena *a, size_t *count);

#endif
