/**
 * event.h - events of a run, sent to every sink
 *
 * Code that takes time emits typed events. The status line, the plain log, JSON lines and the
 * report are sinks of one stream. Emitting never fails. Texts are borrowed for the length of the
 * call.
 */
#ifndef WS_BASE_EVENT_H
#define WS_BASE_EVENT_H

#include "base/attr.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum ws_event_kind {
	WS_EVENT_NOTE,           /**< subject: one line for people */
	WS_EVENT_WARNING,        /**< subject: one line for people */
	WS_EVENT_FETCH_STARTED,  /**< subject: file; detail: from where; total: bytes, 0 unknown */
	WS_EVENT_FETCH_PROGRESS, /**< subject: file; done, total: bytes */
	WS_EVENT_FETCH_DONE,     /**< subject: file; done: bytes over the wire; wall_ms */
	WS_EVENT_KIT_READY,      /**< subject: kit; detail: its source */
	/** done, total: actions; wall_ms: predicted rest of all but `unknown` of them; rss_bytes: held
	 * now; held_back */
	WS_EVENT_QUEUE,
	WS_EVENT_ACTION_STARTED, /**< id, after, subject: unit; stage; rss_bytes, wall_ms: predicted */
	WS_EVENT_ACTION_SAMPLED, /**< id, rss_bytes: held now */
	WS_EVENT_ACTION_WAITS,   /**< id, subject; detail: for what */
	WS_EVENT_ACTION_DONE, /**< id, subject, stage, outcome, detail; cpu, wall, rss; done, total */
	WS_EVENT_CELL_DONE,   /**< subject: cell; outcome; detail: wheel or reason */
};

enum ws_outcome {
	WS_OUTCOME_NONE,
	WS_OUTCOME_HIT,       /**< the store had it */
	WS_OUTCOME_RAN,       /**< it ran and succeeded */
	WS_OUTCOME_FAILED,    /**< it ran and failed; detail says how */
	WS_OUTCOME_KILLED,    /**< the kernel killed it for memory; it will run again, alone */
	WS_OUTCOME_CANCELLED, /**< something it needs failed, or the run was stopped */
};

/** The worker that ran an action, and the waiting times that it reported. */
struct ws_worker_run {
	const char *worker; /**< NULL: it ran on this host, or not at all */
	uint64_t queued_ms; /**< until a worker had it; 0: not told */
	uint64_t fetch_ms;  /**< the worker fetched what it takes; 0: not told */
};

struct ws_event {
	enum ws_event_kind kind;
	int64_t at_ms;       /**< monotonic; filled in by ws_events_emit */
	unsigned id;         /**< of the action, from 1; 0 where there is none */
	unsigned whole;      /**< of the action that this one is a part of; 0: of none */
	unsigned after;      /**< STARTED: of the last action that this one waited for; 0: for none */
	const char *subject; /**< may be NULL where the kind does not name it */
	const char *stage;   /**< "compile", "link", ... */
	const char *detail;
	struct ws_worker_run elsewhere; /**< ACTION_DONE */
	enum ws_outcome outcome;
	uint64_t done, total;
	uint64_t unknown;   /**< actions whose cost is not known yet */
	uint64_t held_back; /**< slots that are free though actions are ready: memory holds them back */
	uint64_t cpu_ms, wall_ms;
	uint64_t rss_bytes;
};

/** The first member of a sink's own struct. */
struct ws_sink {
	void (*take)(struct ws_sink *self, const struct ws_event *event);
};

/** The stream. A zeroed one has no sinks. */
struct ws_events {
	struct ws_sink *sinks[6];
	size_t count;
	int64_t (*now_ms)(void); /**< NULL: events carry no time */
};

/** At most six sinks; more is a bug. */
void ws_events_add(struct ws_events *events, struct ws_sink *sink);

/** @a events may be NULL. */
void ws_events_emit(const struct ws_events *events, const struct ws_event *event);

void ws_events_note(const struct ws_events *events, const char *format, ...) WS_PRINTF(2, 3);
void ws_events_warn(const struct ws_events *events, const char *format, ...) WS_PRINTF(2, 3);

/** "hit", "ran", "failed", "killed", "cancelled"; "" for none. */
extern const char *const ws_outcome_words[];

#endif
