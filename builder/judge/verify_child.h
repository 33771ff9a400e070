/**
 * verify_child.h - parts of the child that judges
 *
 * place.c opens the files of a place, uncertain.c finds modules that decide nothing,
 * verify_child.c does the rest.
 */
#ifndef WS_JUDGE_VERIFY_CHILD_H
#define WS_JUDGE_VERIFY_CHILD_H

#include "judge/order.h"

/* ---- a place of the order, opened ----
 * Export lists are read by verify/. */

struct ws_opened_place {
	struct ws_load_place load;
	WS_VEC(const struct ws_elf *) libraries, globals; /**< open files */
	const char *const *folders;                       /**< searched for more libraries */
	size_t folder_count;
};

/** Opens the files of @a place. Close @a opened in both cases. */
bool ws_place_open(const struct ws_judge_place *place, struct ws_arena *a,
	struct ws_opened_place *opened, struct ws_err *err);

/** Opens the libraries that @a modules need, and those that these need, from the folders. */
void ws_place_complete(
	struct ws_opened_place *opened, const struct ws_subject *modules, struct ws_arena *a);

void ws_place_close(struct ws_opened_place *opened);

/* ---- modules that do not load, and that the package may never load ----
 * No check runs the package, so it is unknown which libraries it loads besides those that Python
 * imports. A wheel does not fail because of these modules alone:
 * 1. a library that another module loads (both are judged together);
 * 2. a module whose name differs from others by numbers (libx_cuda118.so, libx_cuda128.so;
 * pg_2_11_0
 *    for torch 2.11.0): the package chooses one;
 * 3. a module that needs the library of a second package;
 * 4. a module whose library may be in a wheel that METADATA requires. */

/**
 * Call it where no recipe names the modules that must import. Clears `required` of the modules of
 * @a verdict that do not decide; @a modules has the same order, and the subject is installed.
 * @a unknown gets the reason why the verdict is unknown instead; its text is NULL where there is
 * none. @a metadata may be NULL.
 */
void ws_find_uncertain(const struct ws_verdict *verdict, struct ws_subject_module *modules,
	const struct ws_metadata_info *metadata, struct ws_arena *a, struct ws_finding *unknown);

#endif
