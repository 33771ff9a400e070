/* cells.c - "wheelsmith.cell/2 <sha256> <seconds> <bytes> <bytes installed> <file>". */
#include "store/cells.h"

#include "base/str.h"
#include "store/cas.h"
#include "store/results.h"

#include <inttypes.h>

#define SCHEMA "wheelsmith.cell/2"

struct ws_digest
ws_cells_last_key(const char *name)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "the last wheel of a cell");
	ws_hasher_add_field(h, name);
	return ws_hasher_finish(h);
}

bool
ws_cells_get(const struct ws_store *store, const char *key, struct ws_arena *a,
	struct ws_cell_record *record)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!ws_results_get(store, key, &text)) {
		return false;
	}
	struct ws_str rest = ws_str_trim(ws_buf_str(&text));
	uint64_t seconds;
	if (!ws_str_is(ws_str_cut(&rest, ' '), SCHEMA)
		|| !ws_digest_parse(ws_str_copy(ws_str_cut(&rest, ' '), a), &record->digest)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &seconds)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &record->wheel_bytes)
		|| !ws_str_to_u64(ws_str_cut(&rest, ' '), &record->installed_bytes) || rest.n == 0) {
		return false;
	}
	record->built_s = (int64_t)seconds;
	record->file = ws_str_copy(rest, a);
	return ws_cas_has(store, record->digest.hex);
}

bool
ws_cells_put(const struct ws_store *store, const char *key, const struct ws_cell_record *record,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_buf_printf(&text, SCHEMA " %s %" PRId64 " %" PRIu64 " %" PRIu64 " %s\n", record->digest.hex,
		record->built_s, record->wheel_bytes, record->installed_bytes, record->file);
	return ws_results_put(store, key, &text, err);
}
