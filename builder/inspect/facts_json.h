/**
 * facts_json.h - facts as a JSON text, "wheelsmith.inspect/1" (schemas/inspect-1.json)
 *
 * What `inspect --json` prints, and what the child that read a wheel answers.
 */
#ifndef WS_INSPECT_FACTS_JSON_H
#define WS_INSPECT_FACTS_JSON_H

#include "inspect/facts.h"

/** Appends the text. @a read_bytes is what was read of a wheel on a server; 0: it was a local one. */
void ws_facts_json_write(
	const struct ws_wheel_facts *facts, uint64_t read_bytes, struct ws_buf *out);

#endif
