/* remote_action.c - builds the input root, then Command and Action. Folders are made from the
 * deepest up: sorted by path, part by part, entries of a folder are adjacent. */
#include "remote/remote_action.h"

#include "base/fs.h"
#include "engine/remote_order.h"
#include "remote/reapi_call.h"
#include "store/cas.h"

enum ws_entry_kind {
	WS_ENTRY_FILE,
	WS_ENTRY_EXECUTABLE,
	WS_ENTRY_LINK,
	WS_ENTRY_FOLDER, /* its message exists already */
};

/* An entry of a folder. */
struct ws_entry {
	const char *path;    /* relative, '/' between parts */
	const char *value;   /* digest of the file or of the folder's message; the target of a link */
	uint64_t size_bytes; /* of the file or the message */
	enum ws_entry_kind kind;
};

typedef WS_VEC(struct ws_entry) entry_list;

/* By path, "/" before every other byte: "a/x" comes before "a-b". */
static int
compare_paths(const void *x, const void *y)
{
	const char *left = ((const struct ws_entry *)x)->path;
	const char *right = ((const struct ws_entry *)y)->path;
	while (*left && *left == *right) {
		left++;
		right++;
	}
	int l = *left == '/' ? 1 : (unsigned char)*left + (*left ? 1 : 0);
	int r = *right == '/' ? 1 : (unsigned char)*right + (*right ? 1 : 0);
	return l - r;
}

static Reapi__Digest *
digest_of(const struct ws_entry *entry, struct ws_arena *a)
{
	Reapi__Digest *digest = WS_NEW(a, Reapi__Digest);
	*digest = ws_protobuf_digest(entry->value, entry->size_bytes);
	return digest;
}

static void
add_path(struct ws_directories *d, const char *path, const char *digest, uint64_t size_bytes)
{
	if (ws_map_add(&d->known, digest, d->a)) {
		*ws_vec_push(&d->items, d->a) =
			(struct ws_item){.key = digest, .path = path, .size_bytes = size_bytes};
	}
}

/* Adds bytes, which are copied. The result has no path. */
static struct ws_entry
add_bytes(struct ws_directories *d, const struct ws_buf *bytes)
{
	struct ws_digest digest = ws_digest_bytes(bytes->data, bytes->len);
	const char *key = ws_arena_strdup(d->a, digest.hex);
	if (ws_map_add(&d->known, key, d->a)) {
		struct ws_item *item = ws_vec_push(&d->items, d->a);
		*item = (struct ws_item){.key = key, .size_bytes = bytes->len};
		item->bytes.data = ws_arena_copy(d->a, ws_buf_text(bytes), bytes->len);
		item->bytes.len = bytes->len;
	}
	return (struct ws_entry){.value = key, .size_bytes = bytes->len};
}

/* The same of a message. */
static struct ws_entry
add_message(struct ws_directories *d, const void *message)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	ws_protobuf_pack(message, &bytes);
	return add_bytes(d, &bytes);
}

static void
add_folder(Reapi__Directory *to, const struct ws_entry *entry, const char *name, struct ws_arena *a)
{
	Reapi__DirectoryNode *node = WS_NEW(a, Reapi__DirectoryNode);
	reapi__directory_node__init(node);
	node->name = ws_protobuf_borrow(name);
	node->digest = digest_of(entry, a);
	to->directories[to->n_directories++] = node;
}

static void
add_leaf(Reapi__Directory *to, const struct ws_entry *entry, const char *name, struct ws_arena *a)
{
	if (entry->kind == WS_ENTRY_FOLDER) {
		add_folder(to, entry, name, a);
	} else if (entry->kind == WS_ENTRY_LINK) {
		Reapi__SymlinkNode *node = WS_NEW(a, Reapi__SymlinkNode);
		reapi__symlink_node__init(node);
		node->name = ws_protobuf_borrow(name);
		node->target = ws_protobuf_borrow(entry->value);
		to->symlinks[to->n_symlinks++] = node;
	} else {
		Reapi__FileNode *node = WS_NEW(a, Reapi__FileNode);
		reapi__file_node__init(node);
		node->name = ws_protobuf_borrow(name);
		node->digest = digest_of(entry, a);
		node->is_executable = entry->kind == WS_ENTRY_EXECUTABLE;
		to->files[to->n_files++] = node;
	}
}

/* The folder of @a count entries whose paths are equal in the first @a skip bytes. */
static struct ws_entry
make_folder(struct ws_directories *d, const struct ws_entry *entries, size_t count, size_t skip)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	Reapi__Directory message;
	reapi__directory__init(&message);
	message.files = WS_NEW_N(a, Reapi__FileNode *, count);
	message.directories = WS_NEW_N(a, Reapi__DirectoryNode *, count);
	message.symlinks = WS_NEW_N(a, Reapi__SymlinkNode *, count);
	for (size_t i = 0; i < count;) {
		const char *name = entries[i].path + skip;
		size_t len = strcspn(name, "/"), end = i + 1;
		if (!name[len]) {
			add_leaf(&message, &entries[i], name, a);
		} else {
			while (end < count && strncmp(entries[end].path + skip, name, len + 1) == 0) {
				end++;
			}
			struct ws_entry below = make_folder(d, &entries[i], end - i, skip + len + 1);
			add_folder(&message, &below, ws_arena_copy(a, name, len), a);
		}
		i = end;
	}
	struct ws_entry folder = add_message(d, &message);
	folder.kind = WS_ENTRY_FOLDER;
	return folder;
}

/* Adds the message of a folder with these entries, which are sorted. The result has no path. */
static struct ws_entry
add_entries(struct ws_directories *d, struct ws_entry *entries, size_t count)
{
	if (count > 1) {
		qsort(entries, count, sizeof(*entries), compare_paths);
	}
	return make_folder(d, entries, count, 0);
}

/* The same of a tree, with its files; reads no file. */
static struct ws_entry
add_tree(struct ws_directories *d, const struct ws_tree *tree)
{
	static const enum ws_entry_kind kinds[] = {[WS_TREE_FILE] = WS_ENTRY_FILE,
		[WS_TREE_EXECUTABLE] = WS_ENTRY_EXECUTABLE,
		[WS_TREE_LINK] = WS_ENTRY_LINK};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_entry *entries = WS_NEW_N(a, struct ws_entry, tree->count);
	for (size_t i = 0; i < tree->count; i++) {
		const struct ws_tree_entry *entry = &tree->entries[i];
		entries[i] =
			(struct ws_entry){entry->path, entry->value, entry->size_bytes, kinds[entry->kind]};
		if (entry->kind != WS_TREE_LINK) {
			add_path(d, ws_path_join(d->a, tree->path, entry->path, NULL), entry->value,
				entry->size_bytes);
		}
	}
	return add_entries(d, entries, tree->count);
}

/* ---- actions ---- */

#define ROOT "w"
#define HELPER "wheelsmith-exec"
#define HOUR_MS ((uint64_t)3600 * 1000)
#define SALT "wheelsmith.exec/1 "

bool
ws_remote_actions_open(
	struct ws_remote_actions *all, const char *helper, struct ws_arena *a, struct ws_err *err)
{
	struct ws_digest digest;
	uint64_t size_bytes;
	if (!ws_digest_file(helper, &digest, &size_bytes, err)) {
		ws_err_cure(err, "install wheelsmith-exec beside wheelsmith: remote execution needs it");
		return false;
	}
	all->trees.a = a;
	struct ws_entry *entry = WS_NEW(a, struct ws_entry);
	*entry = (struct ws_entry){.path = ROOT "/" HELPER,
		.value = ws_arena_strdup(a, digest.hex),
		.size_bytes = size_bytes,
		.kind = WS_ENTRY_EXECUTABLE};
	all->helper = entry;
	add_path(&all->trees, helper, entry->value, size_bytes);
	return true;
}

bool
ws_remote_action_can(const struct ws_action *action)
{
	bool can = action->host_file_count + action->tool_file_count > 0 && !action->amend;
	for (size_t i = 0; i < action->mount_count && can; i++) {
		can = action->mounts[i].tree != NULL;
	}
	return can;
}

/* ---- the input root ---- */

static void
add_mounts(struct ws_remote_actions *all, const struct ws_action *action, entry_list *entries,
	struct ws_arena *a)
{
	for (size_t i = 0; i < action->mount_count; i++) {
		const struct ws_mount *mount = &action->mounts[i];
		struct ws_entry *folder = ws_map_get(&all->folders, mount->tree->digest.hex);
		if (!folder) {
			folder = WS_NEW(all->trees.a, struct ws_entry);
			*folder = add_tree(&all->trees, mount->tree);
			ws_map_put(&all->folders, ws_arena_strdup(all->trees.a, mount->tree->digest.hex),
				folder, all->trees.a);
		}
		struct ws_entry *entry = ws_vec_push(entries, a);
		*entry = *folder;
		entry->path = ws_arena_printf(a, ROOT "/" WS_REMOTE_MOUNTS "/%s", mount->name);
	}
}

/* Adds a file, which is uploaded through @a d if the server lacks it. */
static bool
add_file(const char *path, const char *digest, struct ws_directories *d, struct ws_entry *entry,
	struct ws_err *err)
{
	struct stat status;
	if (stat(path, &status) < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", path);
	}
	entry->value = digest;
	entry->size_bytes = (uint64_t)status.st_size;
	add_path(d, path, digest, entry->size_bytes);
	return true;
}

static bool
add_input(const struct ws_remote_actions *all, const struct ws_job *job, size_t index,
	struct ws_directories *own, struct ws_entry *entry, struct ws_err *err)
{
	const struct ws_input *input = &job->action->inputs[index];
	const char *digest = input->from ? job->made[index] : input->digest;
	const uint64_t *there = ws_map_get(&all->kept_there, digest);
	*entry = (struct ws_entry){
		.path = ws_arena_printf(own->a, ROOT "/" WS_REMOTE_WORK "/%s", input->name),
		.kind = input->executable ? WS_ENTRY_EXECUTABLE : WS_ENTRY_FILE};
	if (there) {
		entry->value = digest;
		entry->size_bytes = *there;
		return true;
	}
	const char *path = ws_cas_open(all->store, digest, own->a, err);
	return path ? add_file(path, digest, own, entry, err)
				: ws_err_wrap(err, "'%s' needs '%s'", job->action->subject, input->name);
}

/* ---- the messages ---- */

static char program[] = "./" HELPER;

/* The protocol requires the order by name, then value. */
static int
compare_properties(const void *x, const void *y)
{
	const Reapi__Property *left = *(Reapi__Property *const *)x;
	const Reapi__Property *right = *(Reapi__Property *const *)y;
	int by_name = strcmp(left->name, right->name);
	return by_name ? by_name : strcmp(left->value, right->value);
}

static void
fill_platform(const struct ws_remote_actions *all, Reapi__Platform *platform, struct ws_arena *a)
{
	reapi__platform__init(platform);
	platform->properties = WS_NEW_N(a, Reapi__Property *, all->property_count);
	const char **properties = WS_NEW_N(a, const char *, all->property_count);
	for (size_t i = 0; i < all->property_count; i++) {
		properties[i] = all->properties[i];
	}
	size_t count = ws_sort_once(properties, all->property_count);
	for (size_t i = 0; i < count; i++) {
		struct ws_str value = ws_str_of(properties[i]);
		struct ws_str name = ws_str_cut(&value, '=');
		Reapi__Property *property = WS_NEW(a, Reapi__Property);
		reapi__property__init(property);
		property->name = ws_str_copy(name, a);
		property->value = ws_str_copy(value, a);
		platform->properties[i] = property;
	}
	platform->n_properties = count;
	qsort(platform->properties, count, sizeof(*platform->properties), compare_properties);
}

/* The contents of a Command and an Action, besides the platform. */
struct command {
	char *words[2];
	size_t word_count;
	WS_VEC(char *) outputs;
	bool fresh; /* not answered from a cache */
	const char *salt;
	uint64_t limit_ms; /* of the job; 0: none */
};

static void
make_messages(const struct ws_remote_actions *all, struct command *c, const struct ws_entry *root,
	struct ws_directories *own, struct ws_remote_action *made)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	char working[] = ROOT;
	Reapi__Command command;
	Reapi__Platform platform;
	Reapi__Duration timeout;
	Reapi__Action message;
	fill_platform(all, &platform, a);
	reapi__command__init(&command);
	command.arguments = c->words;
	command.n_arguments = c->word_count;
	command.working_directory = working;
	qsort(c->outputs.at, c->outputs.len, sizeof(*c->outputs.at), ws_cmp_strings);
	command.output_paths = c->outputs.at;
	command.n_output_paths = c->outputs.len;
	command.output_files = command.output_paths;
	command.n_output_files = command.n_output_paths;
	command.platform = &platform;
	struct ws_entry added = add_message(own, &command);
	reapi__duration__init(&timeout);
	/* Whole hours, so that hosts with different measurements request the same Action. Farms refuse
	 * a timeout above their maximum, often one hour: an estimate is twice the last duration. This
	 * host cancels the operation at the exact limit. */
	timeout.seconds = 3600 * (int64_t)(c->limit_ms ? (c->limit_ms + HOUR_MS - 1) / HOUR_MS : 1);
	reapi__action__init(&message);
	message.command_digest = digest_of(&added, a);
	message.input_root_digest = digest_of(root, a);
	message.timeout = &timeout;
	message.do_not_cache = c->fresh;
	message.platform = &platform;
	char *salt = ws_arena_printf(a, SALT "%s", c->salt);
	message.salt = (ProtobufCBinaryData){strlen(salt), (uint8_t *)salt};
	added = add_message(own, &message);
	*made = (struct ws_remote_action){.digest = added.value, .size_bytes = added.size_bytes};
}

bool
ws_remote_action_make(struct ws_remote_actions *all, const struct ws_job *job,
	struct ws_directories *own, struct ws_remote_action *made, struct ws_err *err)
{
	const struct ws_action *action = job->action;
	entry_list entries = {0};
	*ws_vec_push(&entries, own->a) = *all->helper;
	add_mounts(all, action, &entries, own->a);
	for (size_t i = 0; i < action->tool_file_count; i++) {
		const struct ws_host_file *file = &action->tool_files[i];
		struct ws_entry *entry = ws_vec_push(&entries, own->a);
		*entry = (struct ws_entry){.path = ws_arena_printf(own->a, ROOT "/" WS_REMOTE_TOOL "/%s",
									   ws_path_base(file->path)),
			.kind = WS_ENTRY_EXECUTABLE};
		if (!add_file(file->path, file->digest, &all->trees, entry, err)) {
			return false;
		}
	}
	for (size_t i = 0; i < action->input_count; i++) {
		if (!add_input(all, job, i, own, ws_vec_push(&entries, own->a), err)) {
			return false;
		}
	}
	WS_AUTO_BUF struct ws_buf text = {0}; /* of the order, which depends on all other entries */
	WS_AUTO_BUF struct ws_buf taken = {0};
	for (size_t i = 0; i < entries.len; i++) {
		ws_buf_printf(&taken, "%s %s\n", entries.at[i].value, entries.at[i].path);
	}
	struct ws_digest takes = ws_digest_bytes(taken.data, taken.len);
	ws_order_write(action, takes.hex, &text);
	struct ws_entry order = add_bytes(own, &text);
	order.path = ROOT "/" WS_REMOTE_ORDER;
	*ws_vec_push(&entries, own->a) = order;
	struct ws_entry root = add_entries(own, entries.at, entries.len);
	struct command command = {.words = {program},
		.word_count = 1,
		.salt = action->tool.fingerprint,
		.limit_ms = job->is_estimated ? job->deadline_ms / 5 : job->deadline_ms};
	for (size_t i = 0; i < action->output_count; i++) {
		*ws_vec_push(&command.outputs, own->a) =
			ws_arena_printf(own->a, WS_REMOTE_WORK "/%s", action->outputs[i]);
	}
	*ws_vec_push(&command.outputs, own->a) = ws_arena_strdup(own->a, WS_REMOTE_LOG);
	*ws_vec_push(&command.outputs, own->a) = ws_arena_strdup(own->a, WS_REMOTE_REPORT);
	make_messages(all, &command, &root, own, made);
	made->order = order.value;
	return true;
}

void
ws_remote_action_probe(const struct ws_remote_actions *all, bool whole, const struct ws_buf *names,
	struct ws_directories *own, struct ws_remote_action *made)
{
	char probe[] = WS_REMOTE_PROBE, look[] = WS_REMOTE_LOOK;
	char report[] = WS_REMOTE_REPORT, host[] = WS_REMOTE_HOST;
	struct ws_entry entries[] = {*all->helper, add_bytes(own, names)};
	entries[1].path = ROOT "/" WS_REMOTE_NAMES;
	struct ws_entry root = add_entries(own, entries, WS_LEN(entries));
	struct command command = {
		.words = {program, whole ? probe : look}, .word_count = 2, .fresh = true, .salt = "probe"};
	*ws_vec_push(&command.outputs, own->a) = report;
	if (whole) {
		*ws_vec_push(&command.outputs, own->a) = host;
	}
	make_messages(all, &command, &root, own, made);
}
