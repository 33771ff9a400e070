/**
 * engine_world.h - an engine whose runner follows a script and whose clock is set by the test
 *
 * No process is started: a job writes its output when it starts, and ends when the script says so.
 */
#ifndef WS_TESTS_UNIT_ENGINE_WORLD_H
#define WS_TESTS_UNIT_ENGINE_WORLD_H

#include "test.h"

#include "engine/engine.h"

#define GIB ((uint64_t)1 << 30)

/* A line's code: it does not run, since what it takes of transient actions is lost then. */
#define LACKS_INPUT (-2)

/* The behaviour of a subject when it runs; the n-th entry of a subject is its n-th run. */
struct scripted_line {
	const char *subject;
	uint64_t wall_ms, rss_bytes;
	int code, signal;
	bool no_output;
};

struct scripted {
	struct ws_runner runner;
	const struct ws_work *work;
	const struct ws_host *host;
	const struct scripted_line *script;
	size_t lines;
	int64_t now_ms;
	struct active {
		const struct ws_job *job;
		int64_t ends_ms;
		const struct scripted_line *line;
		bool stopped;
	} active[16];
	size_t active_count, most_active;
	WS_VEC(const char *) started;  /* "subject" in the order of starting */
	WS_VEC(uint64_t) deadlines_ms; /* beside them */
	bool *used;
	struct ws_arena *a;
};

/* A host with so much memory and a store of its own. */
struct engine_world {
	struct ws_arena *a;
	struct ws_store store;
	struct ws_ledger *ledger;
	struct ws_work work;
	struct ws_host host;
	struct ws_budget budget;
	struct ws_engine engine;
	struct scripted runner;
	struct ws_graph *graph;
	struct ws_run_summary summary;
	struct ws_err err;
};

/** Fills @a w: a store of its own, a host with twice @a memory_bytes. */
void engine_world_open(struct engine_world *w, struct ws_arena *a, unsigned jobs,
	uint64_t memory_bytes, const struct scripted_line *script, size_t lines);
void engine_world_close(struct engine_world *w);
#define WS_AUTO_WORLD __attribute__((cleanup(engine_world_close)))

/** Runs the graph to a good end. */
void engine_world_run(struct engine_world *w);

/** The root of a host with so much memory, for ws_host_read. */
const char *engine_world_host(struct ws_arena *a, uint64_t bytes);

/** An action that makes "out", of the text @a word or, where that is NULL, of its subject. */
struct ws_action *engine_world_action(
	struct engine_world *w, const char *subject, const char *word);

#endif
