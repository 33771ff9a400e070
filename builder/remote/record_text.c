#include "remote/record_text.h"

#include "remote/reapi_call.h"

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

bool
ws_signed_text_read(struct ws_str whole, const struct ws_signers *signers, const char *kind,
	const char *record_key, struct ws_str *text)
{
	unsigned char signature[WS_SIGNATURE_BYTES];
	WS_AUTO_BUF struct ws_buf bytes = {0};
	if (!ws_str_is(ws_str_cut(&whole, '\n'), HEADER) || !whole.s) {
		return false;
	}
	ws_str_cut(&whole, '\n'); /* for people: kind and key are known */
	struct ws_str line = ws_str_cut(&whole, '\n');
	struct ws_str signer = ws_str_cut(&line, ' ');
	if (!whole.s || line.n != (size_t)WS_SIGNATURE_BYTES * 2) {
		return false;
	}
	for (size_t i = 0; i < WS_SIGNATURE_BYTES; i++) {
		int high = ws_hex_digit(line.s[2 * i]), low = ws_hex_digit(line.s[2 * i + 1]);
		if (high < 0 || low < 0) {
			return false;
		}
		signature[i] = (unsigned char)(high << 4 | low);
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

/* ---- ActionResults ---- */

struct ws_digest
ws_action_result_key(
	const char *kind, const char *key, struct ws_buf *command_bytes, struct ws_buf *action_bytes)
{
	const char *words[] = {"wheelsmith-record", "1", kind, key};
	char salt[] = "wheelsmith.record/1";
	Reapi__Command command;
	reapi__command__init(&command);
	command.n_arguments = WS_LEN(words);
	command.arguments = ws_protobuf_borrow(words);
	ws_protobuf_pack(&command, command_bytes);
	struct ws_digest command_digest = ws_digest_bytes(command_bytes->data, command_bytes->len);
	struct ws_digest empty = ws_digest_bytes("", 0);
	Reapi__Digest command_message = ws_protobuf_digest(command_digest.hex, command_bytes->len);
	Reapi__Digest root_message = ws_protobuf_digest(empty.hex, 0);
	Reapi__Action action;
	reapi__action__init(&action);
	action.command_digest = &command_message;
	action.input_root_digest = &root_message;
	action.salt = (ProtobufCBinaryData){strlen(salt), (uint8_t *)salt};
	ws_protobuf_pack(&action, action_bytes);
	return ws_digest_bytes(action_bytes->data, action_bytes->len);
}

void
ws_action_result_write(struct ws_str text, const struct ws_shared_file *files, size_t file_count,
	struct ws_buf *message)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	Reapi__OutputFile *outputs = WS_NEW_N(a, Reapi__OutputFile, file_count);
	Reapi__Digest *digests = WS_NEW_N(a, Reapi__Digest, file_count);
	Reapi__ExecutedActionMetadata metadata;
	Reapi__ActionResult result;
	reapi__action_result__init(&result);
	reapi__executed_action_metadata__init(&metadata);
	result.output_files = WS_NEW_N(a, Reapi__OutputFile *, file_count);
	result.n_output_files = file_count;
	for (size_t i = 0; i < file_count; i++) {
		digests[i] = ws_protobuf_digest(files[i].digest, files[i].size_bytes);
		reapi__output_file__init(&outputs[i]);
		outputs[i].path = ws_protobuf_borrow(files[i].digest);
		outputs[i].digest = &digests[i];
		result.output_files[i] = &outputs[i];
	}
	metadata.worker = ws_arena_strdup(a, "wheelsmith");
	result.execution_metadata = &metadata; /* servers treat a result without fields as missing */
	result.stdout_raw = (ProtobufCBinaryData){text.n, ws_protobuf_borrow(text.s)};
	ws_protobuf_pack(&result, message);
}

bool
ws_action_result_read(struct ws_str message, struct ws_arena *a, struct ws_str *text,
	struct ws_shared_file **files, size_t *file_count)
{
	const Reapi__ActionResult *result =
		ws_protobuf_unpack(&reapi__action_result__descriptor, message, a);
	if (!result || result->stdout_raw.len == 0) {
		return false;
	}
	*text = (struct ws_str){(const char *)result->stdout_raw.data, result->stdout_raw.len};
	*files = WS_NEW_N(a, struct ws_shared_file, result->n_output_files);
	*file_count = 0;
	for (size_t i = 0; i < result->n_output_files; i++) {
		const Reapi__Digest *digest = result->output_files[i]->digest;
		struct ws_digest parsed;
		if (digest && digest->size_bytes > 0 && ws_digest_parse(digest->hash, &parsed)
			&& ws_digest_is(&parsed, digest->hash)) {
			(*files)[(*file_count)++] = (struct ws_shared_file){
				.digest = digest->hash, .size_bytes = (uint64_t)digest->size_bytes};
		}
	}
	return true;
}
