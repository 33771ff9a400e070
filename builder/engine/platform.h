/**
 * platform.h - what lies outside of trees on hosts that are not this one
 *
 * Workers of a farm have headers of their own. What they told of them is known by canonical name
 * for one run, so that what was made there counts again while their files are the same, as
 * ws_names does it for this host. A name that nobody told of is asked for; until then it is neither
 * there nor absent. All workers must tell the same.
 */
#ifndef WS_ENGINE_PLATFORM_H
#define WS_ENGINE_PLATFORM_H

#include "base/buf.h"
#include "base/map.h"
#include "engine/action.h"

struct ws_report;

/** First member of its owner's struct. */
struct ws_platform {
	const char *name; /**< for people: "the farm at 'build.example.com:443'" */
	/** Has the platform learn about @a names, a line each, from one of its hosts. With @a told (it
	 * may be NULL): about those of the last run too, and what the host is (kit/hostcc/told.h). */
	bool (*ask)(struct ws_platform *self, const struct ws_buf *names, struct ws_buf *told,
		struct ws_err *err);
	bool is_silent; /**< it was asked in vain */
	struct ws_arena *a;
	struct ws_map told; /**< name -> what there is: a digest, or a state of platform.c */
	bool has_learned;   /**< names were told that nobody had asked for */
};

/**
 * Takes what a worker says of files outside of trees. False: it contradicts what is known, and
 * @a name is the first such name; then nothing is taken.
 */
bool ws_platform_learn(
	struct ws_platform *platform, const struct ws_report *report, const char **name);

/** Asks about names of which nothing is known. True: something is known of each now. */
bool ws_platform_ask_about(struct ws_platform *platform, const ws_name_list *names);

/** Whether anything is known of @a name. */
bool ws_platform_knows(const struct ws_platform *platform, const char *name);

/** The digest of the file; NULL: there is none, or its digest is not known. */
const char *ws_platform_digest(const struct ws_platform *platform, const char *name);

bool ws_platform_has_file(const struct ws_platform *platform, const char *name);

/** A folder, and no link to one. */
bool ws_platform_has_folder(const struct ws_platform *platform, const char *name);

/** Appends all names that are known, a line each, sorted: worth asking about the next time. */
void ws_platform_names(const struct ws_platform *platform, struct ws_buf *lines);

#endif
