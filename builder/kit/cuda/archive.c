/* archive.c - kits that are assembled: from the store, by their definition, or with NVIDIA's own
 * compiler in place of the one that Debian packaged. Putting a tree together is archive_kit.c's,
 * reading manifests redist.c's. */
#include "fetch/shared_downloads.h"
#include "kit/archive_kit.h"
#include "kit/cuda/fill.h"
#include "kit/cuda/nvcc.h"
#include "kit/cuda/parts.h"
#include "kit/cuda/redist.h"

#include <string.h>

/* A kit on its way: what made it is entered into the kit. */
struct opening {
	const struct ws_fetch *fetch;
	const struct ws_pin_cuda *pin; /* NULL: none that holds here */
	struct ws_cuda_kit *kit;
	struct ws_tree *tree;
	struct ws_arena *a;
};

static struct opening
begin(const struct ws_fetch *fetch, struct ws_arena *a, struct ws_cuda_kit *kit)
{
	struct opening o = {.fetch = fetch, .kit = kit, .tree = WS_NEW(a, struct ws_tree), .a = a};
	*kit = (struct ws_cuda_kit){0};
	return o;
}

/* ---- from the tree to the kit ---- */

static bool
check_pin(const struct opening *o, struct ws_err *err)
{
	const struct ws_pin_cuda *pin = o->pin;
	if (!pin || !pin->digest || ws_digest_is(&o->tree->digest, pin->digest)) {
		return true;
	}
	ws_err_set(err, WS_ERR_FETCH, "the kit is not the one that was locked: %s, not %s",
		o->tree->digest.hex, pin->digest);
	if (!ws_same(pin->debian, o->kit->debian)) {
		ws_err_cure(err, "its compiler came from %s then",
			ws_same(pin->debian, "mirror") ? "a Debian mirror" : "NVIDIA's redistributables");
		ws_err_cure_code(err, WS_CURE_DEBIAN_MIRROR, NULL);
	}
	return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, "cuda");
}

static bool
open_tree(struct opening *o, const char *cuda, struct ws_err *err)
{
	struct ws_cuda_kit *kit = o->kit;
	const char *version;
	kit->name = o->tree->name;
	kit->path = o->tree->path;
	kit->tree = o->tree;
	kit->missing = ws_cuda_list_missing(kit->path, cuda, o->a, &kit->missing_count);
	if (kit->missing_count > 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the assembled toolkit is not complete: it lacks %s",
			kit->missing[0]);
	}
	if (!ws_nvcc_ask_release(kit->path, o->a, &version, &kit->release, err)) {
		return false;
	}
	if (strcmp(version, cuda) != 0 || !ws_version_parse(version, o->a, &kit->version)) {
		return ws_err_set(err, WS_ERR_CONFIG, "its nvcc is that of CUDA %s, not %s", version, cuda);
	}
	return ws_cuda_fill(kit, o->fetch->ledger, o->a, err);
}

static bool
find_pinned(const struct opening *o, const char *name)
{
	return o->pin && o->pin->digest
		&& ws_tree_find(o->fetch->store, name, o->pin->digest, o->a, o->tree);
}

/* ---- by a definition ---- */

static bool
uses_debian(const struct ws_kit_def *def)
{
	for (size_t i = 0; i < def->archive_count; i++) {
		if (def->archives[i].origin == WS_ORIGIN_DEBIAN) {
			return true;
		}
	}
	return false;
}

/* Under which the store remembers what took Debian's place. */
static struct ws_digest
replaced_key(const struct ws_kit_def *def)
{
	struct ws_hasher *h = ws_hasher_make();
	ws_hasher_add_field(h, "wheelsmith.replaced-kit/1");
	ws_hasher_add_field(h, def->name);
	ws_hasher_add_field(h, def->digest.hex);
	return ws_hasher_finish(h);
}

/* *err holds why it cannot be replaced; what is reported is why it had to be. */
static bool
fail_no_debian(const struct ws_err *why, struct ws_err *err)
{
	if (err) {
		char second[sizeof(err->text)];
		memcpy(second, err->text, sizeof(second));
		*err = *why;
		ws_err_cure(err, "NVIDIA's redistributables would do, but: %s", second);
	}
	return false;
}

static bool
make_replaced(
	struct opening *o, const struct ws_kit_def *def, const struct ws_err *why, struct ws_err *err)
{
	struct ws_redist redist;
	struct ws_kit_def made;
	if (!ws_redist_get(o->fetch, def->cuda, def->nvcc, o->a, &redist, err)
		|| !ws_redist_replace(&redist, def, o->a, &made, err)) {
		return fail_no_debian(why, err);
	}
	ws_events_note(o->fetch->events, "%s: NVIDIA's redistributables take its place",
		why->text[0] ? why->text : "by the lock");
	return ws_archive_kit_make(o->fetch, &made, o->a, o->tree, err) == WS_ARCHIVE_FILES_THERE
		&& ws_shared_tree_remember(o->fetch, replaced_key(def).hex, o->tree, err);
}

static bool
make_by_definition(struct opening *o, const struct ws_kit_def *def, struct ws_err *err)
{
	struct ws_err why = {0};
	bool replaces = o->pin && ws_same(o->pin->debian, "redist");
	if (!replaces) {
		switch (ws_archive_kit_make(o->fetch, def, o->a, o->tree, &why)) {
		case WS_ARCHIVE_FILES_THERE:
			return true;
		case WS_ARCHIVE_FILES_FAILED:
			if (err) {
				*err = why;
			}
			return false;
		case WS_ARCHIVE_FILES_NO_DEBIAN:
			break;
		}
	}
	o->kit->debian = "redist";
	const char *key = ws_arena_strdup(o->a, replaced_key(def).hex);
	return ws_tree_recall(o->fetch->store, key, o->a, o->tree)
		|| ws_shared_tree_get(o->fetch, key, o->a, o->tree) || make_replaced(o, def, &why, err);
}

bool
ws_cuda_open_archive(const struct ws_fetch *fetch, const struct ws_kit_def *def,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct opening o = begin(fetch, a, kit);
	if (pin && pin->definition && ws_digest_is(&def->digest, pin->definition)) {
		o.pin = pin;
	}
	kit->how = "archive";
	kit->definition = ws_arena_strdup(a, def->digest.hex);
	kit->debian = uses_debian(def) ? "mirror" : NULL;
	bool fine = true;
	if (find_pinned(&o, def->name)) {
		kit->debian = o.pin->debian;
	} else {
		fine = make_by_definition(&o, def, err) && check_pin(&o, err);
	}
	return (fine && open_tree(&o, def->cuda, err)) || ws_err_wrap(err, "kit '%s'", def->name);
}

/* ---- by a manifest ---- */

static bool
make_redist(struct opening *o, const char *cuda, struct ws_err *err)
{
	struct ws_redist redist;
	struct ws_kit_def def;
	if (!ws_redist_get(o->fetch, cuda, NULL, o->a, &redist, err)) {
		return false;
	}
	o->kit->definition = ws_arena_strdup(o->a, redist.digest.hex);
	if (o->pin && o->pin->definition && !ws_digest_is(&redist.digest, o->pin->definition)) {
		ws_err_set(err, WS_ERR_FETCH,
			"redistrib_%s.json is not the one that was locked: sha256 %s, not %s", redist.label,
			redist.digest.hex, o->pin->definition);
		return ws_err_cure_code(err, WS_CURE_LOCK_UPDATE, "cuda");
	}
	return ws_redist_define(&redist, o->a, &def, err)
		&& ws_archive_kit_make(o->fetch, &def, o->a, o->tree, err) == WS_ARCHIVE_FILES_THERE
		&& check_pin(o, err);
}

bool
ws_cuda_open_redist(const struct ws_fetch *fetch, const struct ws_version *version,
	const struct ws_pin_cuda *pin, struct ws_arena *a, struct ws_cuda_kit *kit, struct ws_err *err)
{
	struct opening o = begin(fetch, a, kit);
	const char *cuda = version->text;
	o.pin = pin && ws_same(pin->how, "redist") ? pin : NULL;
	kit->how = "redist";
	kit->definition = o.pin ? o.pin->definition : NULL;
	const char *minor = ws_version_minor(version, a);
	const char *name = ws_arena_printf(a, "cuda-%s", minor);
	bool fine = find_pinned(&o, name) || make_redist(&o, cuda, err);
	return (fine && open_tree(&o, minor, err))
		|| ws_err_wrap(err, "redistributables of CUDA %s", cuda);
}
