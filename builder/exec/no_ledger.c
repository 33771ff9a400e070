/* no_ledger.c - what a worker remembers of files and programs: nothing. The real one would bring
 * SQLite along with every action. */
#include "store/ledger.h"

bool
ws_ledger_file_digest(
	struct ws_ledger *ledger WS_UNUSED, const char *path, struct ws_digest *digest)
{
	return ws_digest_file(path, digest, NULL, NULL);
}

bool
ws_ledger_answer(struct ws_ledger *ledger WS_UNUSED, const char *key WS_UNUSED,
	struct ws_buf *answer WS_UNUSED, struct ws_digest *looks WS_UNUSED)
{
	return false;
}

void
ws_ledger_note_answer(struct ws_ledger *ledger WS_UNUSED, const char *key WS_UNUSED,
	const char *answer WS_UNUSED, const struct ws_digest *looks WS_UNUSED)
{
}
