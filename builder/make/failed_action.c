#include "make/failed_action.h"

#include "base/text.h"
#include "engine/action.h"
#include "store/cas.h"

#include <string.h>

static const char *
command_line(const struct ws_node *node, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf line = {0};
	const char *dir = node->dir ? node->dir : "{work}";
	const char *const *words = ws_action_words(node->action, node->action->argv, dir, a);
	for (size_t i = 0; words[i]; i++) {
		ws_buf_puts(&line, i ? " " : "");
		ws_buf_put_quoted(&line, words[i]);
	}
	return ws_buf_copy(&line, a);
}

/* A check that ended by itself says by its exit code what it came to: a verdict, or a host that
 * kept it from one (a full disk). One that was stopped (a name that takes years to read) has not
 * shown that the module loads, either. */
static void
refine(const struct ws_node *node)
{
	bool imports = strcmp(node->action->stage, "import") == 0;
	bool judges = imports || strcmp(node->action->stage, "check") == 0;
	if (!judges || node->failure->kind != WS_ERR_BUILD) {
		return;
	}
	int code = node->result.exit_code;
	if (code == ws_err_exit_code(WS_ERR_IO)) {
		node->failure->kind = WS_ERR_IO;
	} else if (code == ws_err_exit_code(WS_ERR_VERIFY)) {
		ws_err_set(node->failure, WS_ERR_VERIFY, "%s %s", node->action->subject,
			imports ? "cannot be imported" : "would not load");
	} else {
		node->failure->kind = WS_ERR_VERIFY;
	}
}

/* Who asks for what a check misses. */
static const struct ws_asking *
asks_of(const struct ws_node *node, const struct ws_store *store, struct ws_arena *a, size_t *count)
{
	WS_AUTO_BUF struct ws_buf log = {0};
	bool verdict = strcmp(node->action->stage, "check") == 0 && node->result.log.hex[0]
		&& ws_cas_read(store, node->result.log.hex, &log, NULL);
	*count = 0;
	return verdict ? ws_asking_find(node, ws_buf_str(&log), store, a, count) : NULL;
}

struct ws_failed_action
ws_failed_action_of(
	const struct ws_node *node, bool keep_work, const struct ws_store *store, struct ws_arena *a)
{
	size_t ask_count;
	refine(node);
	const struct ws_asking *asks = asks_of(node, store, a, &ask_count);
	return (struct ws_failed_action){
		.cell = node->action->group,
		.subject = node->action->subject,
		.stage = node->action->stage,
		.err = node->failure,
		.command = command_line(node, a),
		.log_digest = node->result.log,
		.elsewhere = node->action->platform != NULL,
		.folder = keep_work ? node->dir : NULL,
		.asks = asks,
		.ask_count = ask_count,
	};
}
