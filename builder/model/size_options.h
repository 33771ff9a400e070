/**
 * size_options.h - what a wheel leaves out
 *
 * Debug info and the compression of GPU code: decided by the matrix and by what the toolkit's nvcc
 * knows, carried by each product, obeyed by compile/.
 */
#ifndef WS_MODEL_SIZE_OPTIONS_H
#define WS_MODEL_SIZE_OPTIONS_H

#include <stdbool.h>

/** "debug_info" of a matrix. */
enum ws_debug_info {
	WS_DEBUG_NONE,  /**< none, and no local symbols */
	WS_DEBUG_LINES, /**< -lineinfo as the recipe has it, for profilers */
	WS_DEBUG_FULL,  /**< as upstream builds */
};

/** How nvcc is told to compress GPU code. */
enum ws_compress {
	WS_COMPRESS_NONE, /**< it is not */
	WS_COMPRESS_ALL,  /**< -Xfatbin -compress-all: every driver reads it */
	WS_COMPRESS_SIZE, /**< --compress-mode=size: drivers from CUDA 12.4's (550.54) on read it */
};

struct ws_size_options {
	enum ws_debug_info debug_info;
	enum ws_compress compress;
	enum ws_compress usual; /**< what the toolkit alone gives; a label says when it is not that */
	bool random_seed;       /**< nvcc knows --frandom-seed */
};

/** "none", "lines", "full"; false when @a text is not one of them. */
const char *ws_debug_info_name(enum ws_debug_info info);
bool ws_debug_info_parse(const char *text, enum ws_debug_info *info);

/** "none", "all", "size". */
const char *ws_compress_name(enum ws_compress compress);

#endif
