/* deliver.c - wheels, logs, editor databases. The records are records.c's. */
#include "build/deliver.h"

#include "base/fs.h"
#include "base/json_write.h"
#include "base/str.h"
#include "build/pack.h"
#include "engine/work.h"
#include "store/cas.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

bool
ws_deliver_open(const char *output, struct ws_err *err)
{
	if (!ws_fs_mkdirs(output, err)) {
		return ws_err_wrap(err, "the output folder");
	}
	if (access(output, W_OK | X_OK) == 0) {
		ws_fs_remove_parts(output);
		return true;
	}
	ws_err_sys(err, WS_ERR_IO, "cannot write into the output folder '%s'", output);
	return err && err->cure[0] ? false : ws_err_cure(err, "choose another one: -o DIR");
}

bool
ws_deliver_wheel(const struct ws_context *ctx, const char *output, const struct ws_node *pack,
	const char **name, struct ws_digest *digest, uint64_t *size_bytes, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	const struct ws_result *result = &pack->result;
	if (!ws_cas_read(ctx->store, result->outputs[WS_PACK_NAME].hex, &text, err)) {
		return false;
	}
	*name = ws_str_copy(ws_str_trim(ws_buf_str(&text)), ctx->a);
	*digest = result->outputs[WS_PACK_WHEEL];
	*size_bytes = result->sizes[WS_PACK_WHEEL];
	const char *to = ws_path_join(ctx->a, output, *name, NULL);
	struct ws_digest there;
	if (ws_fs_exists(to) && ws_digest_file(to, &there, NULL, NULL)
		&& ws_digest_eq(&there, digest)) {
		return true;
	}
	return ws_fs_copy_atomic(ws_cas_path(ctx->store, digest->hex, ctx->a), to, 0644, err);
}

bool
ws_deliver_log(const struct ws_context *ctx, const char *output, const struct ws_node *node,
	const char **path, struct ws_err *err)
{
	const struct ws_action *action = node->action;
	const char *folder = ws_path_join(ctx->a, output, "logs", action->group, NULL);
	const char *name = ws_arena_printf(ctx->a, "%s.log", ws_path_base(action->subject));
	*path = ws_path_join(ctx->a, folder, name, NULL);
	return ws_fs_mkdirs(folder, err)
		&& ws_fs_copy_atomic(
			ws_cas_path(ctx->store, node->result.log.hex, ctx->a), *path, 0644, err);
}

static bool
link_mounts(const struct ws_action *action, const char *dir, struct ws_arena *a, struct ws_err *err)
{
	if (!ws_fs_mkdirs(dir, err)) {
		return false;
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		const char *place = ws_path_join(a, dir, action->mounts[i].name, NULL);
		unlink(place);
		if (symlink(action->mounts[i].path, place) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot link '%s'", place);
		}
	}
	return true;
}

bool
ws_deliver_compile_commands(const struct ws_context *ctx, const char *output,
	const struct ws_made *made, size_t count, struct ws_err *err)
{
	char absolute[4096];
	if (!realpath(output, absolute)) {
		return ws_err_sys(err, WS_ERR_IO, "cannot find '%s'", output);
	}
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_list(w, NULL);
	bool done = true;
	for (size_t i = 0; i < count && done; i++) {
		const char *dir = ws_arena_printf(ctx->a, "%s/compile/%zu", absolute, i);
		for (size_t j = 0; j < made[i].nodes.len && done; j++) {
			const struct ws_action *action = made[i].nodes.at[j]->action;
			if (strcmp(action->stage, "compile") != 0) {
				continue;
			}
			done = link_mounts(action, dir, ctx->a, err);
			const char *const *words = ws_work_words(action, action->argv, dir, ctx->a);
			size_t length = 0;
			while (words[length]) {
				length++;
			}
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "directory", dir);
			ws_json_add_text(w, "file", action->seeds[0]);
			ws_json_add_texts(w, "arguments", words, length);
			ws_json_close(w);
		}
	}
	ws_json_close(w);
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	const char *path = ws_path_join(ctx->a, output, "compile_commands.json", NULL);
	return done && ws_fs_write_atomic(path, text.data, text.len, 0644, err);
}
