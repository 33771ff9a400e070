/**
 * symbol.h - whose symbol it is that a module did not find, and which torch has it
 *
 * From the name and the export lists that ship alone: nothing is loaded, no module is opened. Demangling
 * a crafted name can take all memory or years (elf/demangle.h): the caller limits its process.
 */
#ifndef WS_EXPLAIN_SYMBOL_H
#define WS_EXPLAIN_SYMBOL_H

#include "base/err.h"
#include "model/facts.h"

/** What is asked. */
struct ws_symbol_question {
	const char *name;  /**< mangled */
	const char *torch; /**< the one beside the module: "2.5.1+cu124"; NULL: not known */
	const struct ws_facts *facts;
	const char *exports; /**< the folder of the lists, "matrix/facts/exports" */
};

struct ws_symbol_answer {
	const char *cause;           /**< one line, no full stop */
	const char *const *evidence; /**< lines */
	size_t evidence_count;
	const char *torch; /**< the newest known release that has the name; NULL: none */
};

/** False only when a list cannot be read. */
bool ws_symbol_answer(const struct ws_symbol_question *question, struct ws_arena *a,
	struct ws_symbol_answer *answer, struct ws_err *err);

#endif
