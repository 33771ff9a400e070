/* cmd_inspect.c - wheelsmith inspect: what a wheel, an installed package or a library is. Finds out
 * which of them is meant and prints what inspect/ says of it. */
#include "base/fs.h"
#include "cli/inspect_page.h"
#include "cli/session.h"
#include "cli/typed.h"
#include "inspect/facts.h"
#include "inspect/facts_child.h"
#include "kit/python/python.h"
#include "kit/torch/exports.h"
#include "net/download.h"
#include "net/url.h"

#include <string.h>

struct inspecting {
	struct ws_session *s;
	const char *subject; /* as typed */
	const char *python;
	bool whole;
	struct ws_scratch scratch;
	struct ws_facts_order order;
	struct ws_buf json;
};

static bool
parse(struct inspecting *i, int argc, const char *const *argv, struct ws_err *err)
{
	const struct ws_option options[] = {
		{"python", 0, WS_OPTION_TEXT, &i->python, "PATH",
			"a package installed for this Python: 3.12, a path"},
		{"whole", 0, WS_OPTION_FLAG, &i->whole, NULL,
			"download the wheel at a URL and read all of it"},
	};
	struct ws_usage usage = {
		.command = "inspect",
		.synopsis = "WHEEL | FILE.so | URL [--whole]\nPACKAGE --python PATH",
		.summary = "Says what a wheel is: names, RECORD, each library with its ABI, GPU code and\n"
				   "the systems it loads on. Of a wheel at a URL a few kB are read.\n"
				   "Exits 0, or 1 when something is wrong with it.",
		.options = options,
		.option_count = WS_LEN(options),
		.least = 1,
		.most = 1,
	};
	ws_words words = {0};
	if (!ws_command_options(i->s, &usage, argc, argv, &words, err)) {
		return false;
	}
	i->subject = words.at[0];
	return true;
}

/* Lists that say since when there are Python's and torch's stable names. */
static bool
find_lists(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	ws_list_paths stable = {0}, torch = {0};
	if (!ws_torch_dependencies(s->data.facts, NULL, s->a, &stable, err)) {
		return false;
	}
	for (size_t k = 0; k < s->facts.torch_count; k++) {
		const char *file = ws_arena_printf(s->a, "torch-%s.zst", s->facts.torch[k].version.text);
		const char *path = ws_path_join(s->a, s->data.facts, "exports", file, NULL);
		if (ws_fs_exists(path)) {
			*ws_vec_push(&torch, s->a) = path;
		}
	}
	i->order.lists = (struct ws_facts_lists){stable.at, stable.len, torch.at, torch.len};
	return true;
}

/* ---- a wheel at a URL ---- */

static bool
download(struct inspecting *i, const struct ws_index_file *file, struct ws_err *err)
{
	struct ws_session *s = i->s;
	const char *path = ws_path_join(s->a, i->scratch.path, "whole.whl", NULL);
	struct ws_download one = {
		.url = file->url,
		.path = path,
		.partial = ws_path_join(s->a, i->scratch.path, "whole.part", NULL),
	};
	i->order.name = file->name;
	i->order.path = path;
	return ws_download_all(s->fetch.http, &one, 1, err)
		&& ws_facts_ask(WS_FACTS_WHEEL, &i->order, s->program, s->a, &i->json, err);
}

static bool
inspect_url(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	struct ws_wheel_facts facts;
	struct ws_index_file file = {
		.url = i->subject, .name = ws_url_file_name(i->subject, s->a), .sha256 = ""};
	uint64_t read_bytes = 0;
	if (!ws_session_open_net(s, NULL, 0, false, err)) {
		return false;
	}
	if (i->whole) {
		return download(i, &file, err);
	}
	if (!ws_facts_of_url(&s->fetch, &file, s->a, &facts, &read_bytes, err)) {
		return false;
	}
	ws_facts_json_write(&facts, read_bytes, &i->json);
	return true;
}

/* ---- what lies here ---- */

static bool
inspect_package(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	struct ws_python_kit kit;
	struct ws_python_tag tag;
	bool by_tag = ws_python_tag_parse(i->python, &tag);
	const char *path = by_tag ? NULL : ws_typed_python(&s->env, i->python, s->a);
	if (!ws_python_find_meant(&s->env, path, false, &tag, s->a, &kit, err)) {
		return false;
	}
	if (!kit.purelib) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' does not say where its packages are", i->python);
	}
	i->order.name = i->subject;
	i->order.path = kit.purelib;
	return ws_facts_ask(WS_FACTS_PACKAGE, &i->order, s->program, s->a, &i->json, err);
}

static bool
inspect_file(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	char *path = realpath(i->subject, NULL);
	i->order.path = ws_arena_strdup(s->a, path);
	free(path);
	char head[4];
	WS_AUTO_FD int fd = path ? ws_fs_open_regular(i->order.path, 0, NULL, err) : -1;
	if (fd < 0) {
		ws_err_set(err, WS_ERR_USAGE, "there is no file '%s'", i->subject);
		return ws_err_cure(err, "for an installed package give --python PATH as well");
	}
	/* What installers take for a wheel is one, whatever stands at its front. */
	bool elf = !ws_ends_with(i->subject, ".whl") && pread(fd, head, sizeof(head), 0) == sizeof(head)
		&& memcmp(head, "\177ELF", 4) == 0;
	i->order.name = elf ? i->subject : ws_path_base(i->subject);
	return ws_facts_ask(
		elf ? WS_FACTS_LIBRARY : WS_FACTS_WHEEL, &i->order, s->program, s->a, &i->json, err);
}

static bool
print(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	struct ws_json_doc doc;
	if (!ws_json_parse(
			"facts", ws_buf_text(&i->json), i->json.len, WS_JSON_STRICT, s->a, &doc, err)) {
		return false;
	}
	if (s->globals.json) {
		ws_out_result(&s->out, "%s", ws_buf_text(&i->json));
	} else {
		ws_inspect_page_print(doc.root, &s->out);
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return ws_same(ws_json_text(doc.root, "verdict"), "sound");
}

static bool
inspect(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	bool url = ws_starts_with(i->subject, "https://") || ws_starts_with(i->subject, "http://");
	if (i->whole && !url) {
		return ws_err_set(err, WS_ERR_USAGE, "--whole is for a URL; a file is always read whole");
	}
	if (i->python && url) {
		return ws_err_set(err, WS_ERR_USAGE, "--python is for an installed package, not for a URL");
	}
	if (!ws_session_open_store(s, false, err) || !find_lists(i, err)
		|| !ws_scratch_make(
			ws_store_path(&s->store, s->a, "partial"), "inspect-", s->a, &i->scratch, err)) {
		return false;
	}
	i->order.folder = i->scratch.path;
	bool fine = url ? inspect_url(i, err)
		: i->python ? inspect_package(i, err)
					: inspect_file(i, err);
	if (ws_stop_asked(&s->stop)) {
		return ws_stop_err(&s->stop, err);
	}
	return fine && print(i, err);
}

bool
ws_cmd_inspect(struct ws_session *s, int argc, const char *const *argv, struct ws_err *err)
{
	struct inspecting i = {.s = s};
	if (!parse(&i, argc, argv, err)) {
		return err->kind == WS_ERR_NONE;
	}
	bool fine = inspect(&i, err);
	ws_scratch_drop(&i.scratch);
	ws_buf_release(&i.json);
	return fine;
}
