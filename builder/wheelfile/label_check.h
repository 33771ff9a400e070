/**
 * label_check.h - compares WHEEL and METADATA with the file name and the place
 *
 * The place is a Python and a torch. Finds what pip would refuse, and what would install another
 * torch. Each answer is one line for people; NULL: no fault. verify/ decides whether modules
 * load.
 */
#ifndef WS_WHEELFILE_LABEL_CHECK_H
#define WS_WHEELFILE_LABEL_CHECK_H

#include "wheelfile/dist_info.h"

/** METADATA has another package or version than @a name. The label of the version does not count.
 */
const char *ws_label_check_name(
	const struct ws_wheel_name *name, const struct ws_metadata_info *metadata, struct ws_arena *a);

/**
 * WHEEL has another Python, ABI or machine than @a name; installers do not check this. The kind
 * of Linux may differ: auditwheel and others rename wheels to manylinux and leave WHEEL
 * unchanged.
 */
const char *ws_label_check_tags(
	const struct ws_wheel_name *name, const struct ws_wheel_info *wheel, struct ws_arena *a);

/** METADATA rules out every patch release of @a python. */
const char *ws_label_check_python(const struct ws_metadata_info *metadata,
	const struct ws_python_tag *python, struct ws_arena *a);

/**
 * METADATA requires another torch than @a torch: installing the wheel would replace it. Labels
 * count only where @a torch has one. Requirements with a marker do not count.
 */
const char *ws_label_check_torch(
	const struct ws_metadata_info *metadata, const struct ws_version *torch, struct ws_arena *a);

/** The wheel contains a file of torch, which is another package. */
const char *ws_label_check_files(
	const struct ws_metadata_info *metadata, const struct ws_zip *zip, struct ws_arena *a);

#endif
