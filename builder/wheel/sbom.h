/**
 * sbom.h - the parts of a wheel as a CycloneDX 1.5 document
 *
 * PEP 770 keeps such a file in dist-info/sboms/. Equal parts give equal bytes: no time, no serial
 * number, one order. The caller knows the parts.
 */
#ifndef WS_WHEEL_SBOM_H
#define WS_WHEEL_SBOM_H

#include "base/text.h"

/** One thing that went in: a source, the torch wheel, an archive of the CUDA kit, the compiler. */
struct ws_sbom_part {
	const char *name;    /**< "torch", "cutlass", "gcc" */
	const char *version; /**< a commit for a git source; NULL: none */
	const char *purl;    /**< package URL: "pkg:pypi/torch@2.5.1"; NULL: none */
	const char *url;     /**< where it came from: a repository, or a file with sha256; NULL */
	const char *sha256;  /**< of that file, 64 digits; NULL or "": none */
	bool application;    /**< a program that was run (compiler), not a library that is in there */
};

/** Appends the document about @a wheel, made of @a parts in any order. */
void ws_sbom_write(const struct ws_sbom_part *wheel, const struct ws_sbom_part *parts, size_t count,
	struct ws_buf *out);

#endif
