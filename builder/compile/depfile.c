/* depfile.c - one pass over the text; unquotes each word as GNU make does. */
#include "base/buf.h"
#include "compile/header_reads.h"

#include <string.h>

/* Skips blanks and continued lines; false at the end of the rule. */
static bool
skip_blanks(const char **at)
{
	for (;;) {
		if (**at == ' ' || **at == '\t') {
			(*at)++;
		} else if ((*at)[0] == '\\' && (*at)[1] == '\n') {
			*at += 2;
		} else if ((*at)[0] == '\\' && (*at)[1] == '\r' && (*at)[2] == '\n') {
			*at += 3;
		} else {
			return **at != '\0' && **at != '\n' && **at != '\r';
		}
	}
}

/* One word, unquoted. Backslashes count only before a blank, '#', or a newline. */
static const char *
read_word(const char **at, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	for (; **at && !strchr(" \t\r\n", **at); (*at)++) {
		const char *c = *at;
		if (c[0] == '\\' && (c[1] == '\n' || (c[1] == '\r' && c[2] == '\n'))) {
			break;
		}
		if ((c[0] == '\\' && (c[1] == ' ' || c[1] == '#')) || (c[0] == '$' && c[1] == '$')) {
			(*at)++;
		}
		ws_buf_putc(&word, **at);
	}
	return ws_buf_copy(&word, a);
}

bool
ws_depfile_parse(const char *text, struct ws_arena *a, ws_name_list *names, struct ws_err *err)
{
	const char *at = text;
	bool in_targets = true;
	while (skip_blanks(&at)) {
		const char *word = read_word(&at, a);
		if (!in_targets) {
			*ws_vec_push(names, a) = word;
		} else if (strcmp(word, ":") == 0 || ws_ends_with(word, ":")) {
			in_targets = false;
		}
	}
	return !in_targets || ws_err_set(err, WS_ERR_BUILD, "the dependency file holds no rule");
}

bool
ws_depfile_is_input(const struct ws_action *action, const char *name)
{
	for (size_t i = 0; i < action->input_count; i++) {
		if (strcmp(action->inputs[i].name, name) == 0) {
			return true;
		}
	}
	return false;
}
