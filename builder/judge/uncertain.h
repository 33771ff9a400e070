/**
 * uncertain.h - modules that do not load, and that the package may never load
 *
 * Nothing runs the package, so it is unknown which libraries it loads besides those that Python
 * imports. Four kinds of modules alone do not make a wheel fail: a library that another module
 * loads (it is judged with that module); one of several whose names differ by numbers
 * (libx_cuda118.so, libx_cuda128.so; pg_2_11_0 for torch 2.11.0), because the package chooses one;
 * a module that lacks a library of another package; a module whose library may be in a wheel that
 * METADATA requires.
 */
#ifndef WS_JUDGE_UNCERTAIN_H
#define WS_JUDGE_UNCERTAIN_H

#include "verify/judge.h"
#include "wheelfile/dist_info.h"

/**
 * Call it where no recipe names the modules that must import. Clears `required` of the modules of
 * @a verdict that do not decide; @a modules has the same order, and the subject is installed.
 * @a unknown gets the reason why the verdict is unknown instead; its text is NULL where there is
 * none. @a metadata may be NULL.
 */
void ws_find_uncertain(const struct ws_verdict *verdict, struct ws_subject_module *modules,
	const struct ws_metadata_info *metadata, struct ws_arena *a, struct ws_finding *unknown);

#endif
