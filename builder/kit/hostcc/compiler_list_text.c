/* compiler_list_text.c - a compiler begins with its path; its fields follow. */
#include "kit/hostcc/compiler_list_text.h"

#define HOST "wheelsmith.host/1"

void
ws_compiler_list_write(const struct ws_compiler_list *host, struct ws_buf *text)
{
	ws_fields_add(text, HOST, host->glibc);
	for (size_t i = 0; i < host->compilers.len; i++) {
		const struct ws_hostcc *cc = &host->compilers.at[i];
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
		for (size_t k = 0; k < cc->file_count; k++) {
			ws_fields_add_pair(text, "file", cc->files[k].digest, cc->files[k].path);
		}
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

/* False: the compiler lacks a part. */
static bool
end_compiler(struct reading *r)
{
	struct ws_digest digest;
	struct ws_hostcc *cc = r->cc;
	bool whole = true;
	if (cc) {
		cc->search = r->search.at;
		cc->search_count = r->search.len;
		cc->libraries = r->libraries.at;
		cc->library_count = r->libraries.len;
		cc->c_search = r->c_search.at;
		cc->c_search_count = r->c_search.len;
		cc->files = r->files.at;
		cc->file_count = r->files.len;
		whole = cc->major > 0 && cc->version && cc->machine && cc->fingerprint
			&& ws_digest_parse(cc->fingerprint, &digest) && cc->search_count > 0
			&& cc->file_count > 0
			&& (!cc->c_path || (cc->c_fingerprint && ws_digest_parse(cc->c_fingerprint, &digest)));
	}
	*r = (struct reading){.a = r->a, .host = r->host};
	return whole;
}

static bool
read_of_compiler(struct reading *r, const char *kind, const char *value)
{
	struct ws_hostcc *cc = r->cc;
	const struct {
		const char *kind, **place;
	} texts[] = {{"version", &cc->version}, {"machine", &cc->machine}, {"c", &cc->c_path},
		{"fingerprint", &cc->fingerprint}, {"c_fingerprint", &cc->c_fingerprint}};
	for (size_t i = 0; i < WS_LEN(texts); i++) {
		if (strcmp(kind, texts[i].kind) == 0) {
			*texts[i].place = value;
			return true;
		}
	}
	if (strcmp(kind, "search") == 0) {
		*ws_vec_push(&r->search, r->a) = value;
	} else if (strcmp(kind, "library") == 0) {
		*ws_vec_push(&r->libraries, r->a) = value;
	} else if (strcmp(kind, "c_search") == 0) {
		*ws_vec_push(&r->c_search, r->a) = value;
	} else if (strcmp(kind, "file") == 0) {
		struct ws_digest digest;
		struct ws_host_file *file = ws_vec_push(&r->files, r->a);
		return ws_fields_cut(value, r->a, &file->digest, &file->path)
			&& ws_digest_parse(file->digest, &digest) && file->path[0] == '/';
	} else {
		uint64_t major;
		bool fits =
			strcmp(kind, "major") == 0 && ws_str_to_u64(ws_str_of(value), &major) && major < 1000;
		cc->major = fits ? (unsigned)major : 0;
		return fits;
	}
	return true;
}

static bool
read_field(struct reading *r, const char *kind, const char *value)
{
	bool gcc = strcmp(kind, "gcc") == 0;
	if (ws_has_control(value)) {
		return false;
	}
	if (gcc || strcmp(kind, "clang") == 0) {
		bool whole = end_compiler(r);
		r->cc = ws_vec_push(&r->host->compilers, r->a);
		*r->cc = (struct ws_hostcc){.kind = gcc ? WS_HOSTCC_GCC : WS_HOSTCC_CLANG, .path = value};
		return whole && value[0] == '/';
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
	return (good && end_compiler(&r) && text.n == 0 && host->glibc)
		|| ws_err_set(err, WS_ERR_BUILD, "it does not say what host it is");
}
