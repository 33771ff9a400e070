/* gpu_check.c - the file comes from outside: its verdict counts only where all of its cases
 * agree. */
#include "publish/gpu_check.h"

#include "base/crypto.h"
#include "base/json.h"

static bool
refuse(const char *path, const char *why, struct ws_err *err)
{
	return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not a result of a GPU check: %s", path, why);
}

/* The first case that is not right; NULL: all are. */
static const char *
find_wrong(const struct ws_json *cases, struct ws_arena *a)
{
	for (WS_JSON_EACH(item, cases)) {
		const char *name = ws_json_text(item, "case");
		if (!ws_json_is_true(item, "right")) {
			return ws_arena_printf(a, "its case '%s' is wrong", name ? name : "?");
		}
	}
	return NULL;
}

/* Why it does not count as right; NULL: it does. */
static const char *
judge(const struct ws_json *root, const struct ws_json *cases, struct ws_arena *a)
{
	const char *device = ws_json_text(ws_json_find(root, "device"), "name");
	const char *problem = ws_json_text(root, "problem");
	const char *why = problem ? problem : find_wrong(cases, a);
	if (!why && !ws_same(ws_json_text(root, "verdict"), "right")) {
		why = "its verdict is not 'right'";
	}
	if (!why && cases->count == 0) {
		why = "it has no cases";
	}
	return why ? ws_arena_printf(a, "the GPU check%s%s did not pass: %s", device ? " on " : "",
			   device ? device : "", why)
			   : NULL;
}

bool
ws_gpu_check_read(const char *path, struct ws_arena *a, struct ws_map *checks, struct ws_err *err)
{
	struct ws_json_doc doc;
	struct ws_digest digest;
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	if (!ws_same(ws_json_text(doc.root, "schema"), "wheelsmith.kernels-check/1")) {
		return refuse(path, "its schema is not 'wheelsmith.kernels-check/1'", err);
	}
	const struct ws_json *cases = ws_json_find(doc.root, "cases");
	if (!cases || cases->kind != WS_JSON_ARRAY) {
		return refuse(path, "it has no list 'cases'", err);
	}
	const char *sha256 = ws_json_text(doc.root, "wheel_sha256");
	if (!sha256 || !ws_digest_parse(sha256, &digest)) {
		return refuse(path, "'wheel_sha256' does not say which wheel was checked", err);
	}
	sha256 = ws_arena_strdup(a, digest.hex);
	const char *before = ws_map_get(checks, sha256);
	if (!before || !before[0]) {
		const char *why = judge(doc.root, cases, a);
		ws_map_put(checks, sha256, why ? why : "", a);
	}
	return true;
}

const char *
ws_gpu_check_refusal(const struct ws_map *checks, const char *sha256)
{
	const char *why = ws_map_get(checks, sha256);
	return !why ? "there is no result of a GPU check of this wheel" : why[0] ? why : NULL;
}
