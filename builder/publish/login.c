/* login.c - netrc as libcurl reads it: words, which quotes may enclose; comments and macros are
 * passed over. */
#include "publish/login.h"

#include "base/text.h"
#include "publish/pages.h"

#include <string.h>
#include <strings.h>

bool
ws_login_check(const char *name, const char *value, struct ws_err *err)
{
	return !value || !ws_has_control(value)
		|| ws_err_set(err, WS_ERR_CONFIG, "%s has a control character, perhaps a line break", name);
}

bool
ws_login_read(struct ws_str text, const char *name, struct ws_arena *a, struct ws_login *login,
	struct ws_err *err)
{
	struct ws_str rest = text;
	struct ws_str first = ws_str_trim(ws_str_cut(&rest, '\n'));
	struct ws_str second = rest.s ? ws_str_trim(ws_str_cut(&rest, '\n')) : (struct ws_str){0};
	if (first.n == 0) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' has no login: user and password, a line each", name);
	}
	*login = second.n == 0 ? (struct ws_login){"__token__", ws_str_copy(first, a)}
						   : (struct ws_login){ws_str_copy(first, a), ws_str_copy(second, a)};
	const char *shown = ws_arena_printf(a, "'%s'", name);
	return ws_login_check(shown, login->user, err) && ws_login_check(shown, login->password, err);
}

/* ---- netrc ---- */

static void
skip_line(struct ws_str *rest)
{
	ws_str_cut(rest, '\n');
	*rest = rest->s ? *rest : (struct ws_str){"", 0};
}

/* NULL at the end. */
static const char *
next_word(struct ws_str *rest, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf word = {0};
	while (rest->n > 0 && (strchr(" \t\r\n", rest->s[0]) || rest->s[0] == '#')) {
		if (rest->s[0] == '#') {
			skip_line(rest);
		} else {
			*rest = (struct ws_str){rest->s + 1, rest->n - 1};
		}
	}
	if (rest->n == 0) {
		return NULL;
	}
	bool quoted = rest->s[0] == '"';
	size_t i = quoted;
	for (; i < rest->n && !strchr(quoted ? "\"" : " \t\r\n", rest->s[i]); i++) {
		i += quoted && rest->s[i] == '\\' && i + 1 < rest->n;
		ws_buf_putc(&word, rest->s[i]);
	}
	i += quoted && i < rest->n;
	*rest = (struct ws_str){rest->s + i, rest->n - i};
	return ws_buf_copy(&word, a);
}

bool
ws_login_find_netrc(
	struct ws_str text, const char *host, struct ws_arena *a, struct ws_login *login)
{
	const char *word;
	bool ours = false;
	*login = (struct ws_login){0};
	while ((word = next_word(&text, a)) && !login->password) {
		bool machine = strcmp(word, "machine") == 0;
		const char *name = machine ? next_word(&text, a) : NULL;
		if (machine) {
			ours = name && strcasecmp(name, host) == 0;
			login->user = NULL;
		} else if (strcmp(word, "default") == 0) {
			ours = true;
		} else if (strcmp(word, "macdef") == 0) {
			do {
				skip_line(&text);
			} while (text.n > 0 && text.s[0] != '\n'); /* an empty line ends it */
		} else if (strcmp(word, "login") == 0) {
			const char *user = next_word(&text, a);
			login->user = ours ? user : NULL;
		} else if (strcmp(word, "password") == 0) {
			const char *password = next_word(&text, a);
			login->password = ours ? password : NULL;
		}
	}
	return login->password != NULL;
}

/* ---- what a server sends ---- */

/* Without the last digits, which have padding. */
static void
put_base64(struct ws_buf *out, const char *text)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	unsigned bits = 0, held = 0;
	for (const char *c = text; *c; c++) {
		bits = bits << 8 | (unsigned char)*c;
		for (held += 8; held >= 6; held -= 6) {
			ws_buf_putc(out, digits[bits >> (held - 6) & 63]);
		}
	}
}

bool
ws_login_is_in(const struct ws_login *login, const char *text, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf html = {0};
	WS_AUTO_BUF struct ws_buf url = {0};
	WS_AUTO_BUF struct ws_buf sent = {0};
	if (!login->password || !login->password[0]) {
		return false;
	}
	ws_index_put_html(&html, login->password);
	ws_index_put_url(&url, login->password);
	put_base64(&sent, ws_arena_printf(a, "%s:%s", login->user ? login->user : "", login->password));
	const char *const spellings[] = {
		login->password, ws_buf_text(&html), ws_buf_text(&url), ws_buf_text(&sent)};
	for (size_t i = 0; i < WS_LEN(spellings); i++) {
		if (strstr(text, spellings[i])) {
			return true;
		}
	}
	return false;
}
