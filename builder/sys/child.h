/**
 * child.h - asking another program: an order in, an answer out, within limits
 *
 * For every child whose answer somebody waits for: compilers and interpreters that are asked about
 * themselves, scripts, and `wheelsmith internal ...`, which reads files of unknown origin or speaks
 * to servers apart from our own process. Jobs of the engine, many at a time, are engine/local.c's;
 * those that are ours take their order and leave their answer the same way.
 *
 * The order is words, and for a program of ours order.json in its working folder; the answer is
 * what it prints, or a file that it leaves there. One of ours that fails prints "error: ..." and
 * exits with the code of its kind (base/err.h): that becomes the error here.
 *
 * SIGINT, SIGTERM and SIGHUP end the child at once, wherever it was asked. They stay pending: who
 * listens (sys/stop.h) hears of them next, and where nobody does they end us as they would have.
 */
#ifndef WS_SYS_CHILD_H
#define WS_SYS_CHILD_H

#include "base/text.h"
#include "sys/spawn.h"
#include "sys/stop.h"

/** Where a program of ours finds its order. */
#define WS_CHILD_ORDER "order.json"

/** For one of ours that reads files of unknown origin. flash-attn's check holds 22 MB for 1 s, the
 * export list of torch 2.5.1 113 MB for 6 s; a slow disk takes longer. */
#define WS_CHILD_READER \
	((struct ws_limits){.memory_bytes = (uint64_t)1 << 30, \
		.cpu_s = 120, \
		.timeout_ms = 600000, \
		.answer_bytes = (size_t)64 << 20})

struct ws_child_order {
	const char *const *argv;    /**< argv[0] is the path of the program; NULL-terminated */
	const char *const *env;     /**< NULL: PATH and LANG=C only */
	const char *dir;            /**< NULL: "/" */
	const struct ws_buf *order; /**< a program of ours: the text of its order.json; else NULL */
	const char *answer;         /**< the file in dir that is the answer; NULL: what it prints */
	bool with_stderr;           /**< stderr joins stdout; else it is dropped */
	bool no_network;            /**< as in sys/spawn.h */
	struct ws_limits limits;    /**< without times and sizes: 20 s, 4 MiB */
	const char *name;           /**< for errors: "reading 'x.whl'"; NULL: the program's path */
	enum ws_err_kind kind;      /**< of a child that died or exceeded a limit; 0: WS_ERR_BUILD */
	struct ws_stop *stop;       /**< whose deadline counts too; NULL: none */
	/** Gets each line as it comes, in place of the answer. */
	void (*on_line)(void *self, const char *line);
	void *self;
};

/** True when it ran and exited 0. @a answer also gets what came before a failure. */
bool ws_child_ask(const struct ws_child_order *order, struct ws_buf *answer, struct ws_err *err);

#endif
