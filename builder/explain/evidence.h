/**
 * evidence.h - what this host and the export lists say of a module in an error's text
 */
#ifndef WS_EXPLAIN_EVIDENCE_H
#define WS_EXPLAIN_EVIDENCE_H

#include "base/arena.h"
#include "base/err.h"
#include "model/facts.h"

/* ---- the environment that a module in an error's text belongs to, where it lies on this host ----
 * Read from names of folders and from RECORD files. No program that the text names is started. */

/** What a path tells. NULL: not known. */
struct ws_installed {
	const char *module;  /**< "flash_attn_2_cuda", "demo._C" */
	const char *python;  /**< of the file's name or folder: "3.11" */
	const char *program; /**< that environment's interpreter, which is there */
	const char *torch;   /**< installed beside the module: "2.5.1+cu124" */
	const char *package; /**< the distribution that brought the module, normalised: "flash-attn" */
	const char *version; /**< its version, without a label: "2.8.3" */
};

/** @a file: "/venv/lib/python3.11/site-packages/m.cpython-311-x86_64-linux-gnu.so"; may be
 * relative. */
struct ws_installed ws_installed_of(const char *file, struct ws_arena *a);

/* ---- whose symbol it is that a module did not find, and which torch has it ----
 * From the name and the export lists that ship alone: nothing is loaded, no module is opened.
 * Demangling a crafted name can take all memory or years (elf/demangle.h): the caller limits its
 * process. */

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
