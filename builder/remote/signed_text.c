#include "remote/signed_text.h"

#define HEADER "wheelsmith.record/1"

static void
write_signed(const char *kind, const char *record_key, struct ws_str text, struct ws_buf *out)
{
	ws_buf_printf(out, HEADER "\n%s %s\n", kind, record_key);
	ws_buf_add(out, text.s, text.n);
}

void
ws_signed_text_write(const struct ws_sign_key *key, const char *kind, const char *record_key,
	struct ws_str text, struct ws_buf *out)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	unsigned char signature[WS_SIGNATURE_BYTES];
	write_signed(kind, record_key, text, &bytes);
	ws_sign_bytes(key, bytes.data, bytes.len, signature);
	ws_buf_printf(out, HEADER "\n%s %s\n%s ", kind, record_key, ws_sign_key_id(key).hex);
	for (size_t i = 0; i < sizeof(signature); i++) {
		ws_buf_printf(out, "%02x", signature[i]);
	}
	ws_buf_putc(out, '\n');
	ws_buf_add(out, text.s, text.n);
}

static int
digit(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

static bool
read_signature(struct ws_str hex, unsigned char signature[WS_SIGNATURE_BYTES])
{
	if (hex.n != (size_t)WS_SIGNATURE_BYTES * 2) {
		return false;
	}
	for (size_t i = 0; i < WS_SIGNATURE_BYTES; i++) {
		int high = digit(hex.s[2 * i]), low = digit(hex.s[2 * i + 1]);
		if (high < 0 || low < 0) {
			return false;
		}
		signature[i] = (unsigned char)(high << 4 | low);
	}
	return true;
}

bool
ws_signed_text_read(struct ws_str whole, const struct ws_signers *signers, const char *kind,
	const char *record_key, struct ws_str *text)
{
	unsigned char signature[WS_SIGNATURE_BYTES];
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!ws_str_is(ws_str_cut(&whole, '\n'), HEADER) || !whole.s) {
		return false;
	}
	ws_str_cut(&whole, '\n'); /* for people: what it should say is known */
	struct ws_str line = ws_str_cut(&whole, '\n');
	struct ws_str signer = ws_str_cut(&line, ' ');
	if (!whole.s || !line.s || !read_signature(line, signature)) {
		return false;
	}
	write_signed(kind, record_key, whole, &bytes);
	for (size_t i = 0; i < signers->count; i++) {
		struct ws_digest id = ws_sign_key_id(signers->keys[i]);
		if (ws_str_is(signer, id.hex)
			&& ws_sign_holds(
				signers->keys[i], bytes.data, bytes.len, signature, sizeof(signature))) {
			*text = whole;
			return true;
		}
	}
	return false;
}
