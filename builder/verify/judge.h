/**
 * judge.h - will the libraries of a wheel load, and what was measured on the way?
 *
 * One judge for our own wheels and strangers'. It opens nothing and decides nothing: that unknown
 * is not good enough, or that the architectures must be those asked for, is the caller's policy.
 */
#ifndef WS_VERIFY_JUDGE_H
#define WS_VERIFY_JUDGE_H

#include "verify/gpu_code.h"
#include "verify/manylinux_tag.h"
#include "verify/missing_symbols.h"

/** The verdict on one module. */
struct ws_module_verdict {
	const struct ws_subject_module *module;
	enum ws_finding_verdict verdict; /**< the worst of its findings */
	const struct ws_finding *findings;
	size_t finding_count;
	struct ws_symbols symbols;
	struct ws_gpu_code gpu; /**< measured; empty: it has none */
};

struct ws_verdict {
	enum ws_finding_verdict verdict; /**< the worst of the required modules' */
	const struct ws_module_verdict *modules;
	size_t count;
	struct ws_floor floor;     /**< of all modules together */
	enum ws_cxx11abi cxx11abi; /**< by the names of all modules */
};

/**
 * Judges @a subject in @a place. False only when the place could not be read. GPU code that cannot
 * be read is a finding.
 */
bool ws_judge(const struct ws_subject *subject, const struct ws_load_place *place,
	struct ws_arena *a, struct ws_verdict *verdict, struct ws_err *err);

#endif
