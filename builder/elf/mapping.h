/**
 * mapping.h - a file's bytes, looked at where they are
 *
 * Mapped to be read, never copied: of a library of 450 MB only the pages that are looked at become
 * resident. The file must not shrink meanwhile (SIGBUS).
 */
#ifndef WS_ELF_MAPPING_H
#define WS_ELF_MAPPING_H

#include "base/err.h"

#include <stddef.h>

struct ws_mapping {
	const void *bytes; /**< NULL: nothing is mapped */
	size_t len;
};

/** Messages call it @a name. WS_ERR_IO when it cannot be read; WS_ERR_FETCH when it is not a file
 * of
 * @a least bytes. */
bool ws_mapping_open(const char *path, const char *name, size_t least, struct ws_mapping *mapping,
	struct ws_err *err);

/** Its pages need not stay resident; they come back when they are looked at. */
void ws_mapping_forget(const struct ws_mapping *mapping);

/** Nothing mapped is fine. */
void ws_mapping_close(struct ws_mapping *mapping);

#endif
