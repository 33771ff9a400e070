/**
 * compiler_list_text.h - the compilers of a host as text, for another host
 *
 * A worker of a farm lists its compilers in the way of this host; the building host chooses among
 * them. Fields of base/text.h.
 */
#ifndef WS_KIT_HOSTCC_COMPILER_LIST_TEXT_H
#define WS_KIT_HOSTCC_COMPILER_LIST_TEXT_H

#include "kit/hostcc/hostcc.h"

/** The parts of a host that compiling depends on. */
struct ws_compiler_list {
	const char *glibc;        /**< of its headers: "2.36"; "": another libc */
	ws_hostcc_list compilers; /**< opened */
};

void ws_compiler_list_write(const struct ws_compiler_list *host, struct ws_buf *text);

/** In @a a. The text is not trusted. WS_ERR_BUILD: it is not such a text. */
bool ws_compiler_list_read(
	struct ws_str text, struct ws_arena *a, struct ws_compiler_list *host, struct ws_err *err);

#endif
