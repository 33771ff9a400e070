/**
 * candidate.h - a prebuilt wheel that might serve
 *
 * What its name says and what is known of it. Plan lists candidates by names
 * (plan/candidate_order.h), prebuilt/ opens them and tells what came of it; whether one serves is
 * the judge's verdict alone.
 */
#ifndef WS_MODEL_CANDIDATE_H
#define WS_MODEL_CANDIDATE_H

#include "model/wheel_name.h"

/** Where a candidate lies. */
enum ws_candidate_place {
	WS_PLACE_FOLDER,   /**< a folder that the matrix or the configuration names */
	WS_PLACE_INDEX,    /**< an index of the role `prebuilt` */
	WS_PLACE_TEMPLATE, /**< where the recipe says that it was published */
};

/** What is known of a candidate for one product. */
enum ws_candidate_state {
	WS_CANDIDATE_UNOPENED,    /**< nothing yet */
	WS_CANDIDATE_LOADS,       /**< in every torch that the product's cells have */
	WS_CANDIDATE_FAILS,       /**< opened: it does not load, or is not what its name says */
	WS_CANDIDATE_UNKNOWN,     /**< opened: it could not be established */
	WS_CANDIDATE_REFUSED,     /**< by a rule that needs its name only; never asked for */
	WS_CANDIDATE_ABSENT,      /**< the server does not have it */
	WS_CANDIDATE_UNREACHABLE, /**< the server did not answer */
};

/** "unopened", "loads", ...: for machines. */
const char *ws_candidate_state_name(enum ws_candidate_state state);

/** A wheel that a folder or an index has; handed in by who looked. */
struct ws_offered_wheel {
	const char *file;
	const char *from;    /**< whose it is, for people: "wheels.example", "../wheels" */
	const char *url;     /**< of an index's file; of a folder's its absolute path */
	const char *sha256;  /**< as the index says; NULL: it does not */
	uint64_t size_bytes; /**< likewise; 0: it does not */
	enum ws_candidate_place place;
};

/** Known by name and bytes: two of one name with other bytes are two. */
struct ws_candidate {
	const char *file;    /**< its name; with '+', as it is delivered */
	const char *from;    /**< whose it is, for people: "Dao-AILab's releases" */
	const char *url;     /**< '+' written as %2B; of a folder's file its absolute path */
	const char *sha256;  /**< as an index says, or of what was opened; NULL: not known */
	uint64_t size_bytes; /**< as an index says; 0: nobody does */
	enum ws_candidate_place place;
	struct ws_wheel_label label;
	bool window; /**< its label names another torch minor than the product's */
	enum ws_candidate_state state;
	const char *why; /**< of the state, one line; UNOPENED: why it did not come, or NULL */
	const char *see; /**< REFUSED: where to read about it; NULL */
};

/** The one place that writes a state. @a why is borrowed. */
void ws_candidate_set(
	struct ws_candidate *candidate, enum ws_candidate_state state, const char *why);

/** A name that one would guess, and that was never published. */
struct ws_unpublished {
	const char *file;
	const char *from; /**< who publishes the others */
	const char *
		what; /**< "torch 2.5", "cu124": the first value that is missing; NULL: their combination */
	const char *why; /**< "torch 2.5 was never published (2.3, 2.4 were)" */
};

/** When the indexes were asked that may have wheels of a package. */
enum ws_indexes_asked {
	WS_INDEXES_NOW,    /**< in this run; or there is none */
	WS_INDEXES_BEFORE, /**< in an earlier run: there may be newer wheels */
	WS_INDEXES_NEVER,  /**< one never answered */
};

/** Candidates of one product, in the order in which they are tried. */
struct ws_candidates {
	struct ws_candidate *at;
	size_t count;
	enum ws_indexes_asked asked;
	const struct ws_unpublished *unpublished;
	size_t unpublished_count;
};

#endif
