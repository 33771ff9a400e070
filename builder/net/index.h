/**
 * index.h - a client of simple repositories
 *
 * Pages are downloaded once per session and kept. The indexes of a list are searched in order; the
 * first that has the package counts, or all of them. 404, 410 and a 403 without a login mean that
 * an index does not have a package (ws_reply_is_absent). Any other failure ends the search, because
 * the next index could have another project's file of the same name. Lists of indexes:
 * index_config.h.
 */
#ifndef WS_NET_INDEX_H
#define WS_NET_INDEX_H

#include "model/wheel_name.h"
#include "net/http.h"
#include "net/index_page.h"

/** The indexes to search, in order. */
struct ws_index_list {
	const char *const *urls; /**< each without the package: "https://h/simple" */
	size_t count;
	bool all; /**< use every index that has the package, not only the first */
};

/** A wheel on an index. */
struct ws_index_wheel {
	const struct ws_index_file *file;
	struct ws_wheel_name name;
};

struct ws_index;

/** Pages live in @a a. */
struct ws_index *ws_index_open(struct ws_http *http, struct ws_arena *a);

/** The page of @a package (any spelling) at one index; @a page is NULL if it is absent. */
bool ws_index_page(struct ws_index *x, const char *url, const char *package,
	const struct ws_index_page **page, struct ws_err *err);

/**
 * The pages of @a package that @a list yields: at most one unless list->all. @a count 0 is not an
 * error.
 */
bool ws_index_pages(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_index_page ***pages, size_t *count, struct ws_err *err);

/**
 * The file with this name and sha256 (NULL or "": any) on any index of the list, so that a mirror
 * can serve a pinned file. Absent: WS_ERR_FETCH with the nearest name. Includes yanked files.
 */
const struct ws_index_file *ws_index_find(struct ws_index *x, const struct ws_index_list *list,
	const char *package, const char *file_name, const char *sha256, struct ws_err *err);

/** Adds the searched indexes to @a err, and how to name another. */
void ws_index_cure_asked(const struct ws_index *x, const struct ws_index_list *list,
	const char *package, struct ws_err *err);

/**
 * The wheels of a version, in the order of the pages. @a version without a local label matches
 * every build: 2.5.1 matches 2.5.1+cu124. @a count 0 is not an error.
 */
bool ws_index_wheels(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_version *version, const struct ws_index_wheel **wheels, size_t *count,
	struct ws_err *err);

#endif
