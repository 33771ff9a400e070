/**
 * told.h - the compilers of a host as text, for another host
 *
 * A worker of a farm lists its compilers as this host lists its own, and says what each is; who
 * builds chooses among them. Fields of base/text.h.
 */
#ifndef WS_KIT_HOSTCC_COMPILER_LIST_TEXT_H
#define WS_KIT_HOSTCC_COMPILER_LIST_TEXT_H

#include "base/text.h"
#include "kit/hostcc/hostcc.h"

/** A host, as far as compiling is concerned. */
struct ws_compiler_list {
	const char *glibc;        /**< of its headers: "2.36"; "" it has another libc */
	ws_hostcc_list compilers; /**< opened */
};

void ws_compiler_list_write(const struct ws_compiler_list *host, struct ws_buf *text);

/** In @a a; it comes from a stranger. WS_ERR_BUILD: it is no such text. */
bool ws_compiler_list_read(
	struct ws_str text, struct ws_arena *a, struct ws_compiler_list *host, struct ws_err *err);

#endif
