/**
 * space.h - white space as Python has it
 *
 * What str.isspace() says of ASCII, which is what the reference tools strip and skip. Wider than
 * ws_str_trim, which is for text of ours.
 */
#ifndef WS_MODEL_SPACE_H
#define WS_MODEL_SPACE_H

#include <stdbool.h>

static inline bool
ws_is_space(char c)
{
	return c == ' ' || (c >= '\t' && c <= '\r') || (c >= 0x1c && c <= 0x1f);
}

#endif
