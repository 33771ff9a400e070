/* missing.c - whose names begin how, and what the two ABIs of strings do to a name. */
#include "verify/missing.h"

#include "base/buf.h"
#include "elf/demangle.h"
#include "elf/exports.h"

#include <ctype.h>
#include <string.h>

#define MOST_TWINS 64 /* enough to know the reason; each is compared with every export */

/* Longer prefixes first. "cu" and a capital is the driver's: see family_of. An unread library excuses
 * names of its own families and no others: torch always brings some that nobody has read. */
static const struct family {
	const char *prefix, *stem;
	bool cuda;
} families[] = {
	{"cublasLt", "libcublasLt", true},
	{"cublas", "libcublas", true},
	{"cudnn", "libcudnn", true},
	{"cufft", "libcufft", true},
	{"cuFile", "libcufile", true},
	{"curand", "libcurand", true},
	{"cusolver", "libcusolver", true},
	{"cusparseLt", "libcusparseLt", true},
	{"cusparse", "libcusparse", true},
	{"cupti", "libcupti", true},
	{"nccl", "libnccl", true},
	{"nvrtc", "libnvrtc", true},
	{"nvJitLink", "libnvJitLink", true},
	{"nvtx", "libnvToolsExt", true},
	{"nvshmem", "libnvshmem_host", true},
	{"nvshmem", "libtorch_nvshmem", true},
	{"nvml", "libnvidia-ml", true},
	{"__cuda", "libcudart", true},
	{"cuda", "libcudart", true},
	{"GOMP_", "libgomp", false},
	{"GOACC_", "libgomp", false},
	{"omp_", "libgomp", false},
	{"_Z11libshm_init", "libshm", false},
	{"_ZN21THManagedMapAllocator", "libshm", false},
	{"_ZTI21THManagedMapAllocator", "libshm", false},
	{"_ZTV21THManagedMapAllocator", "libshm", false},
	{"_ZN25THManagedMapAllocatorInit", "libshm", false},
};
static const struct family driver = {"cu", "libcuda", true};

static const struct family *
family_of(const char *name)
{
	for (size_t i = 0; i < WS_LEN(families); i++) {
		if (ws_starts_with(name, families[i].prefix)) {
			return &families[i];
		}
	}
	return ws_starts_with(name, "cu") && isupper((unsigned char)name[2]) ? &driver : NULL;
}

bool
ws_library_is_of(const char *library, const char *stem)
{
	/* A copy in a repaired wheel has a hash in its name: libgomp-a34b3233.so.1,
	 * libcudart.41118559.so.12. */
	size_t len = strlen(stem);
	return ws_starts_with(library, stem) && (library[len] == '-' || library[len] == '.');
}

bool
ws_library_is_cuda(const char *name)
{
	for (size_t i = 0; i < WS_LEN(families); i++) {
		if (families[i].cuda && ws_library_is_of(name, families[i].stem)) {
			return true;
		}
	}
	return ws_library_is_of(name, driver.stem);
}

static bool
is_of_torch(const char *name)
{
	return ws_is_torch_name(name) || ws_starts_with(name, "THP")
		|| ws_starts_with(name, "aoti_torch_");
}

static bool
is_unread(const struct ws_known_library *library)
{
	return library->visible && !library->elf && !library->listed;
}

/* The visible library of that stem; NULL: there is none. */
static const struct ws_known_library *
visible_of(const struct ws_closure *c, const char *stem)
{
	for (size_t i = 0; i < c->libraries.len; i++) {
		if (c->libraries.at[i].visible && ws_library_is_of(c->libraries.at[i].name, stem)) {
			return &c->libraries.at[i];
		}
	}
	return NULL;
}

/* The library, visible and unread, that may have that name; NULL: there is none. */
static const char *
excuse_of(const char *name, const struct family *family, const struct ws_closure *c)
{
	const struct family *end = families + WS_LEN(families);
	const struct ws_known_library *library = visible_of(c, family->stem);
	if (library && is_unread(library)) {
		return library->name;
	}
	/* Two libraries can be of one family. */
	bool more = family != &driver && family + 1 < end && ws_starts_with(name, family[1].prefix);
	return more ? excuse_of(name, family + 1, c) : NULL;
}

/* The first library that is visible and unread and begins so; NULL: there is none. */
static const char *
unread_of(const struct ws_closure *c, const char *prefix)
{
	for (size_t i = 0; i < c->libraries.len; i++) {
		const struct ws_known_library *library = &c->libraries.at[i];
		if (is_unread(library) && ws_starts_with(library->name, prefix)) {
			return library->name;
		}
	}
	return NULL;
}

/* A library of torch's that nobody has read: where there is no list of them. */
static const char *
unread_torch(const struct ws_closure *c)
{
	const char *name = unread_of(c, "libtorch");
	return name ? name : unread_of(c, "libc10");
}

static bool
explain(struct ws_missing *missing, enum ws_missing_reason reason, const char *library)
{
	missing->reason = reason;
	missing->library = library;
	missing->verdict = WS_VERDICT_FAILS;
	return true;
}

static bool
trust(struct ws_missing *missing, const char *library)
{
	missing->library = library;
	return false;
}

static bool
explain_family(struct ws_missing *missing, const struct family *family, const struct ws_closure *c)
{
	const struct ws_known_library *library = visible_of(c, family->stem);
	const char *excuse = excuse_of(missing->name, family, c);
	if (excuse) {
		return trust(missing, excuse);
	}
	if (library) {
		return explain(missing, WS_MISSING_CUDA, library->name);
	}
	return family == &driver ? explain(missing, WS_MISSING_DRIVER, family->stem)
							 : explain(missing, WS_MISSING_CUDA, family->stem);
}

static bool
explain_python(
	struct ws_missing *missing, const struct ws_closure *c, const struct ws_surroundings *around)
{
	const char *unread = unread_of(c, "libpython");
	if (unread || around->global_count == 0) {
		return trust(missing, unread ? unread : "Python");
	}
	return explain(missing, WS_MISSING_PYTHON, NULL);
}

bool
ws_missing_explain(struct ws_missing *missing, const struct ws_closure *c,
	const struct ws_surroundings *around, struct ws_arena *a)
{
	missing->text = ws_demangle_short(missing->name, a);
	if (ws_starts_with(missing->name, "Py") || ws_starts_with(missing->name, "_Py")) {
		return explain_python(missing, c, around);
	}
	const char *unread = around->exports ? NULL : unread_torch(c);
	if (is_of_torch(missing->name) && (around->exports || unread)) {
		return unread ? trust(missing, unread) : explain(missing, WS_MISSING_TORCH, NULL);
	}
	const struct family *family = family_of(missing->name);
	return family ? explain_family(missing, family, c) : explain(missing, WS_MISSING_OTHER, NULL);
}

/* The readable text with what differs between the two ABIs taken out. */
static const char *
without_abi(const char *text, struct ws_arena *a)
{
	static const char *const marks[] = {"__cxx11::", "[abi:cxx11]"};
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*text) {
		size_t skip = 0;
		for (size_t i = 0; i < WS_LEN(marks); i++) {
			skip = ws_starts_with(text, marks[i]) ? strlen(marks[i]) : skip;
		}
		if (skip == 0) {
			ws_buf_putc(&out, *text++);
		}
		text += skip;
	}
	return ws_buf_copy(&out, a);
}

/*
 * How much of a mangled name both ABIs agree on: what stands before its first string, and before
 * the end of its first nested name, where "B5cxx11" may be put for what it returns.
 */
static size_t
agreed_length(const char *name)
{
	static const char *const ends[] = {"NSt7__cxx11", "B5cxx11", "Ss", "E"};
	size_t least = strlen(name);
	for (size_t i = 0; i < WS_LEN(ends); i++) {
		const char *found = strstr(name, ends[i]);
		if (found && (size_t)(found - name) < least) {
			least = (size_t)(found - name);
		}
	}
	return least;
}

/* A missing name that may have a twin. */
struct twin {
	struct ws_missing *missing;
	size_t agreed;
	const char *text;
};

static void
compare_twins(const char *exported, const struct twin *twins, size_t count,
	struct ws_arena *scratch, struct ws_arena *a)
{
	const char *text = NULL;
	for (size_t i = 0; i < count; i++) {
		struct ws_missing *missing = twins[i].missing;
		if (strncmp(exported, missing->name, twins[i].agreed) != 0) {
			continue;
		}
		text = text ? text : without_abi(ws_demangle_short(exported, scratch), scratch);
		if (strcmp(text, twins[i].text) == 0) {
			missing->twin = ws_arena_strdup(a, exported);
			missing->reason = WS_MISSING_ABI;
		}
	}
}

bool
ws_missing_find_twins(struct ws_missing *missing, size_t count,
	const struct ws_surroundings *around, struct ws_arena *a, struct ws_err *err)
{
	WS_VEC(struct twin) twins = {0};
	for (size_t i = 0; i < count && twins.len < MOST_TWINS; i++) {
		if (missing[i].reason == WS_MISSING_TORCH) {
			*ws_vec_push(&twins, a) = (struct twin){
				&missing[i], agreed_length(missing[i].name), without_abi(missing[i].text, a)};
		}
	}
	if (twins.len == 0) {
		return true;
	}
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	WS_AUTO_ARENA struct ws_arena *texts = ws_arena_make();
	WS_AUTO_EXPORTS struct ws_exports *list =
		ws_exports_open(around->exports, around->python, scratch, err);
	struct ws_export line = {0};
	while (list && ws_exports_next(list, &line, err)) {
		if (line.kind == WS_EXPORT_END) {
			return true;
		}
		if (line.kind == WS_EXPORT_NAME) {
			struct ws_arena_mark mark = ws_arena_mark(texts);
			compare_twins(line.text, twins.at, twins.len, texts, a);
			ws_arena_rewind(texts, mark);
		}
	}
	return false;
}
