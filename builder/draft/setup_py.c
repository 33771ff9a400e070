/* setup_py.c - starts setup_reader.py and reads its answer. The child limits its own memory and CPU
 * time; sys/capture.h limits how long it runs and how much it says. */
#include "draft/setup_py.h"

#include "base/buf.h"
#include "base/json.h"
#include "sys/capture.h"

#include <string.h>

/* ["-O3", {"maybe": "-G"}] */
static ws_setup_words
words_of(const struct ws_json *object, const char *key, struct ws_arena *a)
{
	ws_setup_words words = {0};
	const struct ws_json *list = ws_json_find(object, key);
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		const char *maybe = ws_json_text(item, "maybe");
		const char *text = maybe ? maybe : item->text;
		if (text && text[0]) {
			*ws_vec_push(&words, a) = (struct ws_setup_word){text, maybe != NULL};
		}
	}
	return words;
}

static struct ws_setup_extension
extension_of(const struct ws_json *object, struct ws_arena *a)
{
	const struct ws_json *maybe = ws_json_find(object, "maybe");
	const char *callee = ws_json_text(object, "callee");
	return (struct ws_setup_extension){
		.callee = callee ? callee : "",
		.module = ws_json_text(object, "name"),
		.module_like = ws_json_text(object, "like"),
		.suffix = ws_json_text(object, "suffix"),
		.conditional = maybe && maybe->truth,
		.sources = words_of(object, "sources", a),
		.include = words_of(object, "include", a),
		.cxx = words_of(object, "cxx", a),
		.nvcc = words_of(object, "nvcc", a),
		.link = words_of(object, "link", a),
	};
}

bool
ws_setup_py_read(const struct ws_setup_reader *reader, const char *folder, struct ws_arena *a,
	struct ws_setup_py *found, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf answer = {0};
	const char *const argv[] = {
		"/usr/bin/env", "python3", "-I", "-S", "-B", reader->script, folder, NULL};
	const char *const env[] = {
		ws_arena_printf(a, "PATH=%s", reader->path_variable), "LC_ALL=C.UTF-8", NULL};
	const struct ws_capture command = {.argv = argv, .env = env};
	struct ws_json_doc doc;
	*found = (struct ws_setup_py){0};
	if (!ws_capture_run(&command, &answer, err)) {
		/* env(1) exits with 127 where there is none. */
		return strstr(err->text, "127")
			? ws_err_set(err, WS_ERR_CONFIG, "there is no python3 on PATH")
			: false;
	}
	if (!ws_json_parse("the answer of setup_reader.py", ws_buf_text(&answer), answer.len,
			WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	const char *fault = ws_json_text(doc.root, "error");
	if (fault) {
		return ws_err_set(err, WS_ERR_CONFIG, "%s", fault);
	}
	const struct ws_json *list = ws_json_find(doc.root, "extensions");
	for (const struct ws_json *item = list ? list->first : NULL; item; item = item->next) {
		*ws_vec_push(&found->extensions, a) = extension_of(item, a);
	}
	found->data = words_of(doc.root, "data", a);
	found->unmatched = words_of(doc.root, "unmatched", a);
	return true;
}
