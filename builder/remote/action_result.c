#include "remote/action_result.h"

#include "remote/protobuf.h"

#include <string.h>

struct ws_digest
ws_action_result_key(
	const char *kind, const char *key, struct ws_buf *command_bytes, struct ws_buf *action_bytes)
{
	WS_AUTO_BUF struct ws_buf own_command = {0};
	WS_AUTO_BUF struct ws_buf own_action = {0};
	const char *words[] = {"wheelsmith-record", "1", kind, key};
	char salt[] = "wheelsmith.record/1";
	Reapi__Command command;
	reapi__command__init(&command);
	command.n_arguments = WS_LEN(words);
	command.arguments = ws_protobuf_borrow(words);
	command_bytes = command_bytes ? command_bytes : &own_command;
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
	action_bytes = action_bytes ? action_bytes : &own_action;
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
	result.execution_metadata = &metadata; /* servers take a result without any field for none */
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
