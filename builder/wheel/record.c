/* record.c - one line of RECORD. Reading them is inspect/'s. */
#include "wheel/record.h"

#include <inttypes.h>
#include <string.h>

void
ws_record_add(
	struct ws_buf *record, const char *path, const struct ws_digest *digest, uint64_t size)
{
	bool quoted = strpbrk(path, ",\"") != NULL;
	ws_buf_puts(record, quoted ? "\"" : "");
	for (const char *c = path; *c; c++) {
		ws_buf_puts(record, *c == '"' ? "\"" : "");
		ws_buf_putc(record, *c);
	}
	ws_buf_puts(record, quoted ? "\"" : "");
	if (!digest) {
		ws_buf_puts(record, ",,\n");
		return;
	}
	char base64[WS_DIGEST_BASE64];
	ws_digest_base64(digest, base64);
	ws_buf_printf(record, ",sha256=%s,%" PRIu64 "\n", base64, size);
}
