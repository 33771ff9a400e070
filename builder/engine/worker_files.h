/**
 * worker_files.h - what lies outside of trees on hosts that are not this one
 *
 * Workers of a farm have headers of their own. What they told of them is known by canonical name
 * for one run, so that what was made there counts again while their files are the same, as
 * ws_names does it for this host. A name that nobody told of is neither there nor absent: a lookup
 * that needs it wants it, and all that is wanted is asked for together. All workers must tell the
 * same.
 */
#ifndef WS_ENGINE_WORKER_FILES_H
#define WS_ENGINE_WORKER_FILES_H

#include "base/arena.h"
#include "base/text.h"
#include "engine/action.h"

struct ws_events;
struct ws_report;

/** First member of its owner's struct. */
struct ws_worker_files {
	const char *name; /**< for people: "the farm at 'build.example.com:443'" */
	/** Has the platform learn about @a names, a line each, from one of its hosts. With @a told (it
	 * may be NULL): about those of the last run too, and what the host is (kit/hostcc/told.h). */
	bool (*ask)(struct ws_worker_files *self, const struct ws_buf *names, struct ws_buf *told,
		struct ws_err *err);
	bool is_silent;      /**< it was asked in vain */
	ws_name_list wanted; /**< names that lookups needed and nobody knew of */
	struct ws_map asked; /**< those that were wanted, answered or not */
	struct ws_arena *a;
	struct ws_map told; /**< name -> what there is: a digest, or a state of worker_files.c */
};

/**
 * Takes what a worker says of files outside of trees. False: it contradicts what is known, and
 * @a name is the first such name; then nothing is taken, unless it contradicts itself.
 */
bool ws_worker_files_add_report(
	struct ws_worker_files *platform, const struct ws_report *report, const char **name);

/** A lookup needs @a name, of which too little is known. */
void ws_worker_files_want(struct ws_worker_files *platform, const char *name);

/** What @a report tells of is wanted where it is not known. */
void ws_worker_files_want_report(struct ws_worker_files *platform, const struct ws_report *report);

/** Asks about all that is wanted, once. False: nothing new is known; @a err says why where it was
 * asked in vain, which happens once, and is empty else. */
bool ws_worker_files_ask_wanted(struct ws_worker_files *platform, struct ws_err *err);

/** Asks the hosts that would run @a nodes about all that their lookups wanted; true: look them up
 * again. Who does not answer is warned of once; @a events may be NULL. */
bool ws_worker_files_ask_for_nodes(const ws_node_list *nodes, const struct ws_events *events);

/** Whether anything is known of @a name. */
bool ws_worker_files_knows(const struct ws_worker_files *platform, const char *name);

/** The digest of the file; NULL: there is none, or its digest is not known. */
const char *ws_worker_files_digest(const struct ws_worker_files *platform, const char *name);

bool ws_worker_files_has_file(const struct ws_worker_files *platform, const char *name);

/** A folder, and no link to one. */
bool ws_worker_files_has_folder(const struct ws_worker_files *platform, const char *name);

/** Appends all names that are known, a line each, sorted: worth asking about the next time. */
void ws_worker_files_names(const struct ws_worker_files *platform, struct ws_buf *lines);

#endif
