/* candidate.c - states: their names, and who writes them. */
#include "model/candidate.h"

const char *
ws_candidate_state_name(enum ws_candidate_state state)
{
	static const char *const names[] = {
		[WS_CANDIDATE_UNOPENED] = "unopened",
		[WS_CANDIDATE_LOADS] = "loads",
		[WS_CANDIDATE_FAILS] = "fails",
		[WS_CANDIDATE_UNKNOWN] = "unknown",
		[WS_CANDIDATE_REFUSED] = "refused",
		[WS_CANDIDATE_ABSENT] = "absent",
		[WS_CANDIDATE_UNREACHABLE] = "unreachable",
	};
	return names[state];
}

void
ws_candidate_set(struct ws_candidate *candidate, enum ws_candidate_state state, const char *why)
{
	candidate->state = state;
	candidate->why = why;
}
