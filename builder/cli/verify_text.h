/**
 * verify_text.h - what verify found out about a wheel, for people
 *
 * The verdict first, then why, then the findings; of many places a table with a row for each. Reads
 * verdicts as judge/order.h hands them out.
 */
#ifndef WS_CLI_VERIFY_TEXT_H
#define WS_CLI_VERIFY_TEXT_H

#include "judge/order.h"

/** The verdict about the first place. */
void ws_verify_text_place(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a);

/** A row for each place, and what "loads" does not say. */
void ws_verify_text_window(const struct ws_out *out, const struct ws_judge_order *order,
	const struct ws_wheel_verdict *verdict, struct ws_arena *a);

/** The best verdict of the places: a wheel that loads in one place is useful. */
enum ws_finding_verdict ws_verify_text_best(const struct ws_wheel_verdict *verdict);

#endif
