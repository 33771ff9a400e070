/* zip_writer.c - the door to libzip. Names are checked and sorted first. */
#include "wheel/zip_writer.h"

#include "base/fs.h"

#include <zip.h>

#include <time.h>

/* ---- names and their order ---- */

static bool
is_below(const char *name, const char *folder)
{
	size_t len = strlen(folder);
	return strncmp(name, folder, len) == 0 && name[len] == '/';
}

static int
cmp_entries(const void *x, const void *y, void *dist_info)
{
	const struct ws_wheel_entry *left = x;
	const struct ws_wheel_entry *right = y;
	const char *const *last = dist_info;
	bool left_last = is_below(left->name, *last);
	bool right_last = is_below(right->name, *last);
	return left_last == right_last ? strcmp(left->name, right->name) : left_last - right_last;
}

/* Two names must not differ by letter case alone, and a file cannot be a folder as well. */
static bool
check_collisions(const struct ws_wheel_entry *entries, size_t count, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const char **folded = WS_NEW_N(a, const char *, count);
	for (size_t i = 0; i < count; i++) {
		folded[i] = ws_lower_all(ws_arena_strdup(a, entries[i].name));
	}
	qsort(folded, count, sizeof(*folded), ws_cmp_strings);
	for (size_t i = 0; i < count; i++) {
		if (i > 0 && strcmp(folded[i - 1], folded[i]) == 0) {
			return ws_err_set(err, WS_ERR_CONFIG,
				"two files of the wheel are named '%s', letter case aside", folded[i]);
		}
		char *folder = ws_arena_strdup(a, folded[i]);
		for (char *slash; (slash = strrchr(folder, '/'));) {
			*slash = '\0';
			if (bsearch(&folder, folded, count, sizeof(*folded), ws_cmp_strings)) {
				return ws_err_set(err, WS_ERR_CONFIG,
					"'%s' would be both a file and a folder of the wheel", folder);
			}
		}
	}
	return true;
}

bool
ws_wheel_entries_order(
	struct ws_wheel_entry *entries, size_t count, const char *dist_info, struct ws_err *err)
{
	for (size_t i = 0; i < count; i++) {
		/* Spaces are fine for zip, but PyPI's rules for archives name them among what to avoid. */
		const char *c = entries[i].name;
		while (*c > ' ' && *c <= '~') {
			c++;
		}
		if (*c || !ws_path_is_inside(entries[i].name)) {
			ws_err_set(err, WS_ERR_CONFIG,
				"'%s' cannot be the name of a file in a wheel: only printable ASCII, no spaces",
				entries[i].name);
			return ws_err_cure(err, "leave it out of the wheel (\"exclude\" in the recipe)");
		}
	}
	if (!check_collisions(entries, count, err)) {
		return false;
	}
	qsort_r(entries, count, sizeof(*entries), cmp_entries, &dist_info);
	return true;
}

/* ---- packing ---- */

#define FIRST_DOS_TIME INT64_C(315532800) /* 1980-01-01 00:00:00 */
#define LAST_DOS_TIME INT64_C(4354819198) /* 2107-12-31 23:59:58 */
#define LEVEL 6
#define FILE_ATTRIBUTES(MODE) ((zip_uint32_t)(S_IFREG | (MODE)) << 16)

static void
close_archive(zip_t *const *archive)
{
	if (*archive) {
		zip_discard(*archive);
	}
}

/* A zip that is given up without a trace unless it was closed. */
#define AUTO_ARCHIVE __attribute__((cleanup(close_archive)))

/* Date and time as 4.4.6 has them: packed fields, two seconds a step. */
struct dos_time {
	zip_uint16_t time, date;
};

/* Adds an entry. An entry of @from keeps its packed bytes: libzip does not unpack an entry that
 * keeps its method. */
static bool
add(zip_t *archive, zip_t *from, const struct ws_wheel_entry *entry, struct dos_time at,
	struct ws_err *err)
{
	zip_uint32_t level = LEVEL, attributes = FILE_ATTRIBUTES(entry->executable ? 0755U : 0644U);
	zip_int32_t method = ZIP_CM_DEFLATE;
	zip_source_t *source;
	struct stat status = {.st_size = (off_t)entry->len};
	zip_stat_t packed;
	zip_uint8_t system;
	if (from && entry->again) {
		zip_stat_init(&packed);
		if (zip_stat(from, entry->again, 0, &packed) < 0
			|| zip_file_get_external_attributes(from, packed.index, 0, &system, &attributes) < 0) {
			return ws_err_set(
				err, WS_ERR_IO, "cannot read '%s': %s", entry->name, zip_strerror(from));
		}
		if (system != ZIP_OPSYS_UNIX) { /* there the same bits mean something else */
			attributes = FILE_ATTRIBUTES(0644U);
		}
		level = 0;
		method = packed.comp_method;
		source = zip_source_zip(archive, from, packed.index, ZIP_FL_COMPRESSED, 0, -1);
	} else {
		if (entry->file && stat(entry->file, &status) < 0) {
			return ws_err_sys(err, WS_ERR_IO, "cannot read '%s'", entry->file);
		}
		level = status.st_size == 0 ? 0 : LEVEL;
		method = status.st_size == 0 ? ZIP_CM_STORE : ZIP_CM_DEFLATE;
		source = entry->file ? zip_source_file(archive, entry->file, 0, -1)
							 : zip_source_buffer(archive, entry->bytes, entry->len, 0);
	}
	if (!source) {
		return ws_err_set(
			err, WS_ERR_IO, "cannot read '%s': %s", entry->name, zip_strerror(archive));
	}
	zip_int64_t added = zip_file_add(archive, entry->name, source, ZIP_FL_ENC_UTF_8);
	zip_uint64_t index = (zip_uint64_t)added;
	if (added < 0) {
		zip_source_free(source);
	}
	return (added >= 0 && zip_set_file_compression(archive, index, method, level) == 0
			   && zip_file_set_dostime(archive, index, at.time, at.date, 0) == 0
			   && zip_file_set_external_attributes(archive, index, 0, ZIP_OPSYS_UNIX, attributes)
				   == 0)
		|| ws_err_set(err, WS_ERR_IO, "cannot pack '%s': %s", entry->name, zip_strerror(archive));
}

static zip_t *
open_archive(const char *path, int flags, const char *what, struct ws_err *err)
{
	int code;
	zip_t *archive = zip_open(path, flags, &code);
	if (!archive) {
		zip_error_t why;
		zip_error_init_with_code(&why, code);
		ws_err_set(err, WS_ERR_IO, "cannot %s '%s': %s", what, path, zip_error_strerror(&why));
		zip_error_fini(&why);
	}
	return archive;
}

bool
ws_pack_write(const char *path, const char *from, const struct ws_wheel_entry *entries,
	size_t count, int64_t epoch, struct ws_err *err)
{
	AUTO_ARCHIVE zip_t *other = from ? open_archive(from, ZIP_RDONLY, "read", err) : NULL;
	if (from && !other) {
		return false;
	}
	AUTO_ARCHIVE zip_t *archive = open_archive(path, ZIP_CREATE | ZIP_TRUNCATE, "make", err);
	if (!archive) {
		return false;
	}
	int64_t clamped = epoch < FIRST_DOS_TIME ? FIRST_DOS_TIME : epoch;
	time_t seconds = (time_t)(clamped > LAST_DOS_TIME ? LAST_DOS_TIME : clamped);
	struct tm tm;
	gmtime_r(&seconds, &tm);
	struct dos_time at = {
		.time = (zip_uint16_t)(tm.tm_hour << 11 | tm.tm_min << 5 | tm.tm_sec >> 1),
		.date = (zip_uint16_t)((tm.tm_year - 80) << 9 | (tm.tm_mon + 1) << 5 | tm.tm_mday),
	};
	for (size_t i = 0; i < count; i++) {
		if (!add(archive, other, &entries[i], at, err)) {
			return false;
		}
	}
	if (zip_close(archive) < 0) {
		return ws_err_set(err, WS_ERR_IO, "cannot write '%s': %s", path, zip_strerror(archive));
	}
	archive = NULL; /* closed: nothing to give up */
	return true;
}
