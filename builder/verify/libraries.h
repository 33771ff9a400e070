/**
 * libraries.h - the library of a name, and the package of a library
 *
 * The only table of CUDA's libraries by name: prefixes of their functions, names of their files,
 * membership of the driver. Opens no files.
 */
#ifndef WS_VERIFY_LIBRARIES_H
#define WS_VERIFY_LIBRARIES_H

#include <stdbool.h>
#include <stddef.h>

/** Names that begin with a prefix belong to a library, whatever its version. */
struct ws_library_family {
	const char *prefix; /**< "cublasLt" */
	const char *stem;   /**< "libcublasLt", of "libcublasLt.so.12" */
	bool cuda;          /**< of CUDA or its driver; else of torch's wheel */
	bool driver;        /**< comes with the driver, not with torch or a toolkit */
};

/** The family of a name ("cublasCreate_v2"); NULL: of none. */
const struct ws_library_family *ws_library_family_of(const char *name);

/** The next family that has the same prefix: two libraries can share names. NULL: none. */
const struct ws_library_family *ws_library_family_next(const struct ws_library_family *family);

/** Is @a library one of that stem? A copy in a repaired wheel has a hash in its name. */
bool ws_library_is_of(const char *library, const char *stem);

/** Is it a library of CUDA or its driver, of any version? */
bool ws_library_is_cuda(const char *library);

/** Is it, under this very name, on every host with a driver? */
bool ws_library_is_drivers(const char *library);

/**
 * Does torch/__init__.py of @a release ("2.8.0") load it out of NVIDIA's wheels, although no
 * library of torch names it?
 */
bool ws_library_is_preloaded(const char *library, const char *release);

/** Is @a folder, below site-packages, where torch's wheel or one of NVIDIA's has @a library? */
bool ws_library_is_in(const char *library, const char *folder);

#endif
