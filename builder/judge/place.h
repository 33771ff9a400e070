/**
 * place.h - where modules are to be loaded, on its way into a child that judges
 *
 * Says what is there by paths: lists of exports, libraries of a host, an interpreter. The parent
 * writes it into an order, the child opens what it names and makes the judge's surroundings of it.
 * In an action the paths are names below the work folder, through a mount for each folder, so that
 * neither the host's nor the store's folders are part of the key; files are part of it by their
 * contents.
 */
#ifndef WS_JUDGE_PLACE_H
#define WS_JUDGE_PLACE_H

#include "base/json.h"
#include "engine/action.h"
#include "model/machine.h"
#include "verify/subject.h"

/** What may be left out is NULL or 0. */
struct ws_judge_place {
	const char *const *lists; /**< paths of export lists: torch's, what it brings, Python's, ... */
	size_t list_count;
	const char *const *libraries; /**< paths of a host's libraries */
	size_t library_count;
	/** Folders where a host has others. With them, what is in none of these is not there; without,
	 * it may be. Not part of an action's key: only for ws_judge_now. */
	const char *const *folders;
	size_t folder_count;
	const char *python;     /**< path of the interpreter or its libpython */
	const char *python_tag; /**< ABI tag of the interpreter: "cp311", "cp313t" */
	/** Where none is given: tags to choose from, the first that METADATA allows. `python_tag` is
	 * the first. */
	const char *const *pythons;
	size_t python_count;
	const char *stable_python; /**< as in struct ws_load_place */
	struct ws_arch_set
		archs;          /**< GPUs that must be served; "9.0+PTX" wants PTX for later ones, too */
	const char *driver; /**< "550.54.14" */
	const struct ws_facts *facts; /**< about PTX and families; NULL: nothing is known of those */
	const char *glibc;            /**< "2.28"; NULL: that of `libraries` */
	const struct ws_machine *machine; /**< NULL: this host's */
	bool strict;                      /**< what is taken on trust is unknown */
};

/** Folders of the paths of one or several places, as mounts and seeds of an action. Zeroed,
 * none. */
struct ws_judge_place_mounts {
	WS_VEC(struct ws_mount) mounts;
	WS_VEC(const char *) seeds;
};

/** Adds the folders and files of @a place. */
void ws_judge_place_mount(
	const struct ws_judge_place *place, struct ws_judge_place_mounts *mounts, struct ws_arena *a);

/** Makes them those of @a action. */
void ws_judge_place_attach(const struct ws_judge_place_mounts *mounts, struct ws_action *action);

/**
 * Writes the members of @a place into the object that is open. With @a mounts (which has them
 * already) paths are written as the action sees them, with NULL as they are.
 */
void ws_judge_place_write(struct ws_json_writer *w, const struct ws_judge_place *place,
	const struct ws_judge_place_mounts *mounts, struct ws_arena *a);

/** A place that was opened. */
struct ws_opened_judge_place {
	struct ws_load_place load;
	WS_VEC(const struct ws_elf *) libraries, globals; /**< what is open for it */
	const char *const *folders;
	size_t folder_count;
};

/** Opens what @a order, an object that ws_judge_place_write wrote into, names. Close in both
 * cases. */
bool ws_judge_place_open(const struct ws_json *order, struct ws_arena *a,
	struct ws_opened_judge_place *place, struct ws_err *err);

/** Opens what @a modules need, and that in turn, from the place's folders. */
void ws_judge_place_complete(
	struct ws_opened_judge_place *place, const struct ws_subject *modules, struct ws_arena *a);

void ws_judge_place_close(struct ws_opened_judge_place *place);

#endif
