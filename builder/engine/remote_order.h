/**
 * remote_order.h - an action as text for a worker, and the worker's report
 *
 * The order contains words, names and tokens of an action. The program on the worker
 * (exec/main.c) runs it and writes the report: exit status, cost, and what the command read.
 * Reads are traced on the worker, since it has the texts and digests of files outside of trees.
 * There, mounts are folders "in/NAME", linked into the folder "job" as on this host.
 */
#ifndef WS_ENGINE_REMOTE_ORDER_H
#define WS_ENGINE_REMOTE_ORDER_H

#include "engine/action.h"

#define WS_REMOTE_ORDER "order"
#define WS_REMOTE_REPORT "report"
#define WS_REMOTE_LOG "log"
#define WS_REMOTE_MOUNTS "in"
#define WS_REMOTE_TOOL "in/tool" /* the action's tool_files, by base name */
#define WS_REMOTE_WORK "job"

/* Instead of running an order, "--names" reports which of the names in a file, one a line,
 * exist; "--probe" also writes a description of the host (kit/hostcc/compiler_list_text.h). */
#define WS_REMOTE_LOOK "--names"
#define WS_REMOTE_PROBE "--probe"
#define WS_REMOTE_NAMES "names"
#define WS_REMOTE_HOST "host"

/** A report of a worker. For commands that read headers, reads are those of ws_headers_reads. */
struct ws_report {
	const char *order; /**< digest of its order; NULL: of a query */
	int code, signal;  /**< as struct ws_done */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	const char *
		differs; /**< a host file of the action that differs on the worker; NULL: none, and the command ran */
	const char *changed; /**< a file outside of trees that changed during the run; NULL: none */
	struct ws_reads reads;
	struct ws_map outside; /**< name of a file read outside of trees -> its digest on the worker */
	struct ws_map made;    /**< name of an output -> its digest */
};

/**
 * Appends the order. @a takes: a digest over the trees and files that it uses, since the order
 * has their names only. So each order, and each report that names it, belongs to one action. An
 * action without find_reads has no search folders in its order.
 */
void ws_order_write(const struct ws_action *action, const char *takes, struct ws_buf *text);

/**
 * The action of an order, in @a a, with the members that an order has. Its mounts are below @a
 * folder, absolute, and their trees have no entries. WS_ERR_CONFIG: not an order.
 */
struct ws_action *ws_order_read(
	struct ws_str text, const char *folder, struct ws_arena *a, struct ws_err *err);

void ws_report_write(const struct ws_report *report, struct ws_buf *text);

/** Reads a report into @a a. Its text is not trusted. WS_ERR_BUILD: not a report. */
bool ws_report_read(
	struct ws_str text, struct ws_arena *a, struct ws_report *report, struct ws_err *err);

#endif
