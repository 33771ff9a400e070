/**
 * index.h - a client of simple repositories
 *
 * Pages are fetched once a session and kept. A list of indexes is asked in order: the first that
 * has the package, or all that have it. What is "not there" says ws_reply_is_absent: 404, 410, and
 * 403 to who sent no login (static indexes behind object stores answer so for what is missing). Any
 * other failure stops the search, because going on could find another project's file of the same
 * name. Which indexes: index_config.h.
 */
#ifndef WS_NET_INDEX_H
#define WS_NET_INDEX_H

#include "model/wheel_name.h"
#include "net/http.h"
#include "net/index_page.h"

/** Where to look, in order. */
struct ws_index_list {
	const char *const *urls; /**< each ends before the package: "https://h/simple" */
	size_t count;
	bool all; /**< files of every index that has the package; else of the first */
};

/** A wheel on an index. */
struct ws_index_wheel {
	const struct ws_index_file *file;
	struct ws_wheel_name name;
};

struct ws_index;

/** Pages live in @a a. */
struct ws_index *ws_index_open(struct ws_http *http, struct ws_arena *a);

/** The page of @a package (any spelling) at one index; @a page is NULL when it is not there. */
bool ws_index_page(struct ws_index *x, const char *url, const char *package,
	const struct ws_index_page **page, struct ws_err *err);

/**
 * The pages of @a package that @a list yields: at most one unless list->all. @a count 0 is not an
 * error: no index has it.
 */
bool ws_index_pages(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_index_page ***pages, size_t *count, struct ws_err *err);

/**
 * The file of this name whose sha256 is the one given (NULL or "": any) on whatever index of the
 * list, in order, so a pinned file is found on any mirror. Not found is WS_ERR_FETCH and tells what
 * was found instead. Yanked files are found.
 */
const struct ws_index_file *ws_index_find(struct ws_index *x, const struct ws_index_list *list,
	const char *package, const char *file_name, const char *sha256, struct ws_err *err);

/** Adds to @a err which indexes were asked for @a package, and that another can be named. */
void ws_index_cure_asked(const struct ws_index *x, const struct ws_index_list *list,
	const char *package, struct ws_err *err);

/**
 * The wheels of a version, in the order of the pages. Without a local label @a version stands for
 * every build of it: 2.5.1 for 2.5.1+cu124. @a count 0 is not an error.
 */
bool ws_index_wheels(struct ws_index *x, const struct ws_index_list *list, const char *package,
	const struct ws_version *version, const struct ws_index_wheel **wheels, size_t *count,
	struct ws_err *err);

#endif
