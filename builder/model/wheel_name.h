/**
 * wheel_name.h -  wheel file names: tags, versions and labels
 *
 * Binary distribution format and platform compatibility tags (PEP 425, 600, 656, 703). Pure;
 * the oracle is `packaging.utils` and `packaging.tags`.
 */
#ifndef WS_MODEL_WHEEL_NAME_H
#define WS_MODEL_WHEEL_NAME_H

#include "model/arch.h"
#include "model/machine.h"
#include "model/version.h"

/** A wheel's file name, taken apart. */
struct ws_wheel_name {
	const char *distribution; /**< normalised as PEP 503: "flash-attn" */
	struct ws_version version;
	const char *build;          /**< build tag, a digit first; NULL when there is none */
	const char *const *pythons; /**< "cp311", "py3", ... */
	size_t python_count;
	const char *const *abis;
	size_t abi_count;
	const char *const *platforms;
	size_t platform_count;
};

/**
 * False, with @a why set to one line, when @a filename is not a wheel's. Takes what
 * packaging.utils.parse_wheel_filename takes, less names that no index should serve: over 255
 * bytes, or with anything but printable ASCII. Tags become lower case, else stay as written.
 */
bool ws_wheel_name_parse(
	const char *filename, struct ws_arena *a, struct ws_wheel_name *name, const char **why);

/** PEP 503: runs of -_. become one -, ASCII letters lower case. */
char *ws_package_normal(const char *name, struct ws_arena *a);

/** For file names and dist-info folders: ws_package_normal with - as _. */
char *ws_package_file_part(const char *name, struct ws_arena *a);

/** An interpreter as tags see it: CPython 3.11 is cp311-cp311, free-threaded 3.13 cp313-cp313t. */
struct ws_python_tag {
	unsigned major; /**< 3 */
	unsigned minor;
	bool free_threaded; /**< "3.13t"; since 3.13 */
};

bool ws_python_tag_same(const struct ws_python_tag *x, const struct ws_python_tag *y);

/** From "3.11", "3.13t", "3.11.7", "cp311", "cp313t". False for anything else, "3.12t" included. */
bool ws_python_tag_parse(const char *text, struct ws_python_tag *tag);
/** "cp311"; the ABI tag ("cp313t") when @a abi. */
const char *ws_python_tag_text(const struct ws_python_tag *tag, bool abi, struct ws_arena *a);
/** "3.11", "3.13t". */
const char *ws_python_version_text(const struct ws_python_tag *tag, struct ws_arena *a);

/** The machine of its platform tags; NULL: any, or an unsupported one. */
const struct ws_machine *ws_wheel_name_machine(const struct ws_wheel_name *name);

/** A minor version of glibc above every other: wherever the wheel will be used. */
#define WS_ANY_GLIBC 99u

/**
 * How well a wheel fits an interpreter on Linux on @a machine with this glibc: 0 not at all, else
 * the larger the better, in the order of packaging.tags.sys_tags, which pip follows. Comparable
 * between wheels for the same interpreter and glibc.
 */
unsigned ws_wheel_fit(const struct ws_wheel_name *name, const struct ws_python_tag *python,
	const struct ws_machine *machine, unsigned glibc_major, unsigned glibc_minor);

/** A parsed label; a missing part is NULL, 0, or -1 for the ABI. */
struct ws_wheel_label {
	const char *torch; /**< minor: "2.4"; NULL: missing */
	unsigned torch_major, torch_minor;
	const char *cuda; /**< "12.3"; "12" is any 12.x; NULL: missing */
	unsigned cuda_major;
	int cuda_minor;           /**< -1: any */
	int cxx11abi;             /**< 0, 1; -1: not said */
	const char *torch_cuda;   /**< "12.1": of torch's own build (tcu); NULL: not said */
	bool cpu;                 /**< "cpu": without CUDA */
	struct ws_arch_set archs; /**< of our own labels; count 0: not said */
};

/** @a local is a label as struct ws_version has it (lower case, dots), or NULL. */
struct ws_wheel_label ws_wheel_label_read(const char *local, struct ws_arena *a);

/** "12.3" of "123", "11.8" of "118", "12" of "12", "12.4" of "12.4"; NULL: not a CUDA version. */
const char *ws_wheel_label_cuda(const char *digits, struct ws_arena *a);

#endif
