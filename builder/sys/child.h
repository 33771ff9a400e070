/**
 * child.h - runs one program, waits for its answer, within limits
 *
 * For every child whose answer the caller waits for: compilers and interpreters that describe
 * themselves, scripts, and `wheelsmith internal ...`, which reads files of unknown origin or
 * talks to servers outside of our own process. The many jobs of a build are engine/local.c's; our
 * own programs among them take order and answer in the same way.
 *
 * The order is the arguments, and for our own program the file order.json in its working folder.
 * The answer is the output, or a file in that folder. When our own program fails, it prints
 * "error: ..." and exits with the code of the error's kind (base/err.h): the caller gets that
 * error.
 *
 * SIGINT, SIGTERM and SIGHUP kill the child at once. They stay pending for the listener
 * (sys/stop.h); without a listener they then end this process.
 */
#ifndef WS_SYS_CHILD_H
#define WS_SYS_CHILD_H

#include "base/text.h"
#include "sys/spawn.h"
#include "sys/stop.h"

/** The order's file for our own program. */
#define WS_CHILD_ORDER "order.json"

/** Limits of our own program when it reads files of unknown origin. The check of flash-attn holds
 * 22 MB for 1 s, the export list of torch 2.5.1 113 MB for 6 s; a slow disk takes longer. */
#define WS_CHILD_READER \
	((struct ws_limits){.memory_bytes = (uint64_t)1 << 30, \
		.cpu_s = 120, \
		.timeout_ms = 600000, \
		.answer_bytes = (size_t)64 << 20})

struct ws_child_order {
	const char *const *argv;    /**< argv[0] is the path of the program; NULL-terminated */
	const char *const *env;     /**< NULL: PATH and LANG=C only */
	const char *dir;            /**< NULL: "/" */
	const struct ws_buf *order; /**< our own program: the text of order.json; else NULL */
	const char *answer;         /**< the file in dir that is the answer; NULL: what it prints */
	bool with_stderr;           /**< stderr joins stdout; else it is dropped */
	struct ws_limits limits;    /**< without times and sizes: 20 s, 4 MiB */
	const char *name;           /**< for errors: "reading 'x.whl'"; NULL: the program's path */
	enum ws_err_kind kind;      /**< when the child died or exceeded a limit; 0: WS_ERR_BUILD */
	struct ws_stop *stop;       /**< whose deadline counts too; NULL: none */
	/** Called with each line of output, which then is not in the answer. */
	void (*on_line)(void *self, const char *line);
	void *self;
};

/** True when the child exited with 0. After a failure @a answer holds the output so far. */
bool ws_child_ask(const struct ws_child_order *order, struct ws_buf *answer, struct ws_err *err);

#endif
