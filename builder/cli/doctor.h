/**
 * doctor.h - what `wheelsmith doctor` found out about this host
 *
 * Gathered first, printed afterwards as a page or as JSON. Nothing here fails: what cannot be found
 * out is a complaint, with its reason and its cure. The store is looked at, never opened; the network
 * is not asked.
 */
#ifndef WS_CLI_DOCTOR_H
#define WS_CLI_DOCTOR_H

#include "cli/command.h"
#include "kit/cuda/cuda.h"
#include "kit/cuda/gpu.h"
#include "kit/python/python.h"
#include "kit/torch/torch.h"
#include "produce/ignored_env.h"
#include "sys/holders.h"

/** Parts of the page, in its order. */
enum ws_doctor_part {
	WS_DOCTOR_HOST,
	WS_DOCTOR_STORE,
	WS_DOCTOR_COMPILERS,
	WS_DOCTOR_CUDA,
	WS_DOCTOR_PYTHONS,
	WS_DOCTOR_TORCH,
	WS_DOCTOR_GPUS,
	WS_DOCTOR_INDEXES,
	WS_DOCTOR_LIBRARIES,
	WS_DOCTOR_ENVIRONMENT,
	WS_DOCTOR_PARTS, /**< how many */
};

/** "host", "store", ... */
extern const char *const ws_doctor_part_names[WS_DOCTOR_PARTS];

/** Something to mend, or to know. */
struct ws_complaint {
	enum ws_doctor_part part;
	bool blocks;      /**< nothing can be built until it is mended */
	const char *text; /**< one line */
	const char *cure; /**< lines, each ending in \n; "" none */
};

/** The store, from outside. */
struct ws_doctor_store {
	const char *path;
	bool is_there;
	uint64_t free_bytes; /**< of its file system; 0: not known */
	uint64_t file_count, file_bytes;
	unsigned tree_count;
	bool counted_all; /**< false: there is more than was counted */
};

struct ws_doctor_compiler {
	struct ws_hostcc cc;
	const char *cuda; /**< what takes it: "12.0 and newer", "11.8 to 12.3", "none"; "" not known */
};

/** An archive kit that is defined. */
struct ws_doctor_kit {
	const char *cuda; /**< "12.4" */
	bool in_store;    /**< some tree of that name is there */
};

struct ws_doctor_python {
	struct ws_python_kit kit;
	bool has_headers;
	const char *wrong; /**< why it cannot be used; NULL */
	const char *cure;  /**< lines; "" none */
};

#define WS_DOCTOR_HOLDERS 3

struct ws_doctor {
	struct ws_session *s;
	struct ws_arena *a;
	const char *python; /**< --python; NULL: all there are */
	WS_VEC(struct ws_complaint) complaints;
	const char *glibc; /**< "2.36" */
	uint64_t available_bytes;
	struct ws_holder holders[WS_DOCTOR_HOLDERS];
	size_t holder_count;
	struct ws_doctor_store store;
	WS_VEC(struct ws_doctor_compiler) compilers;
	const char *cuda_without; /**< versions that no compiler here serves: "11.7, 11.8"; "" none */
	ws_cuda_list cuda;
	WS_VEC(struct ws_doctor_kit) kits;
	WS_VEC(struct ws_doctor_python) pythons;
	const char *torch_python; /**< interpreter that was asked about torch; NULL: none */
	struct ws_torch_kit torch;
	bool has_torch;
	const char *why_no_torch; /**< one line; NULL with has_torch */
	struct ws_gpus gpus;
	bool knows_indexes;
	struct ws_index_config indexes;
	const char *debian_mirror, *debian_from; /**< NULL: there is none that serves */
	const char *git_version;
	bool git_is_old;
	ws_ignored_list ignored;
};

/** Adds a complaint; @a cure may be NULL. */
void ws_doctor_complain(struct ws_doctor *d, enum ws_doctor_part part, bool blocks,
	const char *cure, const char *format, ...) WS_PRINTF(5, 6);

/** The same from an error: its line, its place and its cures. */
void ws_doctor_complain_err(
	struct ws_doctor *d, enum ws_doctor_part part, bool blocks, const struct ws_err *err);

/** Host, memory, configuration, store, indexes, libraries, environment. */
void ws_doctor_look_around(struct ws_doctor *d);

/** Compilers, CUDA, Pythons, torch, GPUs. Needs the host and the facts. */
void ws_doctor_look_at_tools(struct ws_doctor *d);

/** How many complaints block, or do not. */
size_t ws_doctor_count(const struct ws_doctor *d, bool blocks);

void ws_doctor_print(const struct ws_doctor *d);
void ws_doctor_print_json(const struct ws_doctor *d);

#endif
