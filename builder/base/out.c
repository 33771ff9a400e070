/* out.c - the two streams, and escape codes of terminals (ECMA-48 EL). */
#include "base/out.h"

#include "base/user_env.h"

#include <errno.h>
#include <poll.h>
#include <sys/ioctl.h>

struct ws_out
ws_out_standard(const struct ws_user_env *env)
{
	const char *columns = ws_user_env_get(env, "COLUMNS");
	struct ws_out out = {.out = stdout, .err = stderr};
	out.columns = columns && atoi(columns) > 0 ? (unsigned)atoi(columns) : 0;
	out.is_shown = isatty(STDOUT_FILENO);
	if (isatty(STDERR_FILENO)) {
		const char *term = ws_user_env_get(env, "TERM");
		out.redraws = term && strcmp(term, "dumb") != 0;
		out.color = out.redraws && !ws_user_env_get(env, "NO_COLOR");
		struct winsize size;
		bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
		out.width = out.columns ? out.columns : known ? size.ws_col : 80;
	}
	return out;
}

/* The text may contain names and answers of strangers. */
WS_PRINTF(2, 0)
static void
print_plain(FILE *to, const char *format, va_list values)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char *text = ws_arena_vprintf(a, format, values);
	ws_utf8_make_plain(text, true);
	fputs(text, to);
}

void
ws_out_result(const struct ws_out *out, const char *format, ...)
{
	va_list values;
	va_start(values, format);
	if (out->is_shown) {
		print_plain(out->out, format, values);
	} else {
		vfprintf(out->out, format, values);
	}
	va_end(values);
}

void
ws_out_note(const struct ws_out *out, const char *format, ...)
{
	if (out->quiet) {
		return;
	}
	va_list values;
	va_start(values, format);
	print_plain(out->err, format, values);
	va_end(values);
}

void
ws_out_warn(const struct ws_out *out, const char *format, ...)
{
	fputs(out->color ? "\033[33mwarning:\033[0m " : "warning: ", out->err);
	va_list values;
	va_start(values, format);
	print_plain(out->err, format, values);
	va_end(values);
	fputc('\n', out->err);
}

void
ws_out_error(const struct ws_out *out, const struct ws_err *err)
{
	char text[WS_ERR_PRINTED];
	ws_err_print(err, text);
	const char *word = strstr(text, "error:");
	if (!out->color || !word) {
		fputs(text, out->err);
		return;
	}
	fprintf(out->err, "%.*s\033[1;31merror:\033[0m%s", (int)(word - text), text, word + 6);
}

bool
ws_out_flush(const struct ws_out *out, struct ws_err *err)
{
	errno = 0;
	if (fflush(out->out) == 0 && !ferror(out->out)) {
		return true;
	}
	/* An earlier write may have failed: one more byte sets errno. */
	int code = errno ? errno : write(fileno(out->out), "\n", 1) < 0 ? errno : 0;
	return ws_err_set(err, WS_ERR_IO, "cannot write to the standard output%s%s", code ? ": " : "",
		code ? strerror(code) : "");
}

bool
ws_out_is_broken(const struct ws_out *out)
{
	struct pollfd reader = {.fd = fileno(out->out)};
	return poll(&reader, 1, 0) == 1 && (reader.revents & (POLLERR | POLLHUP));
}

/* ---- the line that is redrawn ---- */

unsigned
ws_term_columns(const char *text)
{
	return ws_utf8_columns(text, strlen(text));
}

void
ws_term_cut(char *text, unsigned columns)
{
	if (columns == 0 || ws_term_columns(text) <= columns) {
		return;
	}
	unsigned dots = columns < 3 ? columns : 3, seen = 0;
	char *at = text;
	while (*at) {
		size_t len = ws_utf8_len(at, strnlen(at, 4));
		len = len ? len : 1;
		seen += ws_utf8_columns(at, len);
		if (seen > columns - dots) {
			break;
		}
		at += len;
	}
	memset(at, '.', dots);
	at[dots] = '\0';
}

void
ws_term_redraw(const struct ws_out *out, const char *text)
{
	if (out->redraws) {
		fprintf(out->err, "\r%s\033[K", text);
		fflush(out->err);
	}
}
