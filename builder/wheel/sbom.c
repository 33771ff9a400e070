/* sbom.c - CycloneDX 1.5 (ECMA-424), the few fields we can fill. */
#include "wheel/sbom.h"

#include "base/json.h"

#include <stdlib.h>
#include <string.h>

/* NULL before every text. */
static int
cmp_texts(const char *x, const char *y)
{
	return x && y ? strcmp(x, y) : (x != NULL) - (y != NULL);
}

static int
cmp_parts(const void *x, const void *y)
{
	const struct ws_sbom_part *left = *(const struct ws_sbom_part *const *)x;
	const struct ws_sbom_part *right = *(const struct ws_sbom_part *const *)y;
	int order;
	if ((order = cmp_texts(left->name, right->name))
		|| (order = cmp_texts(left->version, right->version))
		|| (order = cmp_texts(left->purl, right->purl))
		|| (order = cmp_texts(left->url, right->url))) {
		return order;
	}
	return cmp_texts(left->sha256, right->sha256);
}

static void
add_optional(struct ws_json_writer *w, const char *key, const char *text)
{
	if (text) {
		ws_json_add_text(w, key, text);
	}
}

static void
add_hash(struct ws_json_writer *w, const char *sha256)
{
	ws_json_open_list(w, "hashes");
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "alg", "SHA-256");
	ws_json_add_text(w, "content", sha256);
	ws_json_close(w);
	ws_json_close(w);
}

/* A file with a digest is what was distributed; without one the URL is a repository's. */
static void
add_reference(struct ws_json_writer *w, const struct ws_sbom_part *part, bool hashed)
{
	ws_json_open_list(w, "externalReferences");
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "url", part->url);
	ws_json_add_text(w, "type", hashed ? "distribution" : "vcs");
	ws_json_close(w);
	ws_json_close(w);
}

static void
add_part(struct ws_json_writer *w, const char *key, const struct ws_sbom_part *part)
{
	bool hashed = part->sha256 && part->sha256[0];
	ws_json_open_object(w, key);
	ws_json_add_text(w, "type", part->application ? "application" : "library");
	ws_json_add_text(w, "name", part->name);
	add_optional(w, "version", part->version);
	if (hashed) {
		add_hash(w, part->sha256);
	}
	add_optional(w, "purl", part->purl);
	if (part->url) {
		add_reference(w, part, hashed);
	}
	ws_json_close(w);
}

static void
add_tools(struct ws_json_writer *w)
{
	const struct ws_sbom_part self = {
		.name = "wheelsmith", .version = WS_VERSION, .application = true};
	ws_json_open_object(w, "tools");
	ws_json_open_list(w, "components");
	add_part(w, NULL, &self);
	ws_json_close(w);
	ws_json_close(w);
}

void
ws_sbom_write(const struct ws_sbom_part *wheel, const struct ws_sbom_part *parts, size_t count,
	struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_sbom_part **sorted = WS_NEW_N(a, const struct ws_sbom_part *, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &parts[i];
	}
	if (count > 0) {
		qsort(sorted, count, sizeof(*sorted), cmp_parts);
	}
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "bomFormat", "CycloneDX");
	ws_json_add_text(w, "specVersion", "1.5");
	ws_json_add_u64(w, "version", 1);
	ws_json_open_object(w, "metadata");
	add_tools(w);
	add_part(w, "component", wheel);
	ws_json_close(w);
	ws_json_open_list(w, "components");
	for (size_t i = 0; i < count; i++) {
		add_part(w, NULL, sorted[i]);
	}
	ws_json_finish(w, WS_JSON_PRETTY, out);
}
