/* net_probe.c - reads the real index for tests, as this host is configured.
 *
 *     net_probe wheels PACKAGE VERSION     "FILE SHA256 SIZE" a line, and the number of files
 *     net_probe tail PACKAGE FILE BYTES    reads the end of a file by range and says what it took
 *     net_probe get PACKAGE FILE TO        downloads it, by way of TO.partial
 *     net_probe pip                        index-url, extra-index-url and cert as pip would have
 *                                          them
 */
#include "net/download.h"
#include "net/index_config.h"
#include "net/range_source.h"
#include "sys/clock.h"

#include <inttypes.h>

extern char **environ;

/* A session with the indexes of this host. */
struct probe {
	struct ws_http *http;
	struct ws_index *index;
	struct ws_index_list list;
	struct ws_arena *a;
};

static bool
begin(struct probe *p, struct ws_err *err)
{
	struct ws_index_sources sources = {.env = {(const char *const *)environ, "", NULL}};
	struct ws_index_config config;
	if (!ws_index_config_read(&sources, p->a, &config, err)) {
		return false;
	}
	struct ws_http_config session = {.ca_path = config.ca_path, .netrc_path = config.netrc_path};
	p->list = ws_index_config_list(&config, NULL, p->a);
	p->http = ws_http_open(&session, err);
	p->index = p->http ? ws_index_open(p->http, p->a) : NULL;
	return p->http != NULL;
}

static bool
print_wheels(struct probe *p, const char *package, const char *text, struct ws_err *err)
{
	struct ws_version version;
	const struct ws_index_wheel *wheels;
	const struct ws_index_page **pages;
	size_t count, page_count;
	if (!ws_version_parse(text, p->a, &version)) {
		return ws_err_set(err, WS_ERR_USAGE, "'%s' is not a version", text);
	}
	if (!ws_index_wheels(p->index, &p->list, package, &version, &wheels, &count, err)
		|| !ws_index_pages(p->index, &p->list, package, &pages, &page_count, err)) {
		return false;
	}
	for (size_t i = 0; i < count; i++) {
		const struct ws_index_file *file = wheels[i].file;
		printf("%s %s %" PRIu64 "\n", file->name, file->sha256, file->size_bytes);
	}
	printf("files: %zu\n", page_count > 0 ? pages[0]->count : 0);
	return true;
}

static bool
count_bytes(void *self, const void *bytes WS_UNUSED, size_t len, struct ws_err *err WS_UNUSED)
{
	*(uint64_t *)self += len;
	return true;
}

static bool
print_tail(
	struct probe *p, const char *package, const char *name, const char *bytes, struct ws_err *err)
{
	uint64_t wanted = strtoull(bytes, NULL, 10);
	const struct ws_index_file *file = ws_index_find(p->index, &p->list, package, name, NULL, err);
	struct ws_range_source remote;
	int64_t before = ws_clock_ms();
	if (!file
		|| ws_range_source_open(p->http, file->url, wanted, p->a, &remote, err) != WS_RANGES_OPEN) {
		return false;
	}
	/* Beyond the tail, so that the network is asked once more: the first local header. */
	uint64_t read = 0;
	struct ws_span spans[] = {
		{.offset = 0, .len = 30, .take = count_bytes, .self = &read},
		{.offset = remote.source.size - wanted, .len = wanted, .take = count_bytes, .self = &read},
	};
	bool ok = remote.source.read(&remote.source, spans, WS_LEN(spans), err);
	printf("size: %" PRIu64 "\ntail: %zu\nread: %" PRIu64 "\nwire: %" PRIu64 "\nrequests: %u\n",
		remote.source.size, remote.tail.len, read, remote.wire_bytes, remote.requests);
	printf("end: %s\n", memmem(remote.tail.data, remote.tail.len, "PK\005\006", 4) ? "zip" : "?");
	printf("ms: %" PRId64 "\n", ws_clock_ms() - before);
	ws_range_source_close(&remote);
	return ok;
}

static bool
print_get(
	struct probe *p, const char *package, const char *name, const char *to, struct ws_err *err)
{
	const struct ws_index_file *file = ws_index_find(p->index, &p->list, package, name, NULL, err);
	if (!file) {
		return false;
	}
	struct ws_download download = {
		.url = file->url,
		.path = to,
		.partial = ws_arena_printf(p->a, "%s.partial", to),
		.sha256 = file->sha256,
		.size_bytes = file->size_bytes,
	};
	int64_t before = ws_clock_ms();
	if (!ws_download_all(p->http, &download, 1, err)) {
		return false;
	}
	printf("size: %" PRIu64 "\nwire: %" PRIu64 "\nsha256: %s\nms: %" PRId64 "\n",
		download.got_bytes, download.wire_bytes, download.digest.hex, ws_clock_ms() - before);
	return true;
}

static bool
print_pip(struct ws_arena *a, struct ws_err *err)
{
	struct ws_index_sources sources = {.env = {(const char *const *)environ, "", NULL}};
	struct ws_index_config config;
	if (!ws_index_config_read(&sources, a, &config, err)) {
		return false;
	}
	for (size_t i = 0; i < config.choices[0].count; i++) {
		const char *url = config.choices[0].urls[i];
		printf("%s\n", strcmp(url, WS_DEFAULT_INDEX) == 0 ? "-" : url);
	}
	printf("%s\n", config.ca_path ? config.ca_path : "-");
	return true;
}

int
main(int argc, char **argv)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct probe p = {.a = a};
	struct ws_err err = {0};
	bool ok = begin(&p, &err);
	if (ok && argc == 4 && strcmp(argv[1], "wheels") == 0) {
		ok = print_wheels(&p, argv[2], argv[3], &err);
	} else if (ok && argc == 5 && strcmp(argv[1], "tail") == 0) {
		ok = print_tail(&p, argv[2], argv[3], argv[4], &err);
	} else if (ok && argc == 5 && strcmp(argv[1], "get") == 0) {
		ok = print_get(&p, argv[2], argv[3], argv[4], &err);
	} else if (ok && argc == 2 && strcmp(argv[1], "pip") == 0) {
		ok = print_pip(a, &err);
	} else if (ok) {
		ok = ws_err_set(
			&err, WS_ERR_USAGE, "net_probe wheels PACKAGE VERSION | tail PACKAGE FILE BYTES");
	}
	ws_http_close(p.http);
	char text[WS_ERR_PRINTED];
	if (!ok) {
		fputs(ws_err_print(&err, text), stderr);
	}
	return ws_err_exit_code(ok ? WS_ERR_NONE : err.kind);
}
