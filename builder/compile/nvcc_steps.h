/**
 * nvcc_steps.h - inputs and outputs of the commands that nvcc's dry run prints
 *
 * Commands are recognised by program, flag and suffix, for one .cu file:
 *
 *   preprocess  g++ -E       x.cpp1.ii for each arch, x.cpp4.ii for the host
 *   cudafe++                 x.cudafe1.cpp, for the host
 *   cicc                     x.ptx and x.cudafe1.stub.c, for one arch
 *   ptxas                    x.cubin
 *   fatbinary                x.fatbin, x.fatbin.c
 *   host        g++ -c       the object
 *
 * If any command has a file that these rules do not cover, the whole dry run is rejected. Their
 * expected memory and time is split.c's.
 */
#ifndef WS_COMPILE_NVCC_STEPS_H
#define WS_COMPILE_NVCC_STEPS_H

#include "engine/action.h"
#include "kit/cuda/nvcc.h"

enum ws_nvcc_stage {
	WS_NVCC_PREPROCESS,
	WS_NVCC_CUDAFE,
	WS_NVCC_CICC,
	WS_NVCC_PTXAS,
	WS_NVCC_FATBINARY,
	WS_NVCC_HOST,
};

#define WS_NVCC_STAGES (WS_NVCC_HOST + 1)

/** A file between two commands. */
struct ws_nvcc_file {
	const char *name; /**< as in nvcc's commands: "tmp/x.compute_80.ptx" */
	size_t maker;     /**< index of the step */
};

struct ws_nvcc_step {
	enum ws_nvcc_stage stage;
	ws_name_list words; /**< the program first */
	ws_name_list
		outputs; /**< as in nvcc's commands; each is used by a later step, or is the last of all */
	WS_VEC(struct ws_nvcc_file) inputs;
};

typedef WS_VEC(struct ws_nvcc_step) ws_nvcc_steps;

/** "cicc", for messages and the ledger */
extern const char *const ws_nvcc_stage_words[];

/**
 * Reads @a commands, whose temporary files are in @a folder ("tmp/") and whose final output is
 * @a last. False: @a why is the construct that was not understood.
 */
bool ws_nvcc_steps_read(const ws_dryrun_commands *commands, const char *folder, const char *last,
	struct ws_arena *a, ws_nvcc_steps *steps, const char **why);

/**
 * @a word without the arch in names of temporary files: "tmp/x.compute_80.ptx" -> "tmp/x.ptx".
 * So a command is the same for all sets of archs.
 */
const char *ws_nvcc_without_arch(const char *word, struct ws_arena *a);

#endif
