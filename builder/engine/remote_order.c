/* remote_order.c - repeated "KIND VALUE" and a NUL, since values are words of command lines. */
#include "engine/remote_order.h"

#include "base/fs.h"

#define ORDER "wheelsmith.order/1"
#define REPORT "wheelsmith.report/1"
#define LARGEST ((uint64_t)1 << 44) /* of bytes and milliseconds in a report */

static void
add_words(struct ws_buf *text, const char *kind, const char *const *words)
{
	while (*words) {
		ws_fields_add(text, kind, *words++);
	}
}

/* ---- orders ---- */

/* A token for a file that is sent with the order, or for its folder: "tool NAME FILE". */
static bool
add_tool(struct ws_buf *text, const struct ws_action *action, const struct ws_token *token)
{
	for (size_t i = 0; i < action->tool_file_count; i++) {
		const char *path = action->tool_files[i].path, *base = ws_path_base(path);
		size_t folder = (size_t)(base - path) - 1, len = strlen(token->value);
		bool is_file = strcmp(token->value, path) == 0;
		if (is_file || (len == folder && strncmp(token->value, path, len) == 0)) {
			ws_fields_add_pair(text, "tool", token->name, is_file ? base : ".");
			return true;
		}
	}
	return false;
}

void
ws_order_write(const struct ws_action *action, const char *takes, struct ws_buf *text)
{
	ws_fields_add(text, ORDER, action->subject);
	ws_fields_add(text, "takes", takes);
	ws_fields_add(text, "program", action->tool.program);
	add_words(text, "argv", action->argv);
	add_words(text, "env", action->env);
	for (size_t i = 0; i < action->token_count; i++) {
		const struct ws_token *token = &action->tokens[i];
		if (!add_tool(text, action, token)) {
			ws_fields_add_pair(text, "token", token->name, token->value);
		}
	}
	for (size_t i = 0; i < action->host_file_count; i++) {
		ws_fields_add_pair(text, "host", action->host_files[i].digest, action->host_files[i].path);
	}
	for (size_t i = 0; i < action->mount_count; i++) {
		ws_fields_add(text, "mount", action->mounts[i].name);
	}
	for (size_t i = 0; i < action->input_count; i++) {
		ws_fields_add(text, "input", action->inputs[i].name);
	}
	ws_fields_add_all(text, "output", action->outputs, action->output_count);
	if (action->find_reads) {
		ws_fields_add_all(text, "seed", action->seeds, action->seed_count);
		ws_fields_add_all(text, "search", action->search, action->search_count);
	}
}

/* Lists that grow while an order is parsed. */
struct reading {
	struct ws_arena *a;
	const char *folder;
	ws_name_list argv, env, outputs, seeds, search;
	WS_VEC(struct ws_token) tokens;
	WS_VEC(struct ws_host_file) host_files;
	WS_VEC(struct ws_mount) mounts;
	WS_VEC(struct ws_input) inputs;
};

static bool
read_record(struct reading *r, struct ws_action *action, const char *kind, const char *value)
{
	ws_name_list *list = strcmp(kind, "argv") == 0 ? &r->argv
		: strcmp(kind, "env") == 0                 ? &r->env
		: strcmp(kind, "output") == 0              ? &r->outputs
		: strcmp(kind, "seed") == 0                ? &r->seeds
		: strcmp(kind, "search") == 0              ? &r->search
												   : NULL;
	if (list) {
		*ws_vec_push(list, r->a) = value;
	} else if (strcmp(kind, ORDER) == 0) {
		action->subject = value;
	} else if (strcmp(kind, "program") == 0) {
		action->tool.program = value;
	} else if (strcmp(kind, "mount") == 0) {
		struct ws_tree *tree = WS_NEW(r->a, struct ws_tree);
		tree->path = ws_path_join(r->a, r->folder, value, NULL);
		*ws_vec_push(&r->mounts, r->a) = (struct ws_mount){value, tree->path, tree};
	} else if (strcmp(kind, "input") == 0) {
		*ws_vec_push(&r->inputs, r->a) = (struct ws_input){.name = value};
	} else if (strcmp(kind, "takes") != 0) {
		bool token = strcmp(kind, "token") == 0, tool = strcmp(kind, "tool") == 0;
		const char *first, *second;
		if ((!token && !tool && strcmp(kind, "host") != 0)
			|| !ws_fields_cut(value, r->a, &first, &second)) {
			return false;
		}
		if (tool) {
			second = ws_path_join(r->a, ws_path_dir(r->a, r->folder), WS_REMOTE_TOOL, second, NULL);
		}
		if (token || tool) {
			*ws_vec_push(&r->tokens, r->a) = (struct ws_token){first, second};
		} else {
			*ws_vec_push(&r->host_files, r->a) = (struct ws_host_file){second, first};
		}
	}
	return true;
}

struct ws_action *
ws_order_read(struct ws_str text, const char *folder, struct ws_arena *a, struct ws_err *err)
{
	struct ws_action *action = WS_NEW(a, struct ws_action);
	struct reading r = {.a = a, .folder = folder};
	const char *kind, *value;
	bool good = true;
	while (good && ws_fields_take(&text, a, &kind, &value)) {
		good = read_record(&r, action, kind, value);
	}
	if (!good || text.n > 0 || !action->subject || !action->tool.program || r.argv.len == 0) {
		ws_err_set(err, WS_ERR_CONFIG, "it is not a wheelsmith order");
		return NULL;
	}
	*ws_vec_push(&r.argv, a) = NULL;
	*ws_vec_push(&r.env, a) = NULL;
	action->argv = r.argv.at;
	action->env = r.env.at;
	action->tokens = r.tokens.at;
	action->token_count = r.tokens.len;
	action->host_files = r.host_files.at;
	action->host_file_count = r.host_files.len;
	action->mounts = r.mounts.at;
	action->mount_count = r.mounts.len;
	action->inputs = r.inputs.at;
	action->input_count = r.inputs.len;
	action->outputs = r.outputs.at;
	action->output_count = r.outputs.len;
	action->seeds = r.seeds.at;
	action->seed_count = r.seeds.len;
	action->search = r.search.at;
	action->search_count = r.search.len;
	return action;
}

/* ---- reports ---- */

void
ws_report_write(const struct ws_report *report, struct ws_buf *text)
{
	const struct ws_reads *reads = &report->reads;
	ws_fields_add_number(text, REPORT, (uint64_t)report->code);
	ws_fields_add(text, "order", report->order);
	ws_fields_add_number(text, "signal", (uint64_t)report->signal);
	ws_fields_add_number(text, "wall_ms", report->wall_ms);
	ws_fields_add_number(text, "cpu_ms", report->cpu_ms);
	ws_fields_add_number(text, "rss_bytes", report->rss_bytes);
	ws_fields_add(text, "differs", report->differs);
	ws_fields_add(text, "changed", report->changed);
	ws_fields_add(text, "uncacheable", reads->uncacheable);
	ws_fields_add(text, "opaque", reads->opaque);
	for (size_t i = 0; i < report->made.count; i++) {
		const struct ws_map_slot *made = &report->made.slots[i];
		ws_fields_add_pair(text, "made", made->value, made->key);
	}
	for (size_t i = 0; i < reads->files.len; i++) {
		const char *name = reads->files.at[i], *digest = ws_map_get(&report->outside, name);
		ws_fields_add(text, "file", name);
		if (digest) {
			ws_fields_add_pair(text, "outside", digest, name);
		}
	}
	ws_fields_add_all(text, "absent", reads->absent.at, reads->absent.len);
	ws_fields_add_all(text, "present", reads->present.at, reads->present.len);
	ws_fields_add_all(text, "folder", reads->folders.at, reads->folders.len);
}

static bool
read_number(struct ws_report *report, const char *kind, const char *value)
{
	uint64_t number;
	if (!ws_str_to_u64(ws_str_of(value), &number) || number > LARGEST) {
		return false;
	}
	if (strcmp(kind, REPORT) == 0 && number <= 255) {
		report->code = (int)number;
	} else if (strcmp(kind, "signal") == 0 && number <= 64) {
		report->signal = (int)number;
	} else if (strcmp(kind, "wall_ms") == 0) {
		report->wall_ms = number;
	} else if (strcmp(kind, "cpu_ms") == 0) {
		report->cpu_ms = number;
	} else if (strcmp(kind, "rss_bytes") == 0) {
		report->rss_bytes = number;
	} else {
		return false;
	}
	return true;
}

static bool
read_digest(struct ws_map *digests, const char *value, struct ws_arena *a)
{
	const char *digest, *name;
	struct ws_digest parsed;
	if (!ws_fields_cut(value, a, &digest, &name) || !ws_digest_parse(digest, &parsed)) {
		return false;
	}
	ws_map_put(digests, name, digest, a);
	return true;
}

/* Names become lines of manifests and messages, so control characters are refused. */
static bool
read_finding(struct ws_report *report, const char *kind, const char *value, struct ws_arena *a)
{
	struct ws_reads *reads = &report->reads;
	ws_name_list *list = strcmp(kind, "file") == 0 ? &reads->files
		: strcmp(kind, "absent") == 0              ? &reads->absent
		: strcmp(kind, "present") == 0             ? &reads->present
		: strcmp(kind, "folder") == 0              ? &reads->folders
												   : NULL;
	const char **line = strcmp(kind, "order") == 0 ? &report->order
		: strcmp(kind, "differs") == 0             ? &report->differs
		: strcmp(kind, "changed") == 0             ? &report->changed
		: strcmp(kind, "uncacheable") == 0         ? &reads->uncacheable
		: strcmp(kind, "opaque") == 0              ? &reads->opaque
												   : NULL;
	if (value[0] == '\0' || ws_has_control(value)) {
		return false;
	}
	if (list) {
		*ws_vec_push(list, a) = value;
	} else if (line) {
		*line = value;
	} else {
		return strcmp(kind, "outside") == 0 ? read_digest(&report->outside, value, a)
			: strcmp(kind, "made") == 0     ? read_digest(&report->made, value, a)
											: read_number(report, kind, value);
	}
	return true;
}

bool
ws_report_read(struct ws_str text, struct ws_arena *a, struct ws_report *report, struct ws_err *err)
{
	const char *kind, *value;
	*report = (struct ws_report){.code = -1};
	bool good = true;
	while (good && ws_fields_take(&text, a, &kind, &value)) {
		good = read_finding(report, kind, value, a);
	}
	if (!good || text.n > 0 || report->code < 0) {
		return ws_err_set(err, WS_ERR_BUILD, "it is not a wheelsmith report");
	}
	return true;
}
