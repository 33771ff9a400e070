/**
 * markers.h - line markers of preprocessed text, without the folder in which it was made
 *
 * With -lineinfo cicc writes where each line stands into PTX: a relative name behind the folder
 * that it runs in, which is another for every run. Names that begin with / it takes as they are.
 */
#ifndef WS_COMPILE_MARKERS_H
#define WS_COMPILE_MARKERS_H

#include "base/buf.h"
#include "base/str.h"

/**
 * Adds @a text to @a out, its markers' relative names below WS_SOURCE_ROOT (extension_target.h):
 * # 1 "src/a.cu" becomes # 1 "/wheelsmith/src/a.cu".
 */
void ws_markers_anchor(struct ws_str text, struct ws_buf *out);

#endif
