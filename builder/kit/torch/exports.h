/**
 * exports.h - the export list of a torch release, out of its wheels
 *
 * For releases whose list does not ship with the program, and for making those that do. The whole
 * libraries are needed, 500 to 800 MB of them packed: a library's names lie at its end, and packed
 * bytes cannot be entered in the middle. They pass one by one through one scratch file, and are
 * read by a child (exports_child.h): @a program is our own executable. What a list holds is
 * elf/exports.h's.
 */
#ifndef WS_KIT_TORCH_EXPORTS_H
#define WS_KIT_TORCH_EXPORTS_H

#include "fetch/fetch.h"
#include "kit/torch/torch.h"
#include "model/lock.h"

/** What a list that ships is called: "torch-2.11.0.zst", "torch-2.11.0-aarch64.zst". */
const char *ws_torch_exports_name(
	const char *release, const struct ws_machine *machine, struct ws_arena *a);

/** Its path among the facts, a folder; NULL where none ships. */
const char *ws_torch_exports_shipped(
	const char *facts, const char *release, const struct ws_machine *machine, struct ws_arena *a);

/**
 * Writes the list of @a version for @a machine to @a path: libtorch_python of every Python that has
 * a wheel, the other libraries of CPython 3.11's, or the newest's. The same wheels give the same
 * bytes.
 */
bool ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	const char *path, struct ws_err *err);

/**
 * The list in the store, made the first time it is asked for. NULL on failure. @a pin is what a
 * lock says of it: its tree is taken under its definition, where the store remembers none. It gets
 * what was found.
 */
const char *ws_torch_exports_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	struct ws_pin_exports *pin, struct ws_arena *a, struct ws_err *err);

/** The same where the store has it; NULL, without an error, where it would have to be made. */
const char *ws_torch_exports_known(const struct ws_store *store, const struct ws_version *version,
	const struct ws_machine *machine, struct ws_pin_exports *pin, struct ws_arena *a);
const char *ws_torch_exports_known_installed(const struct ws_store *store,
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a);

/**
 * The list of the installed torch @a kit as @a python has it, with what lies beside it and in
 * NVIDIA's wheels, made anew when one of its libraries has changed. NULL on failure; a library that
 * is not there is WS_ERR_CONFIG.
 */
const char *ws_torch_exports_find_installed(const struct ws_fetch *fetch, const char *program,
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a,
	struct ws_err *err);

#endif
