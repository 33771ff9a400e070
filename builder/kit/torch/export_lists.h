/**
 * export_lists.h - the export lists of a torch release and of the libraries beside it
 *
 * Lists of known releases ship with the program; others are made from the wheels, or from the
 * libraries of an installed torch. The whole libraries are needed, 500 to 800 MB packed: the names
 * of a library are at its end, and packed bytes cannot be entered in the middle. They go one by one
 * through a scratch file, and a child process reads them: `wheelsmith internal names`, @a program.
 * The format of a list is elf/exports.h's.
 */
#ifndef WS_KIT_TORCH_EXPORT_LISTS_H
#define WS_KIT_TORCH_EXPORT_LISTS_H

#include "fetch/fetch.h"
#include "kit/torch/torch.h"

/** The file name of a shipped list: "torch-2.11.0.zst", "torch-2.11.0-aarch64.zst". */
const char *ws_torch_exports_name(
	const char *release, const struct ws_machine *machine, struct ws_arena *a);

/** Its path in the folder @a facts; NULL where none ships. */
const char *ws_torch_exports_shipped(
	const char *facts, const char *release, const struct ws_machine *machine, struct ws_arena *a);

/**
 * Writes the list of @a version for @a machine to @a path: libtorch_python of every Python with a
 * wheel, the other libraries of CPython 3.11's wheel, or the newest. The same wheels give the same
 * bytes.
 */
bool ws_torch_exports_make(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	const char *path, struct ws_err *err);

/**
 * The path of the list in the store, made on first use. NULL on failure. @a pin is the lock's: its
 * tree is taken where the store has no result for its definition. Filled with what was found.
 */
const char *ws_torch_exports_find(const struct ws_fetch *fetch, const struct ws_facts *facts,
	const char *program, const struct ws_version *version, const struct ws_machine *machine,
	struct ws_pin_exports *pin, struct ws_arena *a, struct ws_err *err);

/** The same from the store only; NULL, without an error, where it would have to be made. */
const char *ws_torch_exports_known(const struct ws_store *store, const struct ws_version *version,
	const struct ws_machine *machine, struct ws_pin_exports *pin, struct ws_arena *a);
const char *ws_torch_exports_known_installed(const struct ws_store *store,
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a);

/**
 * The list of the installed torch @a kit of @a python, with the libraries beside it and those of
 * NVIDIA's wheels; made again when a library changed. NULL on failure; a missing library is
 * WS_ERR_CONFIG.
 */
const char *ws_torch_exports_find_installed(const struct ws_fetch *fetch, const char *program,
	const struct ws_torch_kit *kit, const struct ws_python_tag *python, struct ws_arena *a,
	struct ws_err *err);

/** The child process, in the current folder. */
bool ws_exports_child_run(struct ws_err *err);

/* ---- libraries beside torch's own ---- */

typedef WS_VEC(const char *) ws_list_paths;

/**
 * Adds the paths of the shipped lists of the libraries that @a release brings: of NVIDIA's wheels,
 * which a torch wheel requires, and smaller ones in it; and of the driver and Python, which belong
 * to no release. @a release NULL: only the latter. @a facts is the folder of the facts; its
 * exports/brought.json says which release brings which, and ./dev exports writes it.
 */
bool ws_torch_dependencies(const char *facts, const struct ws_version *release, struct ws_arena *a,
	ws_list_paths *paths, struct ws_err *err);

#endif
