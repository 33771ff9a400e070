/* compiler_list_text.c - a compiler begins with its path; its fields follow. */
#include "kit/hostcc/compiler_list_text.h"

#define HOST "wheelsmith.host/1"

static void
write_compiler(const struct ws_hostcc *cc, struct ws_buf *text)
{
	ws_fields_add(text, cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang", cc->path);
	ws_fields_add_number(text, "major", cc->major);
	ws_fields_add(text, "version", cc->version);
	ws_fields_add(text, "machine", cc->machine);
	ws_fields_add(text, "fingerprint", cc->fingerprint);
	ws_fields_add_all(text, "search", cc->search, cc->search_count);
	ws_fields_add_all(text, "library", cc->libraries, cc->library_count);
	ws_fields_add(text, "c", cc->c_path);
	ws_fields_add(text, "c_fingerprint", cc->c_fingerprint);
	ws_fields_add_all(text, "c_search", cc->c_search, cc->c_search_count);
	for (size_t i = 0; i < cc->file_count; i++) {
		ws_fields_add_pair(text, "file", cc->files[i].digest, cc->files[i].path);
	}
}

void
ws_compiler_list_write(const struct ws_compiler_list *host, struct ws_buf *text)
{
	ws_fields_add(text, HOST, host->glibc);
	for (size_t i = 0; i < host->compilers.len; i++) {
		write_compiler(&host->compilers.at[i], text);
	}
}

/* The lists of a compiler grow while it is read. */
struct reading {
	struct ws_arena *a;
	struct ws_compiler_list *host;
	struct ws_hostcc *cc; /* NULL: before the first compiler */
	WS_VEC(const char *) search, libraries, c_search;
	WS_VEC(struct ws_host_file) files;
};

static void
end_compiler(struct reading *r)
{
	if (r->cc) {
		r->cc->search = r->search.at;
		r->cc->search_count = r->search.len;
		r->cc->libraries = r->libraries.at;
		r->cc->library_count = r->libraries.len;
		r->cc->c_search = r->c_search.at;
		r->cc->c_search_count = r->c_search.len;
		r->cc->files = r->files.at;
		r->cc->file_count = r->files.len;
	}
	*r = (struct reading){.a = r->a, .host = r->host};
}

static bool
is_whole(const struct ws_hostcc *cc)
{
	struct ws_digest digest;
	return cc->major > 0 && cc->version && cc->machine && cc->fingerprint
		&& ws_digest_parse(cc->fingerprint, &digest) && cc->search_count > 0 && cc->file_count > 0
		&& (!cc->c_path || (cc->c_fingerprint && ws_digest_parse(cc->c_fingerprint, &digest)));
}

static bool
read_file(struct reading *r, const char *value)
{
	struct ws_host_file file;
	struct ws_digest digest;
	if (!ws_fields_cut(value, r->a, &file.digest, &file.path)
		|| !ws_digest_parse(file.digest, &digest) || file.path[0] != '/') {
		return false;
	}
	*ws_vec_push(&r->files, r->a) = file;
	return true;
}

static const char **
place_of(struct reading *r, const char *kind)
{
	return strcmp(kind, "version") == 0      ? &r->cc->version
		: strcmp(kind, "machine") == 0       ? &r->cc->machine
		: strcmp(kind, "fingerprint") == 0   ? &r->cc->fingerprint
		: strcmp(kind, "c_fingerprint") == 0 ? &r->cc->c_fingerprint
		: strcmp(kind, "search") == 0        ? ws_vec_push(&r->search, r->a)
		: strcmp(kind, "library") == 0       ? ws_vec_push(&r->libraries, r->a)
		: strcmp(kind, "c_search") == 0      ? ws_vec_push(&r->c_search, r->a)
		: strcmp(kind, "c") == 0             ? &r->cc->c_path
											 : NULL;
}

static bool
read_of_compiler(struct reading *r, const char *kind, const char *value)
{
	uint64_t major;
	if (strcmp(kind, "major") == 0) {
		bool fits = ws_str_to_u64(ws_str_of(value), &major) && major < 1000;
		r->cc->major = fits ? (unsigned)major : 0;
		return fits;
	}
	if (strcmp(kind, "file") == 0) {
		return read_file(r, value);
	}
	const char **place = place_of(r, kind);
	if (place) {
		*place = value;
	}
	return place;
}

static bool
read_field(struct reading *r, const char *kind, const char *value)
{
	bool gcc = strcmp(kind, "gcc") == 0;
	if (ws_has_control(value)) {
		return false;
	}
	if (gcc || strcmp(kind, "clang") == 0) {
		end_compiler(r);
		r->cc = ws_vec_push(&r->host->compilers, r->a);
		*r->cc = (struct ws_hostcc){.kind = gcc ? WS_HOSTCC_GCC : WS_HOSTCC_CLANG, .path = value};
		return value[0] == '/';
	}
	if (r->cc) {
		return read_of_compiler(r, kind, value);
	}
	r->host->glibc = strcmp(kind, HOST) == 0 ? value : NULL;
	return r->host->glibc;
}

bool
ws_compiler_list_read(
	struct ws_str text, struct ws_arena *a, struct ws_compiler_list *host, struct ws_err *err)
{
	struct reading r = {.a = a, .host = host};
	const char *kind, *value;
	*host = (struct ws_compiler_list){0};
	bool good = true;
	while (good && ws_fields_take(&text, a, &kind, &value)) {
		good = read_field(&r, kind, value);
	}
	end_compiler(&r);
	for (size_t i = 0; i < host->compilers.len && good; i++) {
		good = is_whole(&host->compilers.at[i]);
	}
	return (good && text.n == 0 && host->glibc)
		|| ws_err_set(err, WS_ERR_BUILD, "it does not say what host it is");
}
