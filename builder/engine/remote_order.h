/**
 * remote_order.h - an action as text for another host, and what that host says of it
 *
 * Where an action runs elsewhere, its words, names and tokens go there as one text, the order; what
 * the program there found out comes back as another, the report: how the command ended, what
 * it cost, what it read. Texts and digests of what was read outside of trees are that host's, so
 * the trace is made there. Mounts are folders "in/NAME" there, and the command runs in "job", where
 * they are links, as they are here.
 */
#ifndef WS_ENGINE_REMOTE_ORDER_H
#define WS_ENGINE_REMOTE_ORDER_H

#include "base/arena.h"
#include "base/text.h"
#include "engine/action.h"

#define WS_REMOTE_ORDER "order"
#define WS_REMOTE_REPORT "report"
#define WS_REMOTE_LOG "log"
#define WS_REMOTE_MOUNTS "in"
#define WS_REMOTE_TOOL "in/tool" /* the action's tool_files, by the last part of their names */
#define WS_REMOTE_WORK "job"

/* Instead of an order, "--names" asks the program to report which of the names in a file, a line
 * each, are there; "--probe" besides for a file that says what the host is (kit/hostcc/told.h). */
#define WS_REMOTE_LOOK "--names"
#define WS_REMOTE_PROBE "--probe"
#define WS_REMOTE_NAMES "names"
#define WS_REMOTE_HOST "host"

/** What a host found out. Of one that read headers: ws_headers_reads. */
struct ws_report {
	const char *order; /**< digest of the order that it is about; NULL: of a probe */
	int code, signal;  /**< as struct ws_done */
	uint64_t wall_ms, cpu_ms, rss_bytes;
	const char *differs; /**< a host file of the action that is another there; NULL: none, it ran */
	const char *changed; /**< a file outside of trees that changed meanwhile; NULL: none */
	struct ws_reads reads;
	struct ws_map outside; /**< name of a file that was read outside of trees -> its digest there */
	struct ws_map made;    /**< name of an output -> its digest */
};

/**
 * Appends the order. @a takes: a digest over the trees and files that it takes, of which it has
 * only the names. So an order is about one action, and so is a report that names it. One that is
 * not to say what it read has no folders that it searches.
 */
void ws_order_write(const struct ws_action *action, const char *takes, struct ws_buf *text);

/**
 * The action of an order, in @a a, but for what only who gives it knows; its mounts are below
 * @a folder, absolute, and have trees without entries. WS_ERR_CONFIG: it is no order.
 */
struct ws_action *ws_order_read(
	struct ws_str text, const char *folder, struct ws_arena *a, struct ws_err *err);

void ws_report_write(const struct ws_report *report, struct ws_buf *text);

/** In @a a; a report comes from a stranger. WS_ERR_BUILD: it is none. */
bool ws_report_read(
	struct ws_str text, struct ws_arena *a, struct ws_report *report, struct ws_err *err);

#endif
