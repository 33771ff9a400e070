/**
 * inspect_page.h - facts (schemas/inspect-1.json) as a page for people
 */
#ifndef WS_CLI_INSPECT_PAGE_H
#define WS_CLI_INSPECT_PAGE_H

#include "base/json.h"
#include "base/out.h"

void ws_inspect_page_print(const struct ws_json *facts, const struct ws_out *out);

#endif
