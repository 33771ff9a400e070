/**
 * hostcc.h - the host compiler that a CUDA toolkit accepts
 *
 * A toolkit's own crt/host_config.h says which gcc and clang it takes; the compilers of this host
 * are listed, and the newest that fits is chosen. The header cannot be bypassed:
 * --allow-unsupported-compiler compiles trivial files and then fails in thrust (measured with CUDA
 * 11.8 and g++ 12).
 */
#ifndef WS_KIT_HOSTCC_HOSTCC_H
#define WS_KIT_HOSTCC_HOSTCC_H

#include "model/facts.h"
#include "store/ledger.h"
#include "sys/host.h"

struct ws_worker_files;

enum ws_hostcc_kind {
	WS_HOSTCC_GCC,
	WS_HOSTCC_CLANG,
};

/** The compilers that crt/host_config.h allows. */
struct ws_hostcc_limits {
	unsigned gcc_max;              /**< highest major version */
	unsigned clang_min, clang_max; /**< majors; 0, 0 when the file takes no clang */
};

/** One compiler. */
struct ws_hostcc {
	enum ws_hostcc_kind kind;
	const char *path; /**< absolute: "/usr/bin/g++-12" */
	unsigned major;
	const char *version;       /**< "12.2.0" */
	const char *machine;       /**< "x86_64-linux-gnu" */
	const char *fingerprint;   /**< 64 digits, filled by ws_hostcc_open */
	const char *const *search; /**< system include folders in order, normalised; likewise */
	size_t search_count;
	const char *const
		*libraries; /**< where gcc looks for libraries, in order, normalised; likewise */
	size_t library_count;
	const char *c_path;          /**< the driver for C beside it: "/usr/bin/gcc-12"; NULL: none */
	const char *c_fingerprint;   /**< likewise of that driver and its cc1 */
	const char *const *c_search; /**< as search, of C */
	size_t c_search_count;
	const struct ws_host_file *files; /**< what both fingerprints are of; by ws_hostcc_open */
	size_t file_count;
	struct ws_worker_files *platform; /**< the other hosts that have it; NULL: this one does */
};

typedef WS_VEC(struct ws_hostcc) ws_hostcc_list;

/**
 * Reads the limits out of the text of crt/host_config.h (at most 1 MiB). An unknown form is
 * WS_ERR_BUILD: a wrong guess would fail later, in a build.
 */
bool ws_hostcc_limits_parse(const char *text, struct ws_hostcc_limits *limits, struct ws_err *err);

/**
 * Asks the compiler at @a path (absolute) what it is: fills all but fingerprint and search. @a
 * ledger remembers the answer; it may be NULL, here and below.
 */
bool ws_hostcc_ask(struct ws_ledger *ledger, const char *path, struct ws_arena *a,
	struct ws_hostcc *cc, struct ws_err *err);

/**
 * C++ compilers of this host: g++, g++-N, clang++, clang++-N on PATH, in /usr/bin, and those of
 * gcc-toolsets below /opt/rh; each real file once, by the name that holds a version where there is
 * one; gcc before clang, newest first. Links to something else (ccache) are left out, and what does
 * not answer, with a warning to @a events (may be NULL). As filled as by ws_hostcc_ask. @a root is
 * "" or a folder that stands for / (tests);
 * @a path_variable is PATH's value, not moved by @a root.
 */
void ws_hostcc_list_all(struct ws_ledger *ledger, const char *root, const char *path_variable,
	const struct ws_events *events, struct ws_arena *a, ws_hostcc_list *list);

/** Compilers on PATH and in /usr/bin for other machines: aarch64-linux-gnu-g++-12. As above. */
void ws_hostcc_list_cross(struct ws_ledger *ledger, const char *root, const char *path_variable,
	struct ws_arena *a, ws_hostcc_list *list);

/** The target machine of @a cc; NULL: a machine without wheels. */
const struct ws_machine *ws_hostcc_machine(const struct ws_hostcc *cc);

/** The requirements for a compiler. */
struct ws_hostcc_wish {
	struct ws_hostcc_limits limits;
	const struct ws_version *cuda; /**< for messages; NULL: no GPU code */
	unsigned gcc_min;              /**< facts' or torch's floor; 0: none */
	const unsigned *bad;           /**< majors of gcc that known-bad rules name */
	size_t bad_count;
	/** Names the CUDA that would take a gcc of this host when this one takes none; may be NULL. */
	const struct ws_facts *facts;
};

/**
 * The newest gcc that fits, else the newest clang. When none fits: WS_ERR_BUILD with the versions
 * that would, those of this host, and the command that installs one. @a list is of
 * ws_hostcc_list_all; @a chosen shares its texts. @a host NULL: @a list is of a farm's workers.
 */
bool ws_hostcc_choose(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish,
	const struct ws_host *host, struct ws_hostcc *chosen, struct ws_err *err);

/**
 * Adds the command that installs a gcc for @a wish on the distribution of @a host. apt lists the
 * packages there are; elsewhere the command that lists them is added.
 */
void ws_hostcc_install_cure(
	const struct ws_hostcc_wish *wish, const struct ws_host *host, struct ws_err *err);

/** True when @a wish takes @a cc: inside the limits and not known to be bad. */
bool ws_hostcc_fits(const struct ws_hostcc *cc, const struct ws_hostcc_wish *wish);

/**
 * Fills fingerprint, search and libraries (clang does not tell those), and what is said of C. The
 * fingerprint is of what the compiler is, not of where it is: version, machine, and the contents of
 * driver, cc1plus, as, collect2, ld and specs; of clang the driver with its LLVM libraries, its
 * configuration files and ld.
 */
bool ws_hostcc_open(
	struct ws_hostcc *cc, struct ws_ledger *ledger, struct ws_arena *a, struct ws_err *err);

#endif
