/**
 * label_check.h - does what a wheel says of itself fit its file name, and the place where it is to
 * be loaded?
 *
 * WHEEL and METADATA against a name, a Python, a torch: what pip would refuse, or what would bring
 * another torch. Each answer is one line for people, NULL where nothing is wrong. Whether modules
 * load is verify/'s.
 */
#ifndef WS_WHEELFILE_LABEL_CHECK_H
#define WS_WHEELFILE_LABEL_CHECK_H

#include "wheelfile/dist_info.h"

/** It is another package or version than @a name says; a label is not held against it. */
const char *ws_label_check_name(
	const struct ws_wheel_name *name, const struct ws_dist_info *info, struct ws_arena *a);

/**
 * WHEEL is of another Python, ABI or machine than @a name says, which no installer looks at. Which
 * Linux it is for may differ: auditwheel and others rename wheels to manylinux and leave WHEEL as
 * it was.
 */
const char *ws_label_check_tags(
	const struct ws_wheel_name *name, const struct ws_dist_info *info, struct ws_arena *a);

/** METADATA rules out every patch release of @a python. */
const char *ws_label_check_python(const struct ws_metadata_info *metadata,
	const struct ws_python_tag *python, struct ws_arena *a);

/**
 * METADATA asks for another torch than @a torch, which installing the wheel would replace. Where @a
 * torch has no label, those that are asked for are passed over, and so is what stands under a
 * marker.
 */
const char *ws_label_check_torch(
	const struct ws_metadata_info *metadata, const struct ws_version *torch, struct ws_arena *a);

/** Installing it writes over a file of torch, which is another package. */
const char *ws_label_check_files(
	const struct ws_metadata_info *metadata, const struct ws_zip *zip, struct ws_arena *a);

#endif
