/* torch_exports.c - which wheels, which members, one library on disk at a time. */
#include "kit/torch_exports.h"

#include "archive/zip.h"
#include "base/digest.h"
#include "base/fs.h"
#include "base/vec.h"
#include "elf/exports_make.h"
#include "fetch/fetch.h"
#include "net/index.h"
#include "net/index_config.h"
#include "net/remote.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#define TAIL_BYTES \
	((uint64_t)2 << 20) /* holds the directory of every torch wheel: 1.3 MB at most */
#define RECORD_MOST ((size_t)16 << 20) /* 1.5 MB in torch 2.15 */

/* The same for all Pythons: the names of torch_cpu and torch_cuda were compared (see
 * elf/exports_make.c), the others are equal files. */
static const char *const shared_libraries[] = {
	"libc10", "libc10_cuda", "libtorch", "libtorch_cpu", "libtorch_cuda"};

struct making {
	struct ws_fetch *fetch;
	struct ws_arena *a;
	struct ws_exports_maker *maker;
	const char *scratch; /* the file that libraries go through */
};

/* A member on its way to the scratch file. */
struct library_sink {
	struct ws_zip_sink sink; /* first */
	const char *path;
	int fd;
	struct ws_hasher *hasher;
};

static bool
sink_begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry WS_UNUSED, struct ws_err *err)
{
	struct library_sink *s = (struct library_sink *)self;
	s->fd = open(s->path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
	return s->fd >= 0 || ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", s->path);
}

static bool
sink_bytes(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct library_sink *s = (struct library_sink *)self;
	ws_hasher_add(s->hasher, bytes, len);
	const char *at = bytes;
	while (len > 0) {
		ssize_t put = write(s->fd, at, len);
		if (put < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot write '%s'", s->path);
		}
		at += put;
		len -= (size_t)put;
	}
	return true;
}

static bool
sink_end(struct ws_zip_sink *self WS_UNUSED, struct ws_err *err WS_UNUSED)
{
	return true;
}

/* Does RECORD ("name,sha256=digest,size" lines) say that @name has this digest? */
static bool
record_agrees(const struct ws_buf *record, const char *name, const struct ws_digest *digest,
	struct ws_arena *a)
{
	char base64[WS_DIGEST_BASE64];
	ws_digest_base64(digest, base64);
	const char *wanted = ws_arena_printf(a, "%s,sha256=%s,", name, base64);
	struct ws_str rest = ws_buf_str(record);
	while (rest.s) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		if (line.n >= strlen(wanted) && memcmp(line.s, wanted, strlen(wanted)) == 0) {
			return true;
		}
	}
	return false;
}

static bool
add_library(struct making *m, struct ws_zip *zip, const struct ws_buf *record, const char *library,
	const char *python, struct ws_err *err)
{
	const char *name = ws_arena_printf(m->a, "torch/lib/%s.so", library);
	const struct ws_zip_entry *entry = ws_zip_find(zip, name);
	if (!entry) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no '%s'", zip->source->name, name);
	}
	ws_events_note(m->fetch->events, "%s: %s", zip->source->name, library);
	struct library_sink sink = {
		.sink = {sink_begin, sink_bytes, sink_end},
		.path = m->scratch,
		.fd = -1,
		.hasher = ws_hasher_make(),
	};
	bool read = ws_zip_read(zip, &entry, 1, WS_ZIP_GAP_BYTES, &sink.sink, err);
	struct ws_digest digest = ws_hasher_finish(sink.hasher);
	if (sink.fd >= 0) {
		close(sink.fd);
	}
	if (!read) {
		return false;
	}
	if (!record_agrees(record, name, &digest, m->a)) {
		return ws_err_set(
			err, WS_ERR_FETCH, "'%s' in '%s' is not what RECORD says", name, zip->source->name);
	}
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_ELF struct ws_elf *elf = ws_elf_open(m->scratch, a, err);
	return elf && ws_exports_add(m->maker, elf, python, err);
}

static bool
load_record(struct ws_zip *zip, const char *version, struct ws_buf *record, struct ws_arena *a,
	struct ws_err *err)
{
	const char *name = ws_arena_printf(a, "torch-%s.dist-info/RECORD", version);
	const struct ws_zip_entry *entry = ws_zip_find(zip, name);
	if (!entry) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' has no '%s'", zip->source->name, name);
	}
	return ws_zip_load(zip, entry, RECORD_MOST, record, err);
}

static bool
read_wheel(struct making *m, struct ws_remote *remote, const struct ws_index_wheel *wheel,
	bool with_shared, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf record = {0};
	struct ws_zip_limits limits = {.tail_bytes = TAIL_BYTES};
	struct ws_zip zip;
	if (!ws_zip_open(&remote->source, &limits, m->a, &zip, err)
		|| !load_record(&zip, wheel->name.version.text, &record, m->a, err)) {
		return false;
	}
	for (size_t i = 0; with_shared && i < WS_LEN(shared_libraries); i++) {
		if (!add_library(m, &zip, &record, shared_libraries[i], NULL, err)) {
			return false;
		}
	}
	ws_exports_add_wheel(m->maker, wheel->file->name);
	return add_library(m, &zip, &record, "libtorch_python", wheel->name.abis[0], err);
}

static bool
add_wheel(
	struct making *m, const struct ws_index_wheel *wheel, bool with_shared, struct ws_err *err)
{
	struct ws_remote remote;
	if (ws_remote_open(m->fetch->http, wheel->file->url, TAIL_BYTES, m->a, &remote, err)
		!= WS_REMOTE_OPEN) {
		return false;
	}
	bool done = read_wheel(m, &remote, wheel, with_shared, err);
	ws_remote_close(&remote);
	return done;
}

/* A wheel of CPython for Linux on x86-64. */
static bool
is_ours(const struct ws_index_wheel *wheel)
{
	struct ws_python_tag tag;
	bool linux_x86_64 = false;
	for (size_t i = 0; i < wheel->name.platform_count; i++) {
		linux_x86_64 |= strstr(wheel->name.platforms[i], "linux")
			&& ws_ends_with(wheel->name.platforms[i], "x86_64");
	}
	return linux_x86_64 && wheel->name.abi_count == 1
		&& ws_python_tag_parse(wheel->name.abis[0], &tag);
}

/* Adds every wheel of ours, the one with the shared libraries first. */
static bool
add_wheels(struct making *m, const struct ws_index_wheel *wheels, size_t count, struct ws_err *err)
{
	size_t main_wheel = count;
	for (size_t i = count; i-- > 0;) {
		bool preferred = main_wheel < count && ws_same(wheels[main_wheel].name.abis[0], "cp311");
		if (is_ours(&wheels[i]) && !preferred) {
			main_wheel = i;
		}
	}
	if (main_wheel == count || !add_wheel(m, &wheels[main_wheel], true, err)) {
		return main_wheel == count
			? ws_err_set(err, WS_ERR_FETCH, "no wheel of this torch for Linux on x86-64 was found")
			: false;
	}
	for (size_t i = 0; i < count; i++) {
		if (i != main_wheel && is_ours(&wheels[i]) && !add_wheel(m, &wheels[i], false, err)) {
			return false;
		}
	}
	return true;
}

bool
ws_torch_exports_make(struct ws_fetch *fetch, const char *version, const char *scratch,
	const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_version wanted;
	if (!ws_version_parse(version, a, &wanted)) {
		return ws_err_set(err, WS_ERR_USAGE, "'%s' is no version", version);
	}
	struct ws_index_list list = ws_index_config_list(fetch->indexes, NULL, a);
	const struct ws_index_wheel *wheels;
	size_t count;
	if (!ws_index_wheels(fetch->index, &list, "torch", &wanted, &wheels, &count, err)) {
		return false;
	}
	const char *dir = ws_fs_temp_dir(scratch, "exports-", a, err);
	if (!dir) {
		return false;
	}
	struct making m = {
		.fetch = fetch,
		.a = a,
		.maker = ws_exports_begin(wanted.text, a),
		.scratch = ws_path_join(a, dir, "library.so", NULL),
	};
	bool done = add_wheels(&m, wheels, count, err);
	ws_fs_remove(dir, NULL);
	return done ? ws_exports_write(m.maker, path, err)
				: ws_err_wrap(err, "listing the exports of torch %s", version);
}
