#include "publish/folder/publish.h"

#include "base/fs.h"
#include "publish/admit.h"
#include "publish/folder/audit.h"
#include "publish/folder/snapshot.h"
#include "publish/variant_wheel.h"

#include <limits.h>

/* ---- what is there ---- */

/* Equal for names that installers or file systems may confuse. */
static const char *
spelling_of(const struct ws_wheel_name *name, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	const char *const *const sets[] = {name->pythons, name->abis, name->platforms};
	const size_t counts[] = {name->python_count, name->abi_count, name->platform_count};
	ws_buf_printf(
		&b, "%s-%s-%s", name->distribution, name->version.text, name->build ? name->build : "");
	for (size_t i = 0; i < WS_LEN(sets); i++) {
		const char **set = WS_NEW_N(a, const char *, counts[i] + 1);
		memcpy(set, sets[i], counts[i] * sizeof(*set));
		qsort(set, counts[i], sizeof(*set), ws_cmp_strings);
		for (size_t j = 0; j < counts[i]; j++) {
			ws_buf_printf(&b, "%c%s", j ? '.' : '-', set[j]);
		}
	}
	return ws_buf_copy(&b, a);
}

static void
note(struct ws_publishing *p, const struct ws_index_entry *entry)
{
	ws_map_put(&p->by_file, entry->file, entry->sha256, p->a);
	if (entry->variant) {
		ws_map_put(&p->by_file, entry->variant->file, entry->variant->sha256, p->a);
	}
	ws_map_put(&p->by_spelling, spelling_of(&entry->name, p->a), entry->file, p->a);
}

/* An object store has the lists of older snapshots but not their pages. */
static bool
refuse_lists(const struct ws_publishing *p, struct ws_err *err)
{
	return p->order->only_visible
		? ws_err_cure(err, "publish its wheels, which lie below files/, to another place")
		: ws_index_lists_cure(&p->target, err);
}

static bool
open_index(struct ws_publishing *p, struct ws_err *err)
{
	const struct ws_index_order *o = p->order;
	const struct ws_sign_key *trust = o->trust ? o->trust : o->key;
	struct ws_index_manifest manifest;
	bool make = o->source_count > 0 || o->only_visible;
	if (!ws_index_folder_open(o->target, make, o->stop, o->wait, o->self, p->a, &p->target, err)
		|| !ws_index_folder_check_current(&p->target, err)) {
		return false;
	}
	if (!p->target.current) {
		return true;
	}
	if (!ws_index_catalog_read(
			ws_index_folder_path(&p->target, "index.json"), p->a, &p->catalog, err)) {
		return refuse_lists(p, err);
	}
	for (size_t i = 0; i < p->catalog.entries.len; i++) {
		note(p, &p->catalog.entries.at[i]);
	}
	if (!ws_index_lists_read(&p->target, trust, &manifest, err)) {
		return false;
	}
	if (o->trust && !manifest.is_signed) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' is not signed", o->target);
	}
	if (!manifest.is_signed && o->key && !o->sign_unsigned) {
		ws_err_set(err, WS_ERR_PUBLISH,
			"'%s' is not signed: it never was, or somebody removed its signature", o->target);
		return ws_err_cure_code(err, WS_CURE_FIRST_SIGNATURE, NULL);
	}
	if (manifest.is_signed && !o->key) {
		ws_err_set(err, WS_ERR_PUBLISH, "'%s' is signed, and no key was given", o->target);
		return ws_err_cure(err, "give the key that signs it");
	}
	/* The next index.json is made from this one, so it must be the signed one. */
	if (!ws_index_lists_agree(&p->target, &manifest, err)) {
		return refuse_lists(p, err);
	}
	/* A signature is renewed in the second half of its lifetime. */
	const char *half = ws_index_time_text(o->now_us + (int64_t)(o->valid_s / 2) * 1000000, p->a);
	struct ws_digest id = o->key ? ws_sign_key_id(o->key) : (struct ws_digest){""};
	p->edited = o->key
		&& !(manifest.is_signed && ws_same(manifest.key, id.hex) && manifest.expires
			&& strcmp(manifest.expires, half) > 0);
	return true;
}

/* ---- wheels that come ---- */

static bool
refuse_content(const char *file, const char *there, const char *now, struct ws_err *err)
{
	ws_err_set(err, WS_ERR_PUBLISH,
		"'%s' is published with other contents (sha256 %.12s..., this one has %.12s...)", file,
		there, now);
	return ws_err_cure(err, "published files are immutable: use another version or build tag");
}

static bool
move_away(struct ws_publishing *p, const char *file, struct ws_err *err)
{
	const char *below = ws_path_join(p->a, "files", file, NULL);
	const char *path = ws_path_join(p->a, p->order->target, below, NULL);
	if (!ws_fs_exists(path) && !ws_fs_is_link(path)) {
		return true;
	}
	p->outcome->strays++;
	return ws_index_stray_move(&p->target, below, err);
}

/* An unlisted file in files/: of an abandoned snapshot, or of a publisher that died. */
static bool
check_left(struct ws_publishing *p, const struct ws_index_entry *wheel, struct ws_err *err)
{
	struct ws_digest digest;
	const char *path = ws_path_join(p->a, p->order->target, "files", wheel->file, NULL);
	if (!ws_fs_exists(path)) {
		return true;
	}
	if (!ws_digest_file(path, &digest, NULL, err)) {
		return false;
	}
	if (ws_digest_is(&digest, wheel->sha256)) {
		return true;
	}
	if (!ws_index_is_stray_file(&p->target, &p->catalog, wheel->file)) {
		return refuse_content(wheel->file, digest.hex, wheel->sha256, err);
	}
	return move_away(p, wheel->file, err);
}

/* Writes METADATA beside the wheel; not visible yet. */
static bool
stage(struct ws_publishing *p, const char *file, const struct ws_buf *metadata, struct ws_err *err)
{
	const char *name = ws_arena_printf(p->a, "%s.metadata", file);
	return ws_fs_write(ws_index_folder_new_file(&p->target, name), ws_buf_text(metadata),
		metadata->len, 0444, err);
}

static bool
add_all(struct ws_publishing *p, struct ws_index_entry *wheel,
	const struct ws_index_trusted *trusted, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf metadata = {0};
	const char *wrong = NULL;
	const char *copy = ws_index_folder_new_file(&p->target, wheel->file);
	if (!ws_index_admit(copy, trusted, p->a, wheel, &metadata, &wrong, err)) {
		return false;
	}
	if (!wrong && p->order->gpu_check_count > 0 && wheel->kind != WS_INDEX_NONE) {
		const char *why = ws_map_get(&p->checks, wheel->sha256);
		wrong = !why ? "no result of a GPU check names this wheel" : why[0] ? why : NULL;
	}
	if (wrong && !p->order->force) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s': %s", wheel->file, wrong);
	}
	if (wrong && p->order->warn) {
		p->order->warn(p->order->self, wheel->file, wrong);
	}
	if (wheel->restricted && p->order->restricted) {
		p->order->restricted(p->order->self, wheel->file, wheel->restricted);
	}
	const char *other = ws_map_get(&p->by_spelling, spelling_of(&wheel->name, p->a));
	if (other && !ws_same(other, wheel->file)) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' differs from '%s' by its spelling alone",
			wheel->file, other);
	}
	if (!stage(p, wheel->file, &metadata, err)) {
		return false;
	}
	wheel->forced = wrong;
	wheel->uploaded = p->now;
	note(p, wheel);
	*ws_vec_push(&p->catalog.entries, p->a) = *wheel;
	p->outcome->added++;
	if (wheel->kind == WS_INDEX_UNPLACED && p->outcome->unplaced++ == 0) {
		p->outcome->unplaced_file = wheel->file;
	}
	return true;
}

/* METADATA gets the longer name. */
static bool
check_length(const char *file, struct ws_err *err)
{
	size_t bytes = strlen(file) + strlen(".metadata");
	return bytes <= NAME_MAX
		|| ws_err_set(err, WS_ERR_PUBLISH,
			"'%s': its name is too long: with '.metadata' it has %zu bytes, and a file name has at "
			"most %d",
			file, bytes, NAME_MAX);
}

/* The copy is checked, so later changes of the file do not matter. All copies are synced
 * together at the end. */
static bool
copy_in(struct ws_publishing *p, const char *path, struct ws_index_entry *wheel, struct ws_err *err)
{
	struct ws_digest digest;
	if (!ws_index_folder_begin(&p->target, err)) {
		return false;
	}
	const char *copy = ws_index_folder_new_file(&p->target, wheel->file);
	if (!ws_fs_copy(path, copy, 0444, err)
		|| !ws_digest_file(copy, &digest, &wheel->size_bytes, err)) {
		return false;
	}
	if (!ws_digest_is(&digest, wheel->sha256)) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' changed while it was read", path);
	}
	return true;
}

/* A wheel that is published: restores it from the same bytes if it is damaged or missing. */
static bool
add_again(
	struct ws_publishing *p, const char *path, struct ws_index_entry *wheel, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf metadata = {0};
	struct stat given, there;
	const char *wrong;
	const char *own = ws_path_join(p->a, p->order->target, "files", wheel->file, NULL);
	const char *beside = ws_arena_printf(p->a, "%s.metadata", wheel->file);
	/* Compares only sizes. --verify finds other bytes of the same size; its cure is to remove
	 * them. */
	if (p->order->only_visible
		|| (stat(path, &given) == 0 && lstat(own, &there) == 0 && S_ISREG(there.st_mode)
			&& there.st_size == given.st_size
			&& ws_fs_exists(ws_path_join(p->a, p->order->target, "files", beside, NULL)))) {
		return true;
	}
	p->outcome->restored++;
	return move_away(p, wheel->file, err) && move_away(p, beside, err)
		&& copy_in(p, path, wheel, err)
		&& ws_index_admit(ws_index_folder_new_file(&p->target, wheel->file), NULL, p->a, wheel,
			&metadata, &wrong, err)
		&& stage(p, wheel->file, &metadata, err);
}

static bool
add_wheel(
	struct ws_publishing *p, const char *path, const struct ws_map *trusted, struct ws_err *err)
{
	struct ws_digest digest;
	struct ws_index_entry wheel = {.file = ws_path_base(path)};
	if (ws_stop_asked(p->order->stop)) {
		return ws_stop_err(p->order->stop, err);
	}
	if (!(p->order->ledger && ws_ledger_file_digest(p->order->ledger, path, &digest))
		&& !ws_digest_file(path, &digest, NULL, err)) {
		return false;
	}
	wheel.sha256 = ws_arena_strdup(p->a, digest.hex);
	const char *there = ws_map_get(&p->by_file, wheel.file);
	if (there) {
		return ws_digest_is(&digest, there) ? add_again(p, path, &wheel, err)
											: refuse_content(wheel.file, there, digest.hex, err);
	}
	const struct ws_index_trusted *v = ws_map_get(trusted, wheel.file);
	v = v && ws_digest_is(&digest, v->sha256) ? v : NULL;
	return check_length(wheel.file, err) && check_left(p, &wheel, err)
		&& copy_in(p, path, &wheel, err) && add_all(p, &wheel, v, err);
}

/* ---- wheel variants ---- */

/* Keeps a variant that a killed publisher left in files/, also if another zlib packed it to
 * other bytes. */
static bool
add_made(struct ws_publishing *p, struct ws_index_variant *v, struct ws_err *err)
{
	struct ws_digest made, left;
	uint64_t left_bytes;
	const char *copy = ws_index_folder_new_file(&p->target, v->file);
	const char *there = ws_path_join(p->a, p->order->target, "files", v->file, NULL);
	if (!ws_digest_file(copy, &made, &v->size_bytes, err)) {
		return false;
	}
	v->sha256 = ws_arena_strdup(p->a, made.hex);
	if (!ws_fs_exists(there)) {
		return true;
	}
	if (!ws_digest_file(there, &left, &left_bytes, err)) {
		return false;
	}
	if (!ws_digest_eq(&left, &made) && !ws_index_same_wheel(there, copy)) {
		return refuse_content(v->file, left.hex, made.hex, err);
	}
	v->sha256 = ws_arena_strdup(p->a, left.hex);
	v->size_bytes = left_bytes;
	return true;
}

static bool
make_variant(
	struct ws_publishing *p, struct ws_index_entry *entry, const char *label, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf metadata = {0};
	struct ws_index_variant *v = WS_NEW(p->a, struct ws_index_variant);
	*v = (struct ws_index_variant){
		.label = label, .file = ws_variant_file(entry, label, p->a), .uploaded = p->now};
	const char *copy = ws_index_folder_new_file(&p->target, v->file);
	const char *wheel = ws_index_folder_new_file(&p->target, entry->file);
	if (ws_map_get(&p->by_file, v->file)) {
		return ws_err_set(err, WS_ERR_PUBLISH,
			"'%s' would have the variant '%s', which another has", entry->file, v->file);
	}
	if (!check_length(v->file, err)) {
		return false;
	}
	if (!ws_fs_exists(wheel)) { /* it is published: compare it with the signed digest */
		struct ws_digest digest;
		wheel = ws_path_join(p->a, p->order->target, "files", entry->file, NULL);
		if (!ws_digest_file(wheel, &digest, NULL, err)) {
			return false;
		}
		if (!ws_digest_is(&digest, entry->sha256)) {
			return ws_err_set(err, WS_ERR_PUBLISH,
				"'%s' is not what was published: its sha256 is %.12s...", entry->file, digest.hex);
		}
	}
	if (!ws_variant_make(entry, wheel, copy, p->a, &metadata, err)) {
		return false;
	}
	if (chmod(copy, 0444) != 0) {
		return ws_err_sys(err, WS_ERR_PUBLISH, "cannot protect '%s'", copy);
	}
	if (!add_made(p, v, err) || !stage(p, v->file, &metadata, err)) {
		return false;
	}
	v->metadata_sha256 =
		ws_arena_strdup(p->a, ws_digest_bytes(ws_buf_text(&metadata), metadata.len).hex);
	ws_map_put(&p->by_file, v->file, v->sha256, p->a);
	entry->variant = v;
	p->outcome->variants++;
	return true;
}

/* Adds missing variants. */
static bool
add_variants(struct ws_publishing *p, struct ws_err *err)
{
	for (size_t i = 0; i < p->catalog.entries.len; i++) {
		struct ws_index_entry *entry = &p->catalog.entries.at[i];
		const char *label = entry->variant ? NULL : ws_variant_label(entry, p->a);
		if (ws_stop_asked(p->order->stop)) {
			return ws_stop_err(p->order->stop, err);
		}
		if (label
			&& (!ws_index_folder_begin(&p->target, err) || !make_variant(p, entry, label, err))) {
			return false;
		}
	}
	return true;
}

/* ---- all of it ---- */

static bool
publish(struct ws_publishing *p, struct ws_err *err)
{
	const struct ws_index_order *o = p->order;
	struct ws_index_source *sources = WS_NEW_N(p->a, struct ws_index_source, o->source_count);
	for (size_t i = 0; i < o->source_count; i++) { /* before an empty index is made */
		if (!ws_index_source_find(o->sources[i], p->a, &sources[i], err)) {
			return false;
		}
	}
	for (size_t i = 0; i < o->gpu_check_count; i++) {
		if (!ws_gpu_check_read(o->gpu_checks[i], p->a, &p->checks, err)) {
			return false;
		}
	}
	if (!open_index(p, err)) {
		return false;
	}
	for (size_t i = 0; i < o->source_count; i++) {
		struct ws_map trusted = {0};
		bool done = ws_index_trusted_read(sources[i].folder, p->a, &trusted, err);
		for (size_t j = 0; j < sources[i].count && done; j++) {
			done = add_wheel(p, sources[i].wheels[j], &trusted, err);
		}
		if (!done) {
			return false;
		}
	}
	if (o->yank && ws_index_yank(&p->catalog, o->yank, o->reason, &p->edited, p->a) == 0) {
		return ws_err_set(err, WS_ERR_PUBLISH, "'%s' has no wheel '%s'", o->target, o->yank);
	}
	if (o->title && !ws_same(p->catalog.title, o->title[0] ? o->title : NULL)) {
		p->catalog.title = o->title[0] ? o->title : NULL;
		p->edited = true;
	}
	if (o->variants && !add_variants(p, err)) {
		return false;
	}
	bool damaged = false;
	size_t strays = 0;
	/* The folder of an object store has only the lists, so it is not searched. */
	if (p->target.current && !o->only_visible
		&& !ws_index_strays_mend(&p->target, &p->catalog, &strays, &damaged, err)) {
		return false;
	}
	p->outcome->strays += strays;
	bool changes = p->outcome->added > 0 || p->outcome->restored > 0 || p->outcome->variants > 0
		|| p->edited || o->rewrite || damaged;
	if (changes && !ws_index_snapshot_write(p, err)) {
		return false;
	}
	p->outcome->wheels = p->catalog.entries.len;
	p->outcome->snapshot = p->target.current;
	return true;
}

bool
ws_index_publish(const struct ws_index_order *order, struct ws_arena *a,
	struct ws_index_outcome *outcome, struct ws_err *err)
{
	struct ws_publishing p = {.order = order, .a = a, .outcome = outcome, .target.lock_fd = -1};
	*outcome = (struct ws_index_outcome){0};
	p.now = ws_index_time_text(order->now_us, a);
	bool done = publish(&p, err);
	ws_index_folder_close(&p.target);
	return done || ws_index_err(err);
}

bool
ws_index_roll_back(const struct ws_index_order *order, const char *snapshot, struct ws_arena *a,
	struct ws_err *err)
{
	WS_AUTO_INDEX_FOLDER struct ws_index_folder t = {.lock_fd = -1};
	const char *name = snapshot[0] == '@' ? snapshot + 1 : snapshot;
	return (ws_index_folder_open(
				order->target, false, order->stop, order->wait, order->self, a, &t, err)
			   && ws_index_folder_show(&t, name, err))
		|| ws_index_err(err);
}
