/**
 * worker_files.h - files outside of mounted trees on the workers of a farm
 *
 * Workers have system headers of their own. Their reports are kept for one run, by canonical
 * name. They decide whether a cached result is valid for the workers, as names.h decides for
 * this host. An unreported name is unknown: neither present nor absent. Lookups request unknown
 * names, and all requests are sent together. All workers must agree.
 */
#ifndef WS_ENGINE_WORKER_FILES_H
#define WS_ENGINE_WORKER_FILES_H

#include "engine/action.h"

struct ws_events;
struct ws_report;

/** First member of its owner's struct. */
struct ws_worker_files {
	const char *name; /**< for messages: "the farm at 'build.example.com:443'" */
	/** Queries one worker about @a names, one a line, and adds its report. With @a told (may be
	 * NULL): also about the names of the last run, and @a told gets a description of the host
	 * (kit/hostcc/compiler_list_text.h). */
	bool (*ask)(struct ws_worker_files *self, const struct ws_buf *names, struct ws_buf *told,
		struct ws_err *err);
	bool is_silent;      /**< a query failed */
	ws_name_list wanted; /**< unknown names that lookups needed */
	struct ws_map asked; /**< all names ever requested, answered or not */
	struct ws_arena *a;
	struct ws_map told; /**< name -> a digest, or a state of worker_files.c */
};

/**
 * Adds a worker's report about files outside of trees. False: it contradicts earlier reports,
 * first in @a name, and nothing was added, unless it contradicts itself.
 */
bool ws_worker_files_add_report(
	struct ws_worker_files *platform, const struct ws_report *report, const char **name);

/** Requests @a name for the next query. */
void ws_worker_files_want(struct ws_worker_files *platform, const char *name);

/** Requests the unknown names of @a report. */
void ws_worker_files_want_report(struct ws_worker_files *platform, const struct ws_report *report);

/** Sends one query about all requested names. False: no new answers; @a err has the reason if the
 * query failed, which is reported once, and is empty otherwise. */
bool ws_worker_files_ask_wanted(struct ws_worker_files *platform, struct ws_err *err);

/** Queries the workers that would run @a nodes about all names that their lookups requested.
 * True: look up again. A failure is one warning; @a events may be NULL. */
bool ws_worker_files_ask_for_nodes(const ws_node_list *nodes, const struct ws_events *events);

/** True if some worker reported @a name. */
bool ws_worker_files_knows(const struct ws_worker_files *platform, const char *name);

/** The digest of the file; NULL: it does not exist, or only its existence is known. */
const char *ws_worker_files_digest(const struct ws_worker_files *platform, const char *name);

bool ws_worker_files_has_file(const struct ws_worker_files *platform, const char *name);

/** True for a folder; false for a link to a folder. */
bool ws_worker_files_has_folder(const struct ws_worker_files *platform, const char *name);

/** Appends all known names, one a line, sorted: for the first query of the next run. */
void ws_worker_files_names(const struct ws_worker_files *platform, struct ws_buf *lines);

#endif
