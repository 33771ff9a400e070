#include "kit/cuda/redist.h"

#include "base/fs.h"
#include "base/json.h"
#include "net/download.h"

#define NVIDIA "https://developer.download.nvidia.com/compute/cuda/redist"
#ifdef __aarch64__ /* nvcc runs on this host, whatever its target */
#define PLATFORM "linux-sbsa"
#else
#define PLATFORM "linux-x86_64"
#endif
#define LARGEST_MANIFEST ((size_t)4 << 20) /* that of 13.4.2 has 52 kB */
#define LAST_BUILD 6                       /* no release has had a higher third number than 4 */

/* ---- reading ---- */

static bool
read_component(const struct ws_json *value, const char *label, struct ws_arena *a,
	struct ws_redist_component *c)
{
	const struct ws_json *archive = ws_json_find(value, PLATFORM);
	if (archive && !ws_json_find(archive, "relative_path")) {
		/* One level of archives, by "cuda12.4" or "cuda12". */
		size_t major = strcspn(label, "."),
			   minor = label[major] ? strcspn(label + major + 1, ".") : 0;
		const struct ws_json *exact =
			ws_json_find(archive, ws_arena_printf(a, "cuda%.*s", (int)(major + 1 + minor), label));
		const char *broad = ws_arena_printf(a, "cuda%.*s", (int)major, label);
		archive = exact ? exact : ws_json_find(archive, broad);
	}
	struct ws_digest digest;
	*c = (struct ws_redist_component){
		.name = ws_arena_strdup(a, value->key),
		.version = ws_arena_strdup(a, ws_json_text(value, "version")),
		.path = ws_arena_strdup(a, ws_json_text(archive, "relative_path")),
	};
	const char *sha256 = ws_json_text(archive, "sha256");
	const char *size = ws_json_text(archive, "size");
	if (!c->version || !c->path || !ws_path_is_inside(c->path) || !sha256
		|| !ws_digest_parse(sha256, &digest)) {
		return false;
	}
	c->sha256 = ws_arena_strdup(a, digest.hex);
	return !size || ws_str_to_u64(ws_str_of(size), &c->size);
}

bool
ws_redist_parse(struct ws_str text, const char *label, struct ws_arena *a, struct ws_redist *r,
	struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *scratch = ws_arena_make();
	const char *name = ws_arena_printf(scratch, "redistrib_%s.json", label);
	struct ws_json_doc doc;
	WS_VEC(struct ws_redist_component) components = {0};
	if (!ws_json_parse(name, text.s, text.n, WS_JSON_STRICT, scratch, &doc, err)) {
		if (err) {
			err->kind = WS_ERR_FETCH; /* not a file that a person wrote here */
		}
		return false;
	}
	for (WS_JSON_EACH(value, doc.root)) {
		/* "release_date" and similar values are texts. */
		struct ws_redist_component component;
		if (ws_json_text(value, "name") && read_component(value, label, a, &component)) {
			*ws_vec_push(&components, a) = component;
		}
	}
	if (components.len == 0) {
		return ws_err_set(err, WS_ERR_FETCH, "'%s' does not name an archive for " PLATFORM, name);
	}
	*r = (struct ws_redist){
		.label = ws_arena_strdup(a, label),
		.digest = ws_digest_bytes(text.s, text.n),
		.components = components.at,
		.count = components.len,
	};
	return true;
}

const struct ws_redist_component *
ws_redist_find(const struct ws_redist *r, const char *name)
{
	for (size_t i = 0; i < r->count; i++) {
		if (strcmp(r->components[i].name, name) == 0) {
			return &r->components[i];
		}
	}
	return NULL;
}

/* ---- getting ---- */

/* The folder that is asked, without '/' at its end. */
static const char *
folder_of(const struct ws_fetch *fetch, struct ws_arena *a)
{
	const char *url = fetch->redist_url ? fetch->redist_url : NVIDIA;
	size_t len = strlen(url);
	len -= len > 0 && url[len - 1] == '/';
	return ws_arena_copy(a, url, len);
}

const char *
ws_redist_mirrored(const struct ws_fetch *fetch, const char *url, struct ws_arena *a)
{
	return ws_starts_with(url, NVIDIA "/")
		? ws_arena_printf(a, "%s/%s", folder_of(fetch, a), url + strlen(NVIDIA "/"))
		: url;
}

bool
ws_redist_get(const struct ws_fetch *fetch, const char *cuda, const char *nvcc, struct ws_arena *a,
	struct ws_redist *r, struct ws_err *err)
{
	const char *folder = folder_of(fetch, a), *dot = strchr(cuda, '.');
	bool exact = dot && strchr(dot + 1, '.'), found = false;
	for (int build = exact ? 0 : LAST_BUILD; build >= 0; build--) {
		const char *label = exact ? cuda : ws_arena_printf(a, "%s.%d", cuda, build);
		struct ws_get get = {
			.url = ws_arena_printf(a, "%s/redistrib_%s.json", folder, label),
			.limit_bytes = LARGEST_MANIFEST,
		};
		WS_AUTO_BUF struct ws_buf text = {0};
		struct ws_redist one;
		bool here = ws_get_text(fetch->http, &get, a, &text, err);
		if (!here && ws_reply_is_absent(&get.reply)) {
			continue;
		}
		if (!here || !ws_redist_parse(ws_buf_str(&text), label, a, &one, err)) {
			return false;
		}
		one.url = folder;
		const struct ws_redist_component *component = ws_redist_find(&one, "cuda_nvcc");
		bool fits = exact || !nvcc || (component && strcmp(component->version, nvcc) == 0);
		if (fits || !found) {
			*r = one;
			found = true;
		}
		if (fits) {
			return true;
		}
	}
	return found
		|| ws_err_set(err, WS_ERR_FETCH,
			"the index of NVIDIA's redistributables does not list CUDA %s", cuda);
}

static const struct ws_map_entry compiler[] = {
	{"bin/", "bin/"},
	{"nvvm/bin/", "nvvm/bin/"},
	{"nvvm/libdevice/", "nvvm/libdevice/"},
};
static const struct ws_map_entry compiler_and_headers[] = {
	{"bin/", "bin/"},
	{"nvvm/bin/", "nvvm/bin/"},
	{"nvvm/libdevice/", "nvvm/libdevice/"},
	{"include/", "include/"},
};
static const struct ws_map_entry headers[] = {{"include/", "include/"}};
static const struct ws_map_entry runtime[] = {{"include/", "include/"}, {"lib/", "lib64/"}};

/* A component that a toolkit needs. */
static const struct part {
	const char *name;
	const char *other; /* what later releases call it */
	unsigned since;    /* major from which it stands by itself */
	const struct ws_map_entry *map;
	size_t map_count;
} parts[] = {
	{"cuda_nvcc", NULL, 11, compiler_and_headers, WS_LEN(compiler_and_headers)},
	{"cuda_crt", NULL, 13, headers, WS_LEN(headers)},
	{"libnvvm", NULL, 13, compiler, WS_LEN(compiler)},
	{"cuda_cudart", NULL, 11, runtime, WS_LEN(runtime)},
	{"cuda_cccl", "cccl", 11, headers, WS_LEN(headers)},
	{"libcublas", NULL, 11, headers, WS_LEN(headers)},
	{"libcusparse", NULL, 11, headers, WS_LEN(headers)},
	{"libcusolver", NULL, 11, headers, WS_LEN(headers)},
	{"libcurand", NULL, 11, headers, WS_LEN(headers)},
};

static const char *const executables[] = {"bin/bin2c", "bin/cudafe++", "bin/fatbinary", "bin/nvcc",
	"bin/nvlink", "bin/ptxas", "nvvm/bin/cicc"};

#define PROFILE_START \
	"TOP              = $(_HERE_)/..\n\n" \
	"CICC_PATH        = $(TOP)/nvvm/bin\n" \
	"NVVMIR_LIBRARY_DIR = $(TOP)/nvvm/libdevice\n\n" \
	"LD_LIBRARY_PATH += $(TOP)/lib:\n" \
	"PATH            += $(CICC_PATH):$(_HERE_):\n\n" \
	"INCLUDES        +=  \"-I$(TOP)/include\" $(_SPACE_)\n"
#define PROFILE_END \
	"\nLIBRARIES        =+ $(_SPACE_) \"-L$(TOP)/lib64/stubs\" \"-L$(TOP)/lib64\"\n\n" \
	"CUDAFE_FLAGS    +=\nPTXAS_FLAGS     +=\n"

/* As the archive kits have it: NVIDIA's own names folders by targets/, which archives have not. */
static const struct ws_kit_file profile_12 = {"bin/nvcc.profile", PROFILE_START PROFILE_END, 0644};
static const struct ws_kit_file profile_13 = {"bin/nvcc.profile",
	PROFILE_START
	"SYSTEM_INCLUDES +=  \"-isystem\" \"$(TOP)/include/cccl\" $(_SPACE_)\n" PROFILE_END,
	0644};

static const struct ws_kit_link lib_link = {"lib", "lib64"};

static struct ws_kit_archive
archive_of(const struct ws_redist *r, const struct ws_redist_component *c,
	const struct ws_map_entry *map, size_t map_count, struct ws_arena *a)
{
	return (struct ws_kit_archive){
		.origin = WS_ORIGIN_URL,
		.format = WS_FORMAT_TAR,
		.package = c->name,
		.version = c->version,
		.file = ws_path_base(c->path),
		.pool = ws_arena_printf(a, "%s/%s", r->url, c->path),
		.sha256 = c->sha256,
		.size = c->size,
		.strip_top = true,
		.map = map,
		.map_count = map_count,
	};
}

static const struct ws_redist_component *
need(const struct ws_redist *r, const struct part *part, struct ws_err *err)
{
	const struct ws_redist_component *c = ws_redist_find(r, part->name);
	if (!c && part->other) {
		c = ws_redist_find(r, part->other);
	}
	if (!c) {
		ws_err_set(err, WS_ERR_FETCH, "the redistributables of CUDA %s have no '%s'", r->label,
			part->name);
	}
	return c;
}

bool
ws_redist_define(
	const struct ws_redist *r, struct ws_arena *a, struct ws_kit_def *def, struct ws_err *err)
{
	unsigned long major = strtoul(r->label, NULL, 10);
	WS_VEC(struct ws_kit_archive) archives = {0};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		const struct part *part = &parts[i];
		if (part->since > major) {
			continue;
		}
		const struct ws_redist_component *c = need(r, part, err);
		if (!c) {
			return false;
		}
		*ws_vec_push(&archives, a) = archive_of(r, c, part->map, part->map_count, a);
	}
	size_t whole = strcspn(r->label, ".");
	size_t minor = r->label[whole] ? 1 + strcspn(r->label + whole + 1, ".") : 0;
	const char *cuda = ws_arena_copy(a, r->label, whole + minor);
	*def = (struct ws_kit_def){
		.name = ws_arena_printf(a, "cuda-%s", cuda),
		.cuda = cuda,
		.nvcc = archives.at[0].version,
		.digest = r->digest,
		.archives = archives.at,
		.archive_count = archives.len,
		.files = major < 13 ? &profile_12 : &profile_13,
		.file_count = 1,
		.links = &lib_link,
		.link_count = 1,
		.executables = executables,
		.executable_count = WS_LEN(executables),
	};
	return true;
}

/* ---- in place of Debian's ---- */

/* Whether cuda_nvcc has it: tools that only look at code are in components of their own. */
static bool
is_there_still(const struct ws_kit_def *def, const char *path)
{
	for (size_t i = 0; i < WS_LEN(executables); i++) {
		if (strcmp(executables[i], path) == 0) {
			return true;
		}
	}
	for (size_t i = 0; i < def->archive_count; i++) {
		const struct ws_kit_archive *archive = &def->archives[i];
		for (size_t k = 0; archive->origin == WS_ORIGIN_DEBIAN && k < archive->map_count; k++) {
			if (strcmp(archive->map[k].to, path) == 0) {
				return false;
			}
		}
	}
	return true;
}

bool
ws_redist_replace(const struct ws_redist *r, const struct ws_kit_def *def, struct ws_arena *a,
	struct ws_kit_def *replaced, struct ws_err *err)
{
	const struct ws_redist_component *nvcc = need(r, &parts[0], err);
	if (!nvcc) {
		return false;
	}
	WS_VEC(struct ws_kit_archive) archives = {0};
	WS_VEC(const char *) kept = {0};
	*ws_vec_push(&archives, a) = archive_of(r, nvcc, compiler, WS_LEN(compiler), a);
	for (size_t i = 0; i < def->archive_count; i++) {
		if (def->archives[i].origin != WS_ORIGIN_DEBIAN) {
			*ws_vec_push(&archives, a) = def->archives[i];
		}
	}
	for (size_t i = 0; i < def->executable_count; i++) {
		if (is_there_still(def, def->executables[i])) {
			*ws_vec_push(&kept, a) = def->executables[i];
		}
	}
	*replaced = *def;
	replaced->nvcc = nvcc->version;
	replaced->digest = ws_digest_fields(def->digest.hex, r->digest.hex, NULL);
	replaced->archives = archives.at;
	replaced->archive_count = archives.len;
	replaced->executables = kept.at;
	replaced->executable_count = kept.len;
	return true;
}
