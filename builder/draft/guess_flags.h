/**
 * guess_flags.h - flags of a setup.py as a recipe names them
 */
#ifndef WS_DRAFT_GUESS_FLAGS_H
#define WS_DRAFT_GUESS_FLAGS_H

#include "draft/setup_py.h"
#include "draft/source_files.h"

/** Flags of one kind, as a recipe may name them. */
struct ws_guess_flags {
	ws_texts flags;
	ws_texts conditional; /**< only under a condition of setup.py */
	ws_texts strays;      /**< words without a dash that are the value of no flag; left out */
	ws_texts archs;       /**< "8.0": named by what was left out */
	unsigned cxx_std;     /**< the largest -std= that was left out; 0: none */
};

/** Sorts out @a words; adds to @a found. */
void ws_guess_flags(const ws_setup_words *words, struct ws_arena *a, struct ws_guess_flags *found);

#endif
