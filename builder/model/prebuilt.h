/**
 * prebuilt.h - wheels that somebody published: how they are called, and which of the names exist
 *
 * Plain data of a recipe's `prebuilt`. What is listed was published, less the combinations of
 * `except`; a name outside of that is never asked for.
 */
#ifndef WS_MODEL_PREBUILT_H
#define WS_MODEL_PREBUILT_H

#include "model/condition.h"
#include "model/tag.h"

/** A value that names have in place of a placeholder. */
struct ws_published {
	const char *text;          /**< as names write it: "123", "2.4", "TRUE" */
	struct ws_version version; /**< what it means: "12.3", "2.4" */
	bool any_minor;            /**< of CUDA: "12" is any 12.x */
	int cxx11abi;              /**< of "TRUE" 1, of "FALSE" 0 */
};

struct ws_published_list {
	const struct ws_published *at;
	size_t count; /**< 0: names do not say it */
};

/** An interpreter that names have in place of {python}: one with the GIL. */
struct ws_published_python {
	struct ws_python_tag tag;
	struct ws_version version; /**< "3.11" */
};

struct ws_prebuilt {
	const char *from; /**< whose they are, for people: "Dao-AILab's releases" */
	/** With {version}, {cuda}, {torch}, {cxx11abi} and {python} ("cp311"); '+' is not escaped. */
	const char *url;
	struct ws_published_list cuda, torch, cxx11abi;
	const struct ws_published_python *pythons;
	size_t python_count;               /**< 0: names do not say it */
	const struct ws_condition *except; /**< combinations that were not published */
	size_t except_count;
	struct ws_arch_set archs; /**< what all of them have code for; count 0: not known */
	const char *see;          /**< where the matrix was read: a URL; NULL */
};

/** One value for each placeholder; NULL: names do not say it. */
struct ws_published_values {
	const struct ws_published *cuda, *torch, *cxx11abi;
	const struct ws_published_python *python;
};

/** Whether the combination was published; its values are of the lists. */
bool ws_prebuilt_has(const struct ws_prebuilt *prebuilt, const struct ws_published_values *values);

/** How many names were published. */
size_t ws_prebuilt_count(const struct ws_prebuilt *prebuilt);

#endif
