/* action_result.c - protocol buffers by hand: four messages, three kinds of fields. */
#include "remote/action_result.h"

#include <string.h>

enum wire { VARINT = 0, FIXED64 = 1, BYTES = 2, FIXED32 = 5 };

/* Of ActionResult, OutputFile, Digest, Command and Action: the numbers of
 * remote_execution.proto. */
enum {
	RESULT_OUTPUT_FILES = 2,
	RESULT_STDOUT_RAW = 5,
	RESULT_METADATA = 9,
	METADATA_WORKER = 1,
	FILE_PATH = 1,
	FILE_DIGEST = 2,
	DIGEST_HASH = 1,
	DIGEST_SIZE = 2,
	COMMAND_ARGUMENTS = 1,
	ACTION_COMMAND = 1,
	ACTION_INPUT_ROOT = 2,
	ACTION_SALT = 9,
};

static void
put_varint(struct ws_buf *b, uint64_t value)
{
	for (; value >= 0x80; value >>= 7) {
		ws_buf_putc(b, (char)(value | 0x80));
	}
	ws_buf_putc(b, (char)value);
}

static void
put_bytes(struct ws_buf *b, unsigned field, const void *bytes, size_t len)
{
	put_varint(b, field << 3 | BYTES);
	put_varint(b, len);
	ws_buf_add(b, bytes, len);
}

static void
put_text(struct ws_buf *b, unsigned field, const char *text)
{
	put_bytes(b, field, text, strlen(text));
}

static void
put_message(struct ws_buf *b, unsigned field, const struct ws_buf *message)
{
	put_bytes(b, field, message->data, message->len);
}

static void
put_digest(struct ws_buf *b, unsigned field, const char *digest, uint64_t size_bytes)
{
	WS_AUTO_BUF struct ws_buf message = {0};
	put_text(&message, DIGEST_HASH, digest);
	if (size_bytes > 0) {
		put_varint(&message, DIGEST_SIZE << 3 | VARINT);
		put_varint(&message, size_bytes);
	}
	put_message(b, field, &message);
}

struct ws_digest
ws_action_result_key(const char *kind, const char *key)
{
	WS_AUTO_BUF struct ws_buf command = {0};
	WS_AUTO_BUF struct ws_buf action = {0};
	const char *const words[] = {"wheelsmith-record", "1", kind, key};
	for (size_t i = 0; i < WS_LEN(words); i++) {
		put_text(&command, COMMAND_ARGUMENTS, words[i]);
	}
	put_digest(
		&action, ACTION_COMMAND, ws_digest_bytes(command.data, command.len).hex, command.len);
	put_digest(&action, ACTION_INPUT_ROOT, ws_digest_bytes("", 0).hex, 0);
	put_text(&action, ACTION_SALT, "wheelsmith.record/1");
	return ws_digest_bytes(action.data, action.len);
}

void
ws_action_result_add_file(struct ws_buf *message, const char *digest, uint64_t size_bytes)
{
	WS_AUTO_BUF struct ws_buf file = {0};
	put_text(&file, FILE_PATH, digest);
	put_digest(&file, FILE_DIGEST, digest, size_bytes);
	put_message(message, RESULT_OUTPUT_FILES, &file);
}

void
ws_action_result_add_text(struct ws_buf *message, struct ws_str text)
{
	WS_AUTO_BUF struct ws_buf metadata = {0};
	put_text(&metadata, METADATA_WORKER, "wheelsmith");
	put_bytes(message, RESULT_STDOUT_RAW, text.s, text.n);
	put_message(message, RESULT_METADATA, &metadata);
}

static bool
take_varint(struct ws_str *rest, uint64_t *value)
{
	*value = 0;
	for (unsigned shift = 0; rest->n > 0 && shift < 64; shift += 7) {
		unsigned char byte = (unsigned char)*rest->s;
		rest->s++;
		rest->n--;
		*value |= (uint64_t)(byte & 0x7f) << shift;
		if (byte < 0x80) {
			return true;
		}
	}
	return false;
}

/* The next field; of one that is not bytes, @a value is empty. */
static bool
take_field(struct ws_str *rest, uint64_t *tag, struct ws_str *value)
{
	uint64_t number;
	if (!take_varint(rest, tag)) {
		return false;
	}
	switch (*tag & 7) {
	case VARINT:
		*value = (struct ws_str){rest->s, 0};
		return take_varint(rest, &number);
	case FIXED32:
	case FIXED64:
		number = (*tag & 7) == FIXED64 ? 8 : 4;
		break;
	case BYTES:
		if (!take_varint(rest, &number)) {
			return false;
		}
		break;
	default:
		return false;
	}
	if (number > rest->n) {
		return false;
	}
	*value = (struct ws_str){rest->s, (size_t)number};
	rest->s += number;
	rest->n -= (size_t)number;
	return true;
}

bool
ws_action_result_text(struct ws_str message, struct ws_str *text)
{
	*text = (struct ws_str){0};
	while (message.n > 0) {
		uint64_t tag;
		struct ws_str value;
		if (!take_field(&message, &tag, &value)) {
			return false;
		}
		if (tag == (RESULT_STDOUT_RAW << 3 | BYTES)) {
			*text = value;
		}
	}
	return text->n > 0;
}
