/**
 * verdict.h - the record of a verdict: written by the child that judges, read by everybody else
 *
 * verdict.json has the verdict on a wheel, an installed package or new modules: the worst of all
 * places, the reason, what was measured, and the findings in each place. `verify --json` prints the
 * same record (schemas/verify-1.json); members are only added. The measurements of our own modules
 * go into the wheelsmith.json of their wheel (schemas/wheel-1.json).
 */
#ifndef WS_JUDGE_VERDICT_H
#define WS_JUDGE_VERDICT_H

#include "base/table.h"
#include "store/store.h"
#include "verify/judge.h"

struct ws_metadata_info;
struct ws_wheel_facts;

/** The file, and the only output of an action that judges. */
#define WS_VERDICT_FILE "verdict.json"

/** "loads", "excluded", "unknown", "fails"; NULL ends them. */
extern const char *const ws_verdict_words[];
/** The same for findings: "ok", "excluded", "unknown", "fails"; NULL ends them. */
extern const char *const ws_finding_words[];

/** The verdict on one module in one place. */
struct ws_wheel_module_verdict {
	enum ws_finding_verdict verdict;
	const char *why, *cause;   /**< of the finding that decided; NULL: it loads */
	const char *module;        /**< as it is installed: "torchvision/_C.so" */
	bool required;             /**< the wheel's verdict depends on it */
	size_t symbols;            /**< undefined symbols, weak ones not counted */
	size_t assumed;            /**< of them, those in libraries that were not read */
	const char *const *unread; /**< these libraries */
	size_t unread_count;
	const char *const *missing; /**< mangled names */
	size_t missing_count;
};

/** The verdict in one place. */
struct ws_wheel_place_verdict {
	enum ws_finding_verdict verdict; /**< OK: it loads */
	const char *why;                 /**< the finding that decided, one line; NULL: it loads */
	const char *cause;               /**< its kind, see ws_finding.cause; NULL: it loads */
	const char *torch;               /**< release; NULL: no torch */
	const char *python;              /**< ABI tag of the Python that was judged; NULL: none */
	const struct ws_finding *findings;
	size_t finding_count;
	const struct ws_wheel_module_verdict *modules;
	size_t module_count;
};

/** GPU code of one module of a wheel. */
struct ws_measured_gpu_code {
	const char *module;
	const char *archs;    /**< with machine code; +PTX: and PTX of it */
	const char *ptx_only; /**< PTX without machine code */
	const char *driver;   /**< the oldest that unpacks and runs it; NULL: any */
};

/** GPU code of one of our own modules. */
struct ws_measured_size {
	uint64_t compressed_bytes, bytes;
	const char *driver; /**< as above */
};

/** Measurements of one of our own modules. */
struct ws_measured_module {
	const char *module;
	const char *const *needed; /**< DT_NEEDED */
	size_t needed_count;
	size_t assumed; /**< as in ws_wheel_module_verdict */
	const char *const *unread;
	size_t unread_count;
	const struct ws_measured_size *gpu_code; /**< NULL: none */
};

/** Facts that hold in every place. The platform is of the place that needs the newest system,
 * because another torch has other libraries. NULL: unknown. */
struct ws_measured {
	const char *platform; /**< the tag that the symbol versions allow */
	const char *glibc, *glibcxx;
	const char *archs; /**< of our own modules with kernels */
	enum ws_cxx11abi cxx11abi;
	const struct ws_measured_gpu_code *gpu_code; /**< of a wheel */
	size_t gpu_code_count;
	const struct ws_measured_module *modules; /**< our own */
	size_t module_count;
};

struct ws_wheel_verdict {
	enum ws_finding_verdict verdict; /**< the worst of the places */
	const char *why, *cause;         /**< of the first place that has it */
	const char *wheel;               /**< file name; NULL: not a wheel */
	struct ws_measured measured;
	const struct ws_wheel_place_verdict *places; /**< in the order's order */
	size_t place_count;
	const struct ws_wheel_facts *facts; /**< of an order for facts; else NULL */
};

/** The table for wheels and installed packages; the table for our own modules; the measurements in
 * the latter. */
extern const struct ws_table ws_wheel_verdict_table, ws_own_verdict_table, ws_own_measured_table;
/** As the first, with the facts: verdict.json. */
extern const struct ws_table ws_verdict_file_table;

/** The output of `verify --json`. */
struct ws_verify_result {
	enum ws_finding_verdict verdict; /**< the worst; for all releases the best of each wheel */
	const struct ws_wheel_verdict *wheels;
	size_t wheel_count;
};
extern const struct ws_table ws_verify_result_table;

/** The finding that decided @a place; NULL: none did. */
const struct ws_finding *ws_place_decisive(const struct ws_wheel_place_verdict *place);

/** Reads the verdict that an action left in the store; @a digest is of its output. */
bool ws_verdict_recall(const struct ws_store *store, const char *digest, struct ws_arena *a,
	struct ws_wheel_verdict *verdict, struct ws_err *err);

/* ---- for the child ---- */

/** The result of judging in one place. */
struct ws_judge_outcome {
	struct ws_wheel_place_verdict place; /**< its lists are filled by ws_verdict_make */
	ws_finding_list findings;
	struct ws_verdict judged; /**< no modules: they were not judged */
};

/** Fills @a verdict from @a count outcomes, at least one; @a own: our own modules were judged. */
void ws_verdict_make(struct ws_judge_outcome *outcomes, size_t count, const char *wheel, bool own,
	struct ws_arena *a, struct ws_wheel_verdict *verdict);

/**
 * Call it where no recipe names the modules that must import. Clears `required` of the modules of
 * @a verdict that do not decide; @a modules has the same order, and the subject is installed.
 * @a unknown gets the reason why the verdict is unknown instead; its text is NULL where there is
 * none. @a metadata may be NULL.
 */
void ws_find_uncertain(const struct ws_verdict *verdict, struct ws_subject_module *modules,
	const struct ws_metadata_info *metadata, struct ws_arena *a, struct ws_finding *unknown);

#endif
