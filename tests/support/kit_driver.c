/* kit_driver.c - opens kits as this host is configured, and says what it took.
 *
 *     kit_driver torch STORE VERSION PYTHON     a torch kit: "name: value" a line
 *     kit_driver archive STORE DEFINITION       the archive kit of a matrix/kits/NAME.json
 *     kit_driver redist STORE CUDA              a kit of NVIDIA's redistributables
 *     kit_driver host STORE                     the toolkits of this host; opens the complete ones
 *     kit_driver exports STORE VERSION PATH     makes the export list of a torch release
 *     kit_driver installed STORE PYTHON         the torch installed for that interpreter
 *
 * DEBIAN_MIRROR ("": none) and REDIST_URL in the environment say where those are, HOST_ROOT what
 * stands for /; OFFLINE=1: no network.
 */
#include "base/fs.h"
#include "config/facts.h"
#include "config/kit_def.h"
#include "kit/cuda/cuda.h"
#include "kit/torch/export_lists.h"
#include "net/debian.h"
#include "net/index_config.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <sys/resource.h>

extern char **environ;

/* Prints events as they are reported. */
struct listener {
	struct ws_sink sink;
	uint64_t wire_bytes;
};

static void
listen(struct ws_sink *self, const struct ws_event *event)
{
	struct listener *l = (struct listener *)self;
	if (event->kind == WS_EVENT_FETCH_DONE) {
		l->wire_bytes += event->done;
	} else if (event->kind == WS_EVENT_WARNING) {
		printf("warning: %s\n", event->subject);
	} else if (event->kind == WS_EVENT_KIT_READY) {
		printf("ready: %s: %s\n", event->subject, event->detail);
	}
}

/* A session as this host is configured, and what the command lends. */
struct session {
	struct ws_store store;
	struct ws_index_config indexes;
	struct ws_events events;
	struct listener listener;
	struct ws_facts facts;
	struct ws_fetch fetch;
	struct ws_arena *a;
};

/* DEBIAN_MIRROR, "" for none; else this host's own. */
static const char *
mirror(struct ws_arena *a)
{
	struct ws_debian_mirror found;
	const char *set = getenv("DEBIAN_MIRROR");
	if (set) {
		return set[0] ? set : NULL;
	}
	return ws_debian_mirror_find("", a, &found) ? found.url : NULL;
}

static bool
begin(struct session *s, const char *store, struct ws_err *err)
{
	struct ws_index_sources sources = {.env = {(const char *const *)environ, "", NULL}};
	const char *facts = ws_path_join(s->a, getenv("WS_ROOT"), "matrix/facts", NULL);
	s->listener.sink.take = listen;
	ws_events_add(&s->events, &s->listener.sink);
	if (!ws_store_open(store, s->a, &s->store, err)
		|| !ws_index_config_read(&sources, s->a, &s->indexes, err)
		|| !ws_facts_read(facts, s->a, &s->facts, err)) {
		return false;
	}
	struct ws_http_config config = {
		.ca_path = s->indexes.ca_path,
		.netrc_path = s->indexes.netrc_path,
		.events = &s->events,
		.offline = getenv("OFFLINE") != NULL,
	};
	struct ws_http *http = ws_http_open(&config, err);
	s->fetch = (struct ws_fetch){
		.store = &s->store,
		.ledger = s->store.ledger,
		.http = http,
		.index = http ? ws_index_open(http, s->a) : NULL,
		.indexes = &s->indexes,
		.debian_mirror = mirror(s->a),
		.redist_url = getenv("REDIST_URL"),
		.events = &s->events,
	};
	return http && s->fetch.ledger;
}

static void
finish(struct session *s)
{
	ws_http_close(s->fetch.http);
	ws_store_close(&s->store);
}

static void
print_cost(const struct session *s, int64_t since_ms)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("wire: %" PRIu64 "\nms: %" PRId64 "\nrss_kib: %ld\n", s->listener.wire_bytes,
		ws_clock_ms() - since_ms, usage.ru_maxrss);
}

static const char *
or_none(const char *text)
{
	return text ? text : "none";
}

static void
print_torch(const struct ws_torch_kit *kit)
{
	printf("name: %s\nversion: %s\ncuda: %s\ncxx11abi: %d\n", kit->name, kit->version.text,
		kit->cuda, kit->cxx11abi);
	printf("pybind: %s %s %s\nknown: %d\npath: %s\n", or_none(kit->pybind_compiler),
		or_none(kit->pybind_stdlib), or_none(kit->pybind_build_abi), kit->known, kit->path);
	printf("wheel: %s\nsha256: %s\nrecord: %s\n", or_none(kit->wheel), kit->wheel_sha256,
		kit->record_sha256);
	printf("files: %zu\ntree: %s\n", kit->tree ? kit->tree->count : 0,
		kit->tree ? kit->tree->digest.hex : "none");
}

/* As a locked build opens it. */
static bool
print_pinned(struct session *s, struct ws_torch_wish wish, const struct ws_torch_kit *kit,
	struct ws_err *err)
{
	struct ws_pin_torch pin = {.wheel = kit->wheel,
		.sha256 = kit->wheel_sha256,
		.record = kit->record_sha256,
		.tree = kit->tree->digest.hex};
	struct ws_torch_kit again;
	int64_t since = ws_clock_ms();
	wish.pin = &pin;
	if (!ws_torch_open(&s->fetch, &s->facts, &wish, s->a, &again, err)) {
		return false;
	}
	printf("pinned_ms: %" PRId64 "\n", ws_clock_ms() - since);
	return true;
}

static bool
do_torch(char *const *args, struct session *s, struct ws_err *err)
{
	struct ws_torch_wish wish = {0};
	struct ws_torch_kit kit;
	if (!begin(s, args[0], err)) {
		return false;
	}
	if (!ws_version_parse(args[1], s->a, &wish.version)
		|| !ws_python_tag_parse(args[2], &wish.python)) {
		return ws_err_set(
			err, WS_ERR_USAGE, "'%s', '%s': a version and a Python", args[1], args[2]);
	}
	int64_t since = ws_clock_ms();
	if (!ws_torch_open(&s->fetch, &s->facts, &wish, s->a, &kit, err)) {
		return false;
	}
	print_torch(&kit);
	print_cost(s, since);
	return print_pinned(s, wish, &kit, err);
}

static bool
do_installed(char *const *args, struct session *s, struct ws_err *err)
{
	struct ws_python_kit python = {.interpreter = args[1]};
	struct ws_torch_kit kit;
	int64_t since = ws_clock_ms();
	if (!begin(s, args[0], err)
		|| !ws_torch_open_installed(&s->facts, &python, NULL, s->a, &kit, err)) {
		return false;
	}
	print_torch(&kit);
	print_cost(s, since);
	return true;
}

static bool
do_exports(char *const *args, struct session *s, struct ws_err *err)
{
	struct ws_version version;
	int64_t since = ws_clock_ms();
	if (!begin(s, args[0], err)) {
		return false;
	}
	if (!ws_version_parse(args[1], s->a, &version)) {
		return ws_err_set(err, WS_ERR_USAGE, "'%s' is not a version", args[1]);
	}
	if (!ws_torch_exports_make(&s->fetch, &s->facts, getenv("WHEELSMITH"), &version,
			ws_machine_host(), args[2], err)) {
		return false;
	}
	print_cost(s, since);
	return true;
}

static void
print_cuda(struct session *s, struct ws_cuda_kit *kit)
{
	ws_cuda_ask_include(kit, "g++", NULL, s->a, NULL);
	printf("name: %s\nversion: %s\nrelease: %s\npath: %s\nhow: %s\ndebian: %s\n", kit->name,
		kit->version.text, kit->release, kit->path, kit->how, or_none(kit->debian));
	printf("fingerprint: %s\nruntime: %s\nsoname: %s\ngcc_max: %u\n", kit->fingerprint,
		kit->runtime, kit->runtime_soname, kit->limits.gcc_max);
	for (size_t i = 0; i < kit->include_count; i++) {
		printf("include: %s\n", kit->include[i]);
	}
	printf("files: %zu\ntree: %s\n", kit->tree ? kit->tree->count : 0,
		kit->tree ? kit->tree->digest.hex : "none");
}

static bool
do_archive(char *const *args, struct session *s, struct ws_err *err)
{
	struct ws_kit_def def;
	struct ws_cuda_kit kit;
	if (!begin(s, args[0], err) || !ws_kit_def_read(args[1], s->a, &def, err)) {
		return false;
	}
	int64_t since = ws_clock_ms();
	if (!ws_cuda_open_archive(&s->fetch, &def, NULL, s->a, &kit, err)) {
		return false;
	}
	print_cuda(s, &kit);
	print_cost(s, since);
	return true;
}

static bool
do_redist(char *const *args, struct session *s, struct ws_err *err)
{
	struct ws_cuda_kit kit;
	struct ws_version version;
	int64_t since = ws_clock_ms();
	if (!begin(s, args[0], err) || !ws_version_parse(args[1], s->a, &version)
		|| !ws_cuda_open_redist(&s->fetch, &version, NULL, s->a, &kit, err)) {
		return false;
	}
	print_cuda(s, &kit);
	print_cost(s, since);
	return true;
}

static bool
do_host(char *const *args, struct session *s, struct ws_err *err)
{
	ws_cuda_list list = {0};
	if (!begin(s, args[0], err)) {
		return false;
	}
	const char *root = getenv("HOST_ROOT");
	struct ws_user_env env = {(const char *const *)environ, root ? root : "", NULL};
	ws_cuda_list_host(&env, NULL, s->a, &list);
	for (size_t i = 0; i < list.len; i++) {
		struct ws_cuda_kit *kit = &list.at[i];
		printf("found: %s %s %s\n", kit->name, kit->release, kit->path);
		for (size_t k = 0; k < kit->missing_count; k++) {
			printf("missing: %s\n", kit->missing[k]);
		}
		int64_t since = ws_clock_ms();
		if (kit->missing_count == 0) {
			if (!ws_cuda_open_host(kit, s->fetch.ledger, s->a, err)) {
				return false;
			}
			print_cuda(s, kit);
			print_cost(s, since);
		}
	}
	return true;
}

static const struct {
	const char *name;
	int count;
	bool (*run)(char *const *args, struct session *s, struct ws_err *err);
} commands[] = {
	{"torch", 3, do_torch},
	{"installed", 2, do_installed},
	{"exports", 3, do_exports},
	{"archive", 2, do_archive},
	{"redist", 2, do_redist},
	{"host", 1, do_host},
};

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct session s = {.a = a, .store.lock_fd = -1};
	struct ws_err err = {0};
	bool ok = ws_err_set(&err, WS_ERR_USAGE, "see the top of kit_driver.c");
	for (size_t i = 0; i < WS_LEN(commands); i++) {
		if (argc == commands[i].count + 2 && strcmp(argv[1], commands[i].name) == 0) {
			err = (struct ws_err){0};
			ok = commands[i].run(argv + 2, &s, &err);
		}
	}
	finish(&s);
	char text[WS_ERR_PRINTED];
	if (!ok) {
		fputs(ws_err_print(&err, text), stderr);
	}
	return ws_err_exit_code(ok ? WS_ERR_NONE : err.kind);
}
