/**
 * nvcc_steps.h - what each command of a dry run of nvcc makes, and out of what
 *
 * Recognised by program, flag and suffix, for one .cu file:
 *
 *   preprocess  g++ -E       x.cpp1.ii for each arch, x.cpp4.ii for the host
 *   cudafe++                 x.cudafe1.cpp, for the host
 *   cicc                     x.ptx and x.cudafe1.stub.c, for one arch
 *   ptxas                    x.cubin
 *   fatbinary                x.fatbin, x.fatbin.c
 *   host        g++ -c       the object
 *
 * A command with a file that none of these rules knows is not understood, and nothing is.
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
	const char *name; /**< as nvcc has it: "tmp/x.compute_80.ptx" */
	size_t maker;     /**< index of the step */
};

struct ws_nvcc_step {
	enum ws_nvcc_stage stage;
	ws_name_list words;   /**< the program first */
	ws_name_list outputs; /**< as nvcc has them, each used by a later step, or the last of all */
	WS_VEC(struct ws_nvcc_file) inputs;
};

typedef WS_VEC(struct ws_nvcc_step) ws_nvcc_steps;

/** "cicc", for people and the ledger. */
const char *ws_nvcc_stage_name(enum ws_nvcc_stage stage);

/**
 * Reads @a commands, whose temporary files lie in @a folder ("tmp/") and which end in the file @a
 * last. False: @a why says what was not understood.
 */
bool ws_nvcc_steps_read(const ws_dryrun_commands *commands, const char *folder, const char *last,
	struct ws_arena *a, ws_nvcc_steps *steps, const char **why);

/**
 * @a word without the arch in the names of temporary files: "tmp/x.compute_80.ptx" -> "tmp/x.ptx".
 * So a command reads the same whichever other archs there are.
 */
const char *ws_nvcc_without_arch(const char *word, struct ws_arena *a);

#endif
