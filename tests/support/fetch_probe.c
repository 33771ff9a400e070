/* fetch_probe.c - real sources and archives, from the index and the Debian mirror of this host.
 *
 *     fetch_probe sdist STORE NAME VERSION FILE SHA256   brings it as a tree
 *     fetch_probe headers PACKAGE WHEEL PREFIX           reads members of a remote wheel by ranges
 *     fetch_probe deb POOL SHA256 TO                     downloads a package and unpacks it to
 *                                                        nowhere
 */
#include "archive/unpack.h"
#include "archive/zip.h"
#include "fetch/source.h"
#include "net/debian.h"
#include "net/download.h"
#include "net/index_config.h"
#include "net/range_source.h"
#include "sys/clock.h"

#include <inttypes.h>
#include <sys/resource.h>

extern char **environ;

struct probe {
	struct ws_http *http;
	struct ws_index *index;
	struct ws_index_config indexes;
	struct ws_arena *a;
};

static bool
begin(struct probe *p, struct ws_err *err)
{
	struct ws_index_sources sources = {.env = {(const char *const *)environ, "", NULL}};
	if (!ws_index_config_read(&sources, p->a, &p->indexes, err)) {
		return false;
	}
	struct ws_http_config session = {
		.ca_path = p->indexes.ca_path, .netrc_path = p->indexes.netrc_path};
	p->http = ws_http_open(&session, err);
	p->index = p->http ? ws_index_open(p->http, p->a) : NULL;
	return p->http != NULL;
}

static void
print_cost(int64_t since_ms)
{
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	printf("ms: %" PRId64 "\nmaxrss_kib: %ld\n", ws_clock_ms() - since_ms, usage.ru_maxrss);
}

static bool
bring_sdist(struct probe *p, char **words, struct ws_err *err)
{
	struct ws_store store;
	if (!ws_store_open(words[0], p->a, &store, err)) {
		return false;
	}
	struct ws_fetch fetch = {
		.store = &store, .http = p->http, .index = p->index, .indexes = &p->indexes};
	struct ws_source_spec spec = {
		.kind = WS_SOURCE_SDIST, .package = words[1], .file = words[3], .sha256 = words[4]};
	struct ws_source_wish wish = {
		.name = words[1], .version = words[2], .specs = &spec, .spec_count = 1};
	struct ws_source_found found;
	int64_t start_ms = ws_clock_ms();
	bool ok = ws_source_bring(&fetch, &wish, p->a, &found, err);
	if (ok) {
		printf("files: %zu\ndigest: %s\nremembered: %d\npath: %s\n", found.tree.count,
			found.tree.digest.hex, found.remembered, found.tree.path);
		print_cost(start_ms);
	}
	ws_store_close(&store);
	return ok;
}

/* Counts what an archive gives. */
struct counter {
	struct ws_zip_sink zip;
	struct ws_unpack_sink unpack;
	uint64_t count, bytes;
};

static bool
zip_begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry WS_UNUSED,
	struct ws_err *err WS_UNUSED)
{
	((struct counter *)self)->count++;
	return true;
}

static bool
zip_bytes(
	struct ws_zip_sink *self, const void *bytes WS_UNUSED, size_t len, struct ws_err *err WS_UNUSED)
{
	((struct counter *)self)->bytes += len;
	return true;
}

static bool
zip_end(struct ws_zip_sink *self WS_UNUSED, struct ws_err *err WS_UNUSED)
{
	return true;
}

static bool
read_headers(struct probe *p, char **words, struct ws_err *err)
{
	struct ws_index_list list = ws_index_config_list(&p->indexes, NULL, p->a);
	int64_t start_ms = ws_clock_ms();
	struct ws_range_source remote;
	struct ws_zip zip;
	const struct ws_index_file *file =
		ws_index_find(p->index, &list, words[0], words[1], NULL, err);
	const struct ws_zip_limits limits = {.tail_bytes = 2 << 20};
	if (!file
		|| ws_range_source_open(p->http, file->url, limits.tail_bytes, p->a, &remote, err)
			!= WS_RANGES_OPEN) {
		return false;
	}
	struct counter c = {.zip = {zip_begin, zip_bytes, zip_end}};
	bool ok = ws_zip_open(&remote.source, &limits, p->a, &zip, err);
	if (ok) {
		const struct ws_zip_entry **wanted = WS_NEW_N(p->a, const struct ws_zip_entry *, zip.count);
		size_t count = 0;
		for (size_t i = 0; i < zip.count; i++) {
			bool below = ws_starts_with(zip.entries[i].name, words[2]);
			if (below && !zip.entries[i].is_dir) {
				wanted[count++] = &zip.entries[i];
			}
		}
		ok = ws_zip_read(&zip, wanted, count, WS_ZIP_GAP_BYTES, &c.zip, err);
	}
	if (ok) {
		printf("entries: %zu\nmembers: %" PRIu64 "\nbytes: %" PRIu64 "\nwire: %" PRIu64
			   "\nrequests: %u\n",
			zip.count, c.count, c.bytes, remote.wire_bytes, remote.requests);
		print_cost(start_ms);
	}
	ws_range_source_close(&remote);
	return ok;
}

static struct counter *
counter_of(struct ws_unpack_sink *sink)
{
	return (struct counter *)((char *)sink - offsetof(struct counter, unpack));
}

static bool
deb_begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err WS_UNUSED)
{
	counter_of(self)->count += member->kind == WS_MEMBER_FILE;
	return true;
}

static bool
deb_bytes(struct ws_unpack_sink *self, const void *bytes WS_UNUSED, size_t len,
	struct ws_err *err WS_UNUSED)
{
	counter_of(self)->bytes += len;
	return true;
}

static bool
deb_end(struct ws_unpack_sink *self WS_UNUSED, struct ws_err *err WS_UNUSED)
{
	return true;
}

static bool
deb_wants(struct ws_unpack_sink *self WS_UNUSED, const struct ws_member *member)
{
	return member->kind == WS_MEMBER_FILE;
}

static bool
unpack_deb(struct probe *p, char **words, struct ws_err *err)
{
	struct ws_debian_mirror mirror;
	if (!ws_debian_mirror_find("", p->a, &mirror)) {
		return ws_err_set(err, WS_ERR_CONFIG, "this host has no Debian mirror");
	}
	struct ws_download download = {.url = ws_arena_printf(p->a, "%s/%s", mirror.url, words[0]),
		.path = words[2],
		.partial = ws_arena_printf(p->a, "%s.partial", words[2]),
		.sha256 = words[1]};
	if (!ws_download_all(p->http, &download, 1, err)) {
		return false;
	}
	struct counter c = {.unpack = {deb_wants, deb_begin, deb_bytes, deb_end}};
	int64_t start_ms = ws_clock_ms();
	if (!ws_unpack(words[2], "package", WS_UNPACK_DEB, NULL, &c.unpack, err)) {
		return false;
	}
	printf("files: %" PRIu64 "\nbytes: %" PRIu64 "\n", c.count, c.bytes);
	print_cost(start_ms);
	return true;
}

int
main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int words;
		bool (*run)(struct probe *p, char **words, struct ws_err *err);
	} commands[] = {
		{"sdist", 5, bring_sdist}, {"headers", 3, read_headers}, {"deb", 3, unpack_deb}};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct probe p = {.a = a};
	struct ws_err err = {0};
	bool ok =
		ws_err_set(&err, WS_ERR_USAGE, "fetch_probe sdist | headers | deb; see fetch_probe.c");
	for (size_t i = 0; argc > 1 && i < WS_LEN(commands); i++) {
		if (strcmp(argv[1], commands[i].name) == 0 && argc == commands[i].words + 2) {
			ok = begin(&p, &err) && commands[i].run(&p, argv + 2, &err);
		}
	}
	ws_http_close(p.http);
	char text[WS_ERR_PRINTED];
	if (!ok) {
		fputs(ws_err_print(&err, text), stderr);
	}
	return ws_err_exit_code(ok ? WS_ERR_NONE : err.kind);
}
