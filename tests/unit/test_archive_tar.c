/* test_archive_tar.c - what is written is read as it was, has the same bytes each time, and is not
 * written of a file that is another. */
#include "test.h"

#include "archive/tar.h"
#include "archive/unpack.h"
#include "base/fs.h"

#include <fcntl.h>

struct lister {
	struct ws_unpack_sink sink;
	struct ws_buf list;
};

static bool
begin(struct ws_unpack_sink *self, const struct ws_member *member, struct ws_err *err WS_UNUSED)
{
	struct lister *l = (struct lister *)self;
	ws_buf_printf(&l->list, "%s%s %s|", member->name, member->executable ? "*" : "",
		member->target ? member->target : "");
	return true;
}

static bool
take(struct ws_unpack_sink *self, const void *bytes, size_t len, struct ws_err *err WS_UNUSED)
{
	ws_buf_add(&((struct lister *)self)->list, bytes, len);
	return true;
}

static bool
end(struct ws_unpack_sink *self, struct ws_err *err WS_UNUSED)
{
	ws_buf_putc(&((struct lister *)self)->list, '\n');
	return true;
}

/* Three members into @a path; the file among them is @a from, with @a sha256. */
static bool
write_tar(
	const char *path, const char *from, const char *sha256, struct ws_arena *a, struct ws_err *err)
{
	WS_AUTO_FD int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	struct ws_tar *tar = ws_tar_begin(fd, path, a, err);
	bool written = tar && ws_tar_add(tar, "first/ünicode.json", "{}", 2, err)
		&& ws_tar_add_file(tar, "dir/run", from, true, sha256, err)
		&& ws_tar_add_link(tar, "dir/link", "run", err) && ws_tar_finish(tar, err);
	ws_tar_drop(tar);
	return written;
}

WS_TEST_ERR(members_are_read_as_they_were_written_and_have_the_same_bytes_each_time)
{
	struct ws_digest once, twice;
	const char *dir = ws_test_dir(a);
	const char *from = ws_path_join(a, dir, "from", NULL);
	const char *paths[] = {
		ws_path_join(a, dir, "a.tar.zst", NULL), ws_path_join(a, dir, "b", NULL)};
	assert_ok(ws_fs_write(from, "#!/bin/sh", 9, 0644, &err), err);
	struct ws_digest digest = ws_digest_bytes("#!/bin/sh", 9);
	assert_ok(write_tar(paths[0], from, digest.hex, a, &err), err);
	sleep(1); /* times are not in it */
	assert_ok(ws_fs_write(from, "#!/bin/sh", 9, 0600, &err), err);
	assert_ok(write_tar(paths[1], from, digest.hex, a, &err), err);
	assert_ok(ws_digest_file(paths[0], &once, NULL, &err), err);
	assert_ok(ws_digest_file(paths[1], &twice, NULL, &err), err);
	assert_string_equal(once.hex, twice.hex);
	struct lister l = {.sink = {NULL, begin, take, end}};
	assert_ok(ws_unpack(paths[0], "a.tar.zst", WS_UNPACK_TAR, NULL, &l.sink, &err), err);
	assert_string_equal(
		ws_buf_text(&l.list), "first/ünicode.json |{}\ndir/run* |#!/bin/sh\ndir/link run|");
	ws_buf_release(&l.list);
}

WS_TEST_ERR(a_file_that_is_another_is_an_error_and_so_is_a_full_disk)
{
	const char *dir = ws_test_dir(a);
	const char *from = ws_path_join(a, dir, "from", NULL);
	assert_ok(ws_fs_write(from, "other", 5, 0644, &err), err);
	struct ws_digest digest = ws_digest_bytes("these", 5);
	assert_false(write_tar(ws_path_join(a, dir, "t", NULL), from, digest.hex, a, &err));
	assert_int_equal(err.kind, WS_ERR_IO);
	assert_non_null(strstr(err.text, "is damaged"));
	digest = ws_digest_bytes("other", 5);
	assert_false(write_tar("/dev/full", from, digest.hex, a, &err));
	assert_int_equal(err.kind, WS_ERR_IO);
	assert_non_null(strstr(err.text, "No space left"));
}
