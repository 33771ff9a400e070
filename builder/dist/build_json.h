/**
 * build_json.h - the wheels of an output folder, for build.json and the requirements files
 */
#ifndef WS_DIST_BUILD_JSON_H
#define WS_DIST_BUILD_JSON_H

#include "base/arena.h"
#include "base/err.h"

/** A wheel in the folder, for one environment. */
struct ws_record {
	const char *cell, *package, *version, *wheel, *sha256;
	const char *group;  /**< wheels of one group share a requirements file */
	const char *python; /**< NULL: any */
	const char *torch;  /**< of a prebuilt wheel: the torch it was judged for; else NULL */
	const char *metadata_version; /**< of a prebuilt wheel, which may be renamed; NULL: `version` */
	uint64_t size;
	bool earlier; /**< another run's */
};

typedef WS_VEC(struct ws_record) ws_record_list;

/** The machine that its wheel is for: "aarch64"; "": any. */
const char *ws_record_machine(const struct ws_record *record, struct ws_arena *a);

/**
 * Writes requirements.txt, or one file for each group, and removes outdated ones. Files of a person
 * stay.
 */
bool ws_requirements_write(
	const char *output, const ws_record_list *records, struct ws_arena *a, struct ws_err *err);

#endif
