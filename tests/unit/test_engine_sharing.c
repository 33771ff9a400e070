/* test_engine_sharing.c - two stores and a place between them: what one made, the other finds. */
#include "test.h"

#include "base/fs.h"
#include "engine/graph.h"
#include "store/cas.h"
#include "store/shared_entries.h"

/* A shared place in memory that trusts everybody. */
struct place {
	struct ws_shared shared;      /* first */
	struct ws_map texts;          /* "kind key" -> char * */
	struct ws_map files;          /* digest -> char * */
	struct ws_map records;        /* "kind key" -> struct ws_shared_record *: the files it names */
	const struct ws_store *store; /* of who asks now */
	unsigned asked_records, asked_files, calls;
	unsigned without_size; /* files that were asked for */
	struct ws_map named;   /* manifest -> the record that named it first */
	unsigned sent_again;   /* manifests that a list from there had named */
	bool no_files;
	WS_VEC(struct ws_store *) stores; /* of its hosts */
	struct ws_arena *a;
};

static const char *
name_of(const struct place *p, const struct ws_shared_record *record)
{
	return ws_arena_printf(p->a, "%s %s", record->kind, record->key);
}

static void
get_records(struct ws_shared *self, struct ws_shared_record *records, size_t count,
	struct ws_arena *a WS_UNUSED)
{
	struct place *p = (struct place *)self;
	p->calls++;
	for (size_t i = 0; i < count; i++) {
		const char *text = ws_map_get(&p->texts, name_of(p, &records[i]));
		p->asked_records++;
		ws_buf_puts(&records[i].text, text ? text : "");
		const struct ws_shared_record *kept = ws_map_get(&p->records, name_of(p, &records[i]));
		records[i].files = kept ? kept->files : NULL;
		records[i].file_count = kept ? kept->file_count : 0;
	}
}

static void
get_files(struct ws_shared *self, struct ws_shared_file *files, size_t count)
{
	struct place *p = (struct place *)self;
	p->calls++;
	for (size_t i = 0; i < count; i++) {
		const char *bytes = ws_map_get(&p->files, files[i].digest);
		struct ws_digest digest;
		struct ws_err err;
		p->asked_files++;
		p->without_size += files[i].size_bytes == 0;
		if (bytes && !p->no_files) {
			assert_ok(ws_cas_put(p->store, bytes, strlen(bytes), &digest, &err), err);
			files[i].here = true;
		}
	}
}

/* A file of the writer's store; the place has the other files already. */
static void
put_file(struct place *p, struct ws_shared_file *file)
{
	WS_AUTO_BUF struct ws_buf bytes = {0};
	file->digest = ws_arena_strdup(p->a, file->digest);
	if (ws_cas_read(p->store, file->digest, &bytes, NULL)) {
		file->size_bytes = bytes.len;
		ws_map_put(&p->files, file->digest, ws_buf_copy(&bytes, p->a), p->a);
	}
	assert_non_null(ws_map_get(&p->files, file->digest));
	assert_true(file->size_bytes > 0);
}

/* For a list, manifests of earlier puts are present. */
static void
count_again(struct place *p, const struct ws_shared_record *record)
{
	for (size_t i = 0; strcmp(record->kind, "manifests") == 0 && i < record->file_count; i++) {
		const struct ws_shared_file *file = &record->files[i];
		p->sent_again += !file->there && ws_map_get(&p->named, file->digest);
	}
}

static void
put(struct ws_shared *self, const struct ws_shared_record *records, size_t count)
{
	struct place *p = (struct place *)self;
	for (size_t i = 0; i < count; i++) {
		count_again(p, &records[i]);
	}
	for (size_t i = 0; i < count; i++) {
		struct ws_shared_record *kept = WS_NEW(p->a, struct ws_shared_record);
		struct ws_shared_file *files = WS_NEW_N(p->a, struct ws_shared_file, records[i].file_count);
		for (size_t j = 0; j < records[i].file_count; j++) {
			files[j] = records[i].files[j];
			put_file(p, &files[j]);
		}
		*kept = (struct ws_shared_record){.files = files, .file_count = records[i].file_count};
		for (size_t j = 0; j < kept->file_count; j++) {
			ws_map_put(&p->named, files[j].digest, kept, p->a);
		}
		ws_map_put(&p->records, name_of(p, &records[i]), kept, p->a);
		ws_map_put(&p->texts, name_of(p, &records[i]), ws_buf_copy(&records[i].text, p->a), p->a);
	}
}

/* One host. */
struct host {
	struct ws_store store;
	struct ws_cache cache;
	struct place *place;
	struct ws_arena *a;
};

static struct host *
host_at(struct place *place, struct ws_arena *a)
{
	struct ws_err err;
	struct host *h = WS_NEW(a, struct host);
	*h = (struct host){.place = place, .a = a};
	assert_ok(ws_store_open(ws_test_dir(a), a, &h->store, &err), err);
	*ws_vec_push(&place->stores, a) = &h->store;
	h->cache = (struct ws_cache){
		.store = &h->store, .shared = &place->shared, .names = {.ledger = h->store.ledger, .a = a}};
	return h;
}

static struct place *
make_place(struct ws_arena *a)
{
	struct place *p = WS_NEW(a, struct place);
	*p = (struct place){.shared = {true, get_records, get_files, put}, .a = a};
	return p;
}

static void
close_place(struct place **p)
{
	for (size_t i = 0; i < (*p)->stores.len; i++) {
		ws_store_close((*p)->stores.at[i]);
	}
}

#define WS_AUTO_PLACE __attribute__((cleanup(close_place)))

/* Files that hold their own names; "NAME=TEXT" holds another text. */
static const struct ws_tree *
tree_of(struct host *h, const char *const *files)
{
	struct ws_err err;
	struct ws_tree_builder *b = ws_tree_begin(&h->store, "t", h->a, &err);
	for (; *files; files++) {
		struct ws_str text = ws_str_of(*files);
		const char *name = ws_str_copy(ws_str_cut(&text, '='), h->a);
		const char *bytes = text.s ? text.s : name;
		assert_ok(ws_tree_add_file(b, name, bytes, strlen(bytes), false, &err), err);
	}
	struct ws_tree *tree = WS_NEW(h->a, struct ws_tree);
	assert_ok(ws_tree_commit(b, h->a, tree, &err), err);
	return tree;
}

/* Never called: it only says that the key is not complete. */
static bool
has_reads(const struct ws_action *action WS_UNUSED, const char *work WS_UNUSED,
	const char *log WS_UNUSED, struct ws_arena *a WS_UNUSED, struct ws_reads *reads WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	return false;
}

static struct ws_node *
node_with(struct host *h, const struct ws_tree *tree, const char *subject)
{
	static const char *const env[] = {NULL};
	static const char *const outputs[] = {"a.o"};
	struct ws_err err;
	const char **argv = WS_NEW_N(h->a, const char *, 2);
	struct ws_mount *mount = WS_NEW(h->a, struct ws_mount);
	struct ws_action *action = WS_NEW(h->a, struct ws_action);
	struct ws_node *node = WS_NEW(h->a, struct ws_node);
	argv[0] = subject;
	*mount = (struct ws_mount){"inc", "/nowhere", tree};
	*action = (struct ws_action){
		.subject = subject,
		.tool = {"cc", "cc", "f00d"},
		.argv = argv,
		.env = env,
		.mounts = mount,
		.mount_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.find_reads = has_reads,
	};
	node->action = action;
	assert_ok(ws_cache_base(&h->cache, action, NULL, &node->base, &err), err);
	return node;
}

/* As if it had run: its object is its subject, its log says so, and it read one header. */
static void
make(struct host *h, struct ws_node *node, const char *header)
{
	struct ws_err err;
	struct ws_reads reads = {0};
	const char *subject = node->action->subject;
	struct ws_result *result = &node->result;
	if (header) {
		*ws_vec_push(&reads.files, h->a) = header;
		*ws_vec_push(&reads.absent, h->a) = "inc/before/read.h";
	}
	*result = (struct ws_result){
		.outputs = WS_NEW(h->a, struct ws_digest), .sizes = WS_NEW(h->a, uint64_t), .cpu_ms = 17};
	result->sizes[0] = strlen(subject);
	h->place->store = &h->store;
	assert_ok(ws_cas_put(&h->store, subject, strlen(subject), &result->outputs[0], &err), err);
	assert_ok(ws_cas_put(&h->store, "log", 3, &result->log, &err), err);
	assert_ok(
		ws_cache_add(&h->cache, node->action, &node->base, header ? &reads : NULL, result, &err),
		err);
}

/* As the engine: what the store has not is asked for, then looked up again. */
static bool
finds(struct host *h, struct ws_node *node)
{
	const char *why;
	ws_node_list nodes = {0};
	struct ws_result result;
	if (ws_cache_find(&h->cache, node->action, &node->base, h->a, &result, &why)) {
		return true;
	}
	*ws_vec_push(&nodes, h->a) = node;
	h->place->store = &h->store;
	ws_sharing_get(&h->cache, &nodes);
	bool found = ws_cache_find(&h->cache, node->action, &node->base, h->a, &result, &why);
	assert_true(!found || (result.cpu_ms == 17 && ws_cas_has(&h->store, result.outputs[0].hex)));
	return found;
}

/* The same of a.c over a tree of these files. */
static bool
finds_with(struct host *h, const char *const *files)
{
	return finds(h, node_with(h, tree_of(h, files), "a.c"));
}

static void
make_with(struct host *h, const char *const *files)
{
	make(h, node_with(h, tree_of(h, files), "a.c"), "inc/read.h");
}

static const char *const one[] = {"read.h", "unread.h", NULL};

WS_TEST(a_host_finds_the_results_of_its_neighbour)
{
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *other = host_at(place, a);
	assert_false(finds_with(other, one));
	make_with(maker, one);
	assert_true(finds_with(other, one));
	unsigned asked = place->asked_records;
	assert_true(finds_with(other, one)); /* its own by now */
	assert_int_equal(place->asked_records, asked);
}

WS_TEST(a_new_torch_whose_read_headers_did_not_change_is_a_hit_elsewhere)
{
	static const char *const two[] = {"read.h", "unread.h=newer", NULL};
	static const char *const changed[] = {"read.h=newer", "unread.h", NULL};
	static const char *const shadowed[] = {"before/read.h", "read.h", "unread.h", NULL};
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *other = host_at(place, a);
	make_with(maker, one);
	assert_true(finds_with(other, two));
	assert_false(finds_with(other, changed));
	assert_false(finds_with(other, shadowed));
}

WS_TEST(hosts_add_to_the_list_of_manifests)
{
	static const char *const two[] = {"read.h=2", "unread.h", NULL};
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *second = host_at(place, a), *other = host_at(place, a);
	make_with(maker, one);
	assert_false(finds_with(second, two));
	make_with(second, two);
	assert_int_equal(place->sent_again, 0); /* though the second has the first one's by now */
	assert_true(finds_with(other, one));
	assert_true(finds_with(other, two));
	assert_int_equal(place->without_size, 0); /* servers of gRPC want it */
}

/* A binding file for two Pythons: one key without trees, two results. */
WS_TEST(equal_commands_over_other_headers_are_each_asked_for)
{
	static const char *const two[] = {"read.h=2", "unread.h", NULL};
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *other = host_at(place, a);
	make_with(maker, one);
	make_with(maker, two);
	ws_node_list nodes = {0};
	*ws_vec_push(&nodes, a) = node_with(other, tree_of(other, one), "a.c");
	*ws_vec_push(&nodes, a) = node_with(other, tree_of(other, two), "a.c");
	place->store = &other->store;
	ws_sharing_get(&other->cache, &nodes);
	unsigned calls = place->calls;
	assert_true(finds(other, nodes.at[0]) && finds(other, nodes.at[1]));
	assert_int_equal(place->calls, calls); /* both had come */
}

WS_TEST(a_result_whose_files_do_not_come_is_a_miss)
{
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *other = host_at(place, a);
	make_with(maker, one);
	place->no_files = true;
	assert_false(finds_with(other, one));
	place->no_files = false;
	assert_true(finds_with(other, one));
}

/* However many there are: lists by tree key, manifests, lists by base key, results, files. */
WS_TEST(many_are_asked_for_in_a_few_calls)
{
	WS_AUTO_PLACE struct place *place = make_place(a);
	struct host *maker = host_at(place, a), *other = host_at(place, a);
	const struct ws_tree *tree = tree_of(maker, one);
	ws_node_list nodes = {0};
	for (int i = 0; i < 300; i++) {
		make(maker, node_with(maker, tree, ws_arena_printf(a, "%d.c", i)), "inc/read.h");
	}
	tree = tree_of(other, one);
	for (int i = 0; i < 300; i++) {
		*ws_vec_push(&nodes, a) = node_with(other, tree, ws_arena_printf(a, "%d.c", i));
	}
	place->store = &other->store;
	place->calls = 0;
	place->asked_records = 0;
	ws_sharing_get(&other->cache, &nodes);
	assert_true(place->calls <= 5);
	assert_int_equal(place->asked_records, 600); /* a list and a result each */
	for (size_t i = 0; i < nodes.len; i++) {
		assert_true(finds(other, nodes.at[i]));
	}
	assert_int_equal(place->asked_records, 600);
}
