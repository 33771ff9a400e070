/**
 * finding.h - one fact that verification established, with a verdict
 *
 * What a person reads: the verdict, one line, and below it the evidence. Which wheel it is about
 * and what to do next is added by who asked.
 */
#ifndef WS_VERIFY_FINDING_H
#define WS_VERIFY_FINDING_H

#include <stddef.h>

/** From best to worst: the verdict of several findings is the largest. */
enum ws_finding_verdict {
	WS_VERDICT_OK,
	WS_VERDICT_EXCLUDED, /**< by what the wheel asks for itself, although nothing else is wrong */
	WS_VERDICT_UNKNOWN,  /**< could not be established */
	WS_VERDICT_FAILS,
};

struct ws_finding {
	enum ws_finding_verdict verdict;
	/** What it is about, for programs: "cxx11abi", "torch", "python", "cuda", "driver", "library",
	 * "sibling", "glibc", "gpu", "tags", "label" (it is another wheel than its name says),
	 * "module" (one that its recipe imports is not there), "requires-python", "requires-torch"
	 * (METADATA asks for another one), "no-python" (torch has no wheel for it), "damaged",
	 * "unreadable", "optional" (it may never be loaded), "replaces" (a file of torch's), "loader"
	 * (it refuses the file), "symbol", "trust", "known-bad"; NULL: nothing of these. */
	const char *cause;
	const char *text;            /**< one line, no full stop */
	const char *const *evidence; /**< lines below it */
	size_t evidence_count;
};

#endif
