/**
 * doctor.h - looks at this host, part by part
 *
 * An unanswered question is a problem with its reason and its cure; no part fails. Uses no network,
 * except --remote, which connects to the server of shared results. The store is opened only with
 * --python, whose extensions are judged and whose functions are called in child processes: no other
 * part runs code of an environment.
 */
#ifndef WS_DOCTOR_DOCTOR_H
#define WS_DOCTOR_DOCTOR_H

#include "config/document.h"
#include "config/recipes.h"
#include "config/user.h"
#include "doctor/rows.h"
#include "fetch/fetch.h"
#include "kit/cuda/gpu.h"
#include "kit/hostcc/hostcc.h"
#include "kit/python/python.h"
#include "net/index_config.h"
#include "remote/server.h"

enum ws_entry_state {
	WS_ENTRY_WORKS,    /**< called, and agrees with a reference */
	WS_ENTRY_IMPORTED, /**< is there; was not called, or nothing is known of it */
	WS_ENTRY_ABSENT,   /**< its package is not installed */
	WS_ENTRY_FAILS,
	WS_ENTRY_WRONG, /**< gave another result than the reference */
};

/**
 * The result of one function that model libraries look for, or of one model's choice of functions.
 */
struct ws_entry_point {
	const char *group; /**< "flash-attn", "causal-conv1d", "mamba-ssm", "transformers" */
	const char *name;  /**< "flash_attn.flash_attn_func" */
	enum ws_entry_state state;
	const char
		*text; /**< what was seen; of one that fails the error, maybe in several lines; NULL */
};

/** Which kernels a model of Hugging Face's transformers looks for (matrix/facts/models.json). */
struct ws_model_kernel {
	const char *package;          /**< normalised: "mamba-ssm" */
	const char *const *functions; /**< "selective_scan_fn" */
	size_t function_count;
	bool optional; /**< used only where the configuration, or who loads the model, asks for it */
};

struct ws_model {
	const char *type; /**< "bamba" */
	bool asks_flash;  /**< its configuration asks for flash-attention 2 */
	const struct ws_model_kernel *const *kernels;
	size_t kernel_count; /**< 0: unknown */
};

/** Input of all parts; borrowed. */
struct ws_doctor {
	struct ws_arena *a;
	const struct ws_user_env *env;
	const char *program; /**< our own executable */
	const struct ws_data *data;
	const struct ws_facts *facts; /**< may be empty */
	const struct ws_host *host;
	const char *store;                     /**< where it is, or would be; NULL: not known */
	const struct ws_index_config *indexes; /**< NULL: @a indexes_err */
	const struct ws_err *indexes_err;
	const char *mirror, *mirror_from; /**< of Debian, and the source of this setting; NULL */
	const char *redist;               /**< NULL: NVIDIA's own server */
	const struct ws_recipe_catalog *catalog;
	const char *recipes; /**< the folder that was named, for commands; NULL: none */
	const char *python;  /**< the only interpreter to examine; NULL: list all of them */
	const char *model;   /**< a model's config.json; NULL: none */
	/** Opens the store, without a network; NULL and @a err where it cannot be. */
	const struct ws_fetch *(*open)(void *self, struct ws_err *err);
	/** Likewise, the server of the user's configuration; NULL: it is not looked at. */
	const struct ws_server *(*open_server)(void *self, struct ws_err *err);
	const struct ws_user_remote *remote; /**< what the configuration says of it */
	void *self;
	struct ws_rows rows;
	/* Results of parts for later parts. */
	ws_hostcc_list compilers;
	struct ws_python_kit kit; /**< of `python`; version NULL: it cannot be run */
	struct ws_gpus gpus;
	const struct ws_model *wants;               /**< what `model` says; NULL: none, or unreadable */
	WS_VEC(struct ws_entry_point) entry_points; /**< functions of `kit` */
};

/** Adds the rows of all parts, in the order of the page. */
void ws_doctor_look(struct ws_doctor *d);

/* The parts, each under its label; ws_doctor_look calls them. */
void ws_doctor_host(struct ws_doctor *d);
void ws_doctor_store(struct ws_doctor *d);
void ws_doctor_compilers(struct ws_doctor *d);
void ws_doctor_cuda(struct ws_doctor *d);
void ws_doctor_pythons(struct ws_doctor *d);
void ws_doctor_torch(struct ws_doctor *d);
void ws_doctor_gpus(struct ws_doctor *d);
void ws_doctor_extensions(struct ws_doctor *d);
void ws_doctor_functions(struct ws_doctor *d);
void ws_doctor_model_read(struct ws_doctor *d);
void ws_doctor_model(struct ws_doctor *d);
void ws_doctor_indexes(struct ws_doctor *d);
void ws_doctor_remote(struct ws_doctor *d);

/**
 * One line for all variables in @a vars ("NAME=value", NULL-terminated) that are ignored and have a
 * value: "CC (instead: ...), MAX_JOBS (instead: -j N, or --memory SIZE)". NULL when none is set.
 */
const char *ws_ignored_env_warning(const char *const *vars, struct ws_arena *a);

#endif
