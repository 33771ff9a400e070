/* wheel_facts.c - reads the names, RECORD and members of a wheel, and collects its mistakes. */
#include "judge/wheel_facts.h"

#include "base/fs.h"
#include "wheelfile/label_check.h"
#include "wheelfile/record_check.h"

#include <fcntl.h>

#define LARGEST_TEXT ((size_t)16 << 20) /* of dist-info; descriptions of 0.3 MB exist */
#define TAIL_BYTES ((uint64_t)96 << 10) /* the directory and dist-info of most wheels */
#define UNPACKED "modules"              /* libraries, in the working folder */
#define GAP_BYTES ((uint64_t)1 << 20)   /* everything is read anyway */

struct maker {
	struct ws_arena *a;
	struct ws_wheel_facts *facts;
	bool broken; /* the archive is malformed: reading ends */
	struct ws_held_record record;
	WS_VEC(struct ws_module) libraries;
};

static struct maker
start(
	struct ws_wheel_facts *facts, enum ws_facts_kind kind, const char *subject, struct ws_arena *a)
{
	*facts = (struct ws_wheel_facts){.kind = kind,
		.subject = subject,
		.problems.a = a,
		.is_whole = kind != WS_FACTS_WHEEL,
		.zip = kind == WS_FACTS_WHEEL ? WS_NEW(a, struct ws_zip_facts) : NULL,
		.record = kind != WS_FACTS_LIBRARY ? WS_NEW(a, struct ws_record_facts) : NULL};
	return (struct maker){.a = a, .facts = facts};
}

/* ---- mistakes ---- */

/* No installer accepts the wheel. */
static void
add_damage(struct maker *m, const char *about, const char *text)
{
	ws_wheel_problem_add(m->facts, about, "%s", text);
	m->facts->damaged = m->facts->damaged ? m->facts->damaged : ws_arena_strdup(m->a, text);
}

/* A wheel that cannot be read is a problem of it; a full disk is ours. */
static bool
report_fault(struct maker *m, const char *about, const struct ws_err *err)
{
	if (err->kind == WS_ERR_FETCH) {
		add_damage(m, about, err->text);
	}
	return err->kind == WS_ERR_FETCH;
}

/* Likewise, of a fault that may be the malformed archive. */
static bool
report_zip_fault(struct maker *m, const struct ws_zip *zip, const struct ws_err *err)
{
	if (zip->is_malformed) {
		m->broken = true;
		m->facts->zip->broken = ws_arena_strdup(m->a, err->text);
	}
	return report_fault(m, "zip", err);
}

/* ---- RECORD ---- */

static void
add_wrong(void *self, const char *what)
{
	struct ws_wheel_facts *facts = ((struct maker *)self)->facts;
	ws_wheel_problem_add(facts, "RECORD", "%s", what);
	facts->changed = facts->changed ? facts->changed : what;
}

/* @text is kept by the caller until the facts are made. False when it cannot be read. */
static bool
read_record(struct maker *m, struct ws_str text, bool installed)
{
	struct ws_err err = {0};
	m->record = (struct ws_held_record){.on_wrong = add_wrong, .self = m, .a = m->a};
	bool fine = ws_held_record_read(&m->record, text, installed, &err);
	m->facts->record->line_count = m->record.lines.len;
	if (!fine) {
		report_fault(m, "RECORD", &err);
	}
	return fine;
}

/* ---- names ---- */

static void
read_file_name(struct maker *m, const char *name)
{
	const char *why;
	struct ws_wheel_name *parsed = WS_NEW(m->a, struct ws_wheel_name);
	if (ws_wheel_name_parse(name, m->a, parsed, &why)) {
		m->facts->name = parsed;
	} else {
		ws_wheel_problem_add(m->facts, "file name", "'%s' is not a wheel's: %s", name, why);
	}
}

static void
read_texts(struct maker *m, struct ws_str wheel, struct ws_str metadata)
{
	struct ws_wheel_info *info = WS_NEW(m->a, struct ws_wheel_info);
	struct ws_metadata_info *data = WS_NEW(m->a, struct ws_metadata_info);
	struct ws_err err = {0};
	if (wheel.s && ws_wheel_info_read(wheel, m->a, info, &err)) {
		m->facts->wheel = info;
	} else if (wheel.s) {
		report_fault(m, "WHEEL", &err);
	}
	if (metadata.s && ws_metadata_info_read(metadata, m->a, data, &err)) {
		m->facts->metadata = data;
	} else if (metadata.s) {
		report_fault(m, "METADATA", &err);
	}
}

/* One file of dist-info; s is NULL where there is none. False when reading ends. */
static bool
load_text(
	struct maker *m, struct ws_zip *zip, const char *name, struct ws_buf *text, struct ws_err *err)
{
	const char *path = ws_arena_printf(m->a, "%s/%s", m->facts->folder, name);
	const struct ws_zip_entry *entry = ws_zip_find(zip, path);
	if (!entry || entry->size_bytes > LARGEST_TEXT) {
		add_damage(m, name,
			ws_arena_printf(
				m->a, entry ? "'%s' is too large" : "there is no '%s' in the wheel", path));
		return true;
	}
	ws_buf_add(text, "", 0);
	if (ws_zip_load(zip, entry, LARGEST_TEXT, text, err)) {
		return true;
	}
	if (zip->is_malformed) {
		report_zip_fault(m, zip, err);
	}
	return false;
}

/* WHEEL, METADATA, RECORD's names. False when reading cannot go on; @err tells why unless it was
 * taken. */
static bool
read_dist_info(struct maker *m, struct ws_opened_wheel *w, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf wheel = {0};
	WS_AUTO_BUF struct ws_buf metadata = {0};
	struct ws_wheel_facts *f = m->facts;
	size_t count = 0;
	for (size_t i = 0; i < w->zip.count; i++) {
		const struct ws_zip_entry *entry = &w->zip.entries[i];
		if (entry->flags & WS_ZIP_FLAG_DESCRIPTOR) {
			f->zip->descriptor = f->zip->descriptor_count++ == 0 ? entry->name : f->zip->descriptor;
		}
	}
	f->zip->entry_count = w->zip.count;
	f->zip->content_bytes = w->zip.total_bytes;
	f->folder = ws_dist_info_folder(&w->zip, m->a, err);
	if (!f->folder) {
		report_fault(m, "names", err);
	} else if (!load_text(m, &w->zip, "WHEEL", &wheel, err)
		|| !load_text(m, &w->zip, "METADATA", &metadata, err)) {
		return false;
	}
	read_texts(m, ws_buf_str(&wheel), ws_buf_str(&metadata));
	f->replaces = f->metadata ? ws_label_check_files(f->metadata, &w->zip, m->a) : NULL;
	const char *const *lines = f->name
		? ws_dist_info_disagreements(f->name, f->folder, f->wheel, f->metadata, m->a, &count)
		: NULL;
	for (size_t i = 0; i < count; i++) {
		ws_wheel_problem_add(f, "names", "%s", lines[i]);
	}
	if (read_record(m, ws_buf_str(&w->record), false)) {
		ws_held_record_names(&m->record, &w->zip);
	}
	return true;
}

/* A wheel did not open: was it the wheel, or the way to it? */
static bool
report_open_fault(struct maker *m, const struct ws_zip *zip, const struct ws_err *err)
{
	bool readable = zip->by_name && !zip->is_malformed, has_record = false;
	for (size_t i = 0; readable && i < zip->count; i++) {
		has_record = has_record || ws_ends_with(zip->entries[i].name, ".dist-info/RECORD");
	}
	return zip->is_malformed ? report_zip_fault(m, zip, err)
							 : readable && !has_record && report_fault(m, "RECORD", err);
}

bool
ws_wheel_facts_get(const struct ws_fetch *fetch, const struct ws_index_file *file,
	struct ws_arena *a, struct ws_wheel_facts *facts, struct ws_err *err)
{
	struct ws_opened_wheel w;
	struct maker m = start(facts, WS_FACTS_WHEEL, file->name, a);
	read_file_name(&m, file->name);
	bool fine = ws_opened_wheel_get(fetch, file, TAIL_BYTES, a, &w, err);
	if (fine) {
		facts->size_bytes = w.zip.source->size;
		fine = read_dist_info(&m, &w, err) || m.broken;
	} else {
		fine = report_open_fault(&m, &w.zip, err);
	}
	facts->read_bytes = w.remote.wire_bytes + w.scratch_bytes;
	ws_opened_wheel_close(&w);
	return fine;
}

/* ---- members ---- */

static bool
is_elf(const void *head, size_t len)
{
	return len >= 4 && memcmp(head, "\177ELF", 4) == 0;
}

/* Hashes every member, and unpacks those that are libraries or are called so. */
struct passing {
	struct ws_zip_sink sink; /* first */
	struct maker *m;
	const struct ws_zip_entry *entry; /* the one that comes */
	struct ws_hasher *hasher;
	uint64_t bytes; /* of it so far */
	int fd;         /* -1: it is not unpacked */
};

static bool
land(struct passing *p, struct ws_err *err)
{
	struct maker *m = p->m;
	const char *path = ws_arena_printf(m->a, UNPACKED "/%zu.so", m->libraries.len);
	p->fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (p->fd < 0) {
		return ws_err_sys(err, WS_ERR_IO, "cannot create '%s'", path);
	}
	*ws_vec_push(&m->libraries, m->a) = (struct ws_module){.name = p->entry->name, .file = path};
	return true;
}

static bool
begin(struct ws_zip_sink *self, const struct ws_zip_entry *entry, struct ws_err *err)
{
	struct passing *p = (struct passing *)self;
	p->entry = entry;
	p->hasher = ws_hasher_make();
	p->bytes = 0;
	/* Also an empty file: a module that cannot be loaded is judged, not overlooked. */
	return !ws_module_is_named(entry->name) || land(p, err);
}

static bool
add(struct ws_zip_sink *self, const void *bytes, size_t len, struct ws_err *err)
{
	struct passing *p = (struct passing *)self;
	if (p->bytes == 0 && len > 0 && is_elf(bytes, len) && p->fd < 0 && !land(p, err)) {
		return false;
	}
	p->bytes += len;
	ws_hasher_add(p->hasher, bytes, len);
	return p->fd < 0 || ws_fs_write_all(p->fd, bytes, len)
		|| ws_err_sys(err, WS_ERR_IO, "cannot write to '%s'", UNPACKED);
}

static bool
end(struct ws_zip_sink *self, struct ws_err *err WS_UNUSED)
{
	struct passing *p = (struct passing *)self;
	struct ws_wheel_facts *facts = p->m->facts;
	const char *name = p->entry->name;
	struct ws_digest digest = ws_hasher_finish(p->hasher);
	bool right = ws_held_record_file(&p->m->record, name, p->bytes, &digest);
	p->hasher = NULL;
	facts->record->hashed_count += right;
	if (!right && !facts->damaged && ws_module_is_named(name)) {
		facts->damaged = ws_arena_printf(p->m->a, "'%s' does not match its RECORD", name);
	}
	if (p->fd >= 0) {
		close(ws_take_fd(&p->fd));
	}
	return true;
}

static bool
read_members(struct maker *m, struct ws_zip *zip, struct ws_err *err)
{
	const struct ws_zip_entry **entries = WS_NEW_N(m->a, const struct ws_zip_entry *, zip->count);
	for (size_t i = 0; i < zip->count; i++) {
		entries[i] = &zip->entries[i];
	}
	struct passing p = {.sink = {begin, add, end}, .m = m, .fd = -1};
	m->facts->is_whole = ws_fs_mkdirs(UNPACKED, err)
		&& ws_zip_read(zip, entries, zip->count, GAP_BYTES, &p.sink, err);
	ws_hasher_drop(p.hasher);
	if (p.fd >= 0) {
		close(ws_take_fd(&p.fd));
	}
	return m->facts->is_whole || report_zip_fault(m, zip, err);
}

static bool
read_wheel(struct maker *m, const struct ws_facts_order *order, struct ws_err *err)
{
	struct ws_opened_wheel w;
	read_file_name(m, order->name);
	if (!ws_opened_wheel_read(order->path, order->name, m->a, &w, err)) {
		return report_open_fault(m, &w.zip, err);
	}
	m->facts->size_bytes = m->facts->read_bytes = w.zip.source->size;
	bool fine = read_dist_info(m, &w, err) && read_members(m, &w.zip, err);
	ws_opened_wheel_close(&w);
	return fine || m->broken;
}

/* ---- an installed package ---- */

/* The dist-info folder of @package below @site. NULL: there is none. */
static const char *
find_installed(const char *site, const char *package, struct ws_arena *a)
{
	const char *wanted = ws_package_normal(package, a);
	WS_AUTO_DIR DIR *dir = opendir(site);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		const char *name = entry->d_name;
		const char *dash = ws_ends_with(name, ".dist-info")
			? memrchr(name, '-', strlen(name) - strlen(".dist-info"))
			: NULL;
		if (dash
			&& ws_same(
				ws_package_normal(ws_arena_copy(a, name, (size_t)(dash - name)), a), wanted)) {
			return ws_arena_strdup(a, name);
		}
	}
	return NULL;
}

static void
check_installed_file(struct maker *m, const char *site, const struct ws_record_entry *line)
{
	const char *name = ws_str_copy(line->path, m->a);
	struct ws_digest digest;
	struct ws_err err;
	uint64_t size;
	if (!ws_path_is_inside(name)) {
		m->facts->record->outside_count++;
		return;
	}
	const char *path = ws_path_join(m->a, site, name, NULL);
	char head[WS_MACHINE_BYTES];
	WS_AUTO_FD int fd = ws_fs_open_regular(path, 0, NULL, &err);
	ssize_t len = fd < 0 ? 0 : pread(fd, head, sizeof(head), 0);
	if (len > 0 && (is_elf(head, (size_t)len) || ws_module_is_named(name))) {
		*ws_vec_push(&m->libraries, m->a) = (struct ws_module){.name = name, .file = path};
	}
	if (fd < 0 || (line->digest.hex[0] && !ws_digest_file(path, &digest, &size, &err))) {
		ws_wheel_problem_add(m->facts, "RECORD", "'%s' is in RECORD and cannot be read", name);
	} else if (line->digest.hex[0]) {
		m->facts->record->hashed_count += ws_held_record_file(&m->record, name, size, &digest);
	}
}

static bool
read_package(struct maker *m, const struct ws_facts_order *order, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf wheel = {0};
	WS_AUTO_BUF struct ws_buf metadata = {0};
	WS_AUTO_BUF struct ws_buf record = {0};
	struct ws_wheel_facts *facts = m->facts;
	facts->folder = find_installed(order->path, order->name, m->a);
	if (!facts->folder) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "no package '%s' is installed in '%s'", order->name, order->path);
	}
	const char *folder = ws_path_join(m->a, order->path, facts->folder, NULL);
	struct {
		const char *name;
		struct ws_buf *text;
	} texts[] = {{"WHEEL", &wheel}, {"METADATA", &metadata}, {"RECORD", &record}};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		const char *path = ws_path_join(m->a, folder, texts[i].name, NULL);
		if (!ws_fs_read_at_most(path, (size_t)64 << 20, texts[i].text, NULL)) {
			ws_wheel_problem_add(m->facts, texts[i].name, "it cannot be read");
		}
	}
	read_texts(m, ws_buf_str(&wheel), ws_buf_str(&metadata));
	read_record(m, ws_buf_str(&record), true);
	for (size_t i = 0; i < m->record.lines.len; i++) {
		check_installed_file(m, order->path, &m->record.lines.at[i]);
	}
	return true;
}

static int
by_name(const void *x, const void *y)
{
	return strcmp(((const struct ws_module *)x)->name, ((const struct ws_module *)y)->name);
}

bool
ws_wheel_read(const struct ws_facts_order *order, struct ws_arena *a, struct ws_wheel_facts *facts,
	struct ws_err *err)
{
	struct maker m = start(facts, order->kind, order->name, a);
	bool fine = true;
	if (order->kind == WS_FACTS_LIBRARY) {
		*ws_vec_push(&m.libraries, a) =
			(struct ws_module){.name = order->name, .file = order->path};
	} else {
		fine = (order->kind == WS_FACTS_WHEEL ? read_wheel : read_package)(&m, order, err);
	}
	if (m.libraries.len > 1) {
		qsort(m.libraries.at, m.libraries.len, sizeof(*m.libraries.at), by_name);
	}
	facts->libraries = m.libraries.at;
	facts->library_count = m.libraries.len;
	return fine;
}
