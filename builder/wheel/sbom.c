/* sbom.c - CycloneDX 1.5 (ECMA-424), the few fields that we can fill. */
#include "base/table.h"
#include "wheel/wheel.h"

struct hash {
	const char *content;
};

static const struct ws_field hash_fields[] = {
	WS_FIXED("alg", "SHA-256"),
	WS_VALUE("content", struct hash, content, WS_ALWAYS, "of the file"),
};
static const struct ws_table hash_table = {NULL, hash_fields, WS_LEN(hash_fields)};

struct reference {
	const char *url, *type;
};

static const struct ws_field reference_fields[] = {
	WS_VALUE("url", struct reference, url, WS_ALWAYS, "of a file or a repository"),
	WS_VALUE("type", struct reference, type, WS_ALWAYS, "distribution or vcs"),
};
static const struct ws_table reference_table = {NULL, reference_fields, WS_LEN(reference_fields)};

struct component {
	const char *type, *name, *version, *purl;
	const struct hash *hashes;
	size_t hash_count;
	const struct reference *references;
	size_t reference_count;
};

static const struct ws_field component_fields[] = {
	WS_VALUE("type", struct component, type, WS_ALWAYS, "application or library"),
	WS_VALUE("name", struct component, name, WS_ALWAYS, "its name"),
	WS_VALUE("version", struct component, version, WS_IF_ANY, "a version or a commit"),
	WS_LIST_OF("hashes", struct component, hashes, hash_count, hash_table, WS_IF_ANY, "one"),
	WS_VALUE("purl", struct component, purl, WS_IF_ANY, "package URL"),
	WS_LIST_OF("externalReferences", struct component, references, reference_count, reference_table,
		WS_IF_ANY, "one"),
};
static const struct ws_table component_table = {NULL, component_fields, WS_LEN(component_fields)};

struct document {
	unsigned version;
	const struct component *tools, *wheel, *parts;
	size_t tool_count, part_count;
};

static const struct ws_field tools_fields[] = {
	WS_LIST_OF(
		"components", struct document, tools, tool_count, component_table, WS_ALWAYS, "ourselves"),
};
static const struct ws_table tools_table = {NULL, tools_fields, WS_LEN(tools_fields)};

static const struct ws_field metadata_fields[] = {
	WS_PART("tools", tools_table, WS_ALWAYS, "programs that made the wheel"),
	WS_POINTED("component", struct document, wheel, component_table, WS_ALWAYS, "the wheel"),
};
static const struct ws_table metadata_table = {NULL, metadata_fields, WS_LEN(metadata_fields)};

static const struct ws_field document_fields[] = {
	WS_FIXED("bomFormat", "CycloneDX"),
	WS_FIXED("specVersion", "1.5"),
	WS_VALUE("version", struct document, version, WS_ALWAYS, "of this document"),
	WS_PART("metadata", metadata_table, WS_ALWAYS, "the wheel and its tools"),
	WS_LIST_OF(
		"components", struct document, parts, part_count, component_table, WS_ALWAYS, "its parts"),
};
static const struct ws_table document_table = {NULL, document_fields, WS_LEN(document_fields)};

/* A file with a digest is what was distributed; without one the URL is a repository's. */
static struct component
component_of(const struct ws_sbom_part *part, struct ws_arena *a)
{
	bool hashed = part->sha256 && part->sha256[0];
	struct hash *hash = WS_NEW(a, struct hash);
	struct reference *reference = WS_NEW(a, struct reference);
	hash->content = part->sha256;
	*reference = (struct reference){part->url, hashed ? "distribution" : "vcs"};
	return (struct component){
		.type = part->application ? "application" : "library",
		.name = part->name,
		.version = part->version,
		.purl = part->purl,
		.hashes = hash,
		.hash_count = hashed,
		.references = reference,
		.reference_count = part->url != NULL,
	};
}

/* By name, version, purl, url and digest; NULL before every text. */
static int
by_part(const void *x, const void *y)
{
	const struct ws_sbom_part *left = *(const struct ws_sbom_part *const *)x;
	const struct ws_sbom_part *right = *(const struct ws_sbom_part *const *)y;
	const char *const texts[][2] = {{left->name, right->name}, {left->version, right->version},
		{left->purl, right->purl}, {left->url, right->url}, {left->sha256, right->sha256}};
	int order = 0;
	for (size_t i = 0; i < WS_LEN(texts) && !order; i++) {
		const char *one = texts[i][0], *other = texts[i][1];
		order = one && other ? strcmp(one, other) : (one != NULL) - (other != NULL);
	}
	return order;
}

void
ws_sbom_write(const struct ws_sbom_part *wheel, const struct ws_sbom_part *parts, size_t count,
	struct ws_buf *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	const struct ws_sbom_part self = {
		.name = "wheelsmith", .version = WS_VERSION, .application = true};
	const struct component tool = component_of(&self, a), subject = component_of(wheel, a);
	const struct ws_sbom_part **sorted = WS_NEW_N(a, const struct ws_sbom_part *, count);
	struct component *components = WS_NEW_N(a, struct component, count);
	for (size_t i = 0; i < count; i++) {
		sorted[i] = &parts[i];
	}
	qsort(sorted, count, sizeof(*sorted), by_part);
	for (size_t i = 0; i < count; i++) {
		components[i] = component_of(sorted[i], a);
	}
	const struct document document = {1, &tool, &subject, components, 1, count};
	ws_table_text(&document_table, &document, WS_JSON_PRETTY, out);
}
