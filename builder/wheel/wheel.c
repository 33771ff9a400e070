/* wheel.c - composes dist-info and RECORD. zip_writer.c checks names and writes bytes. */
#include "wheel/wheel.h"

#include "base/fs.h"
#include "wheel/record_file.h"
#include "wheel/zip_writer.h"

/* Licences and descriptions that are larger are something else. */
#define LARGEST_TEXT ((size_t)16 << 20)

/* One wheel in the making. */
struct making {
	const struct ws_wheel_spec *spec;
	const char *dist_info; /* "flash_attn-2.8.3+….dist-info" */
	WS_VEC(struct ws_wheel_entry) entries;
	struct ws_arena *a;
};

const char *
ws_wheel_file_name(const struct ws_wheel_spec *spec, struct ws_arena *a)
{
	return ws_arena_printf(a, "%s-%s-%s-%s-%s.whl", ws_package_file_part(spec->distribution, a),
		spec->version, ws_wheel_tag_sorted(spec->tags.python, a),
		ws_wheel_tag_sorted(spec->tags.abi, a), ws_wheel_tag_sorted(spec->tags.platform, a));
}

const char *
ws_wheel_module_path(
	const char *module, const char *suffix, const struct ws_wheel_tags *tags, struct ws_arena *a)
{
	char *path = ws_arena_strdup(a, module);
	for (char *c = path; *c; c++) {
		*c = *c == '.' ? '/' : *c;
	}
	/* EXTENSION_SUFFIXES of the interpreter, which loads ".so" for any ABI. */
	if (!suffix && strncmp(tags->abi, "cp", 2) == 0) {
		return ws_arena_printf(a, "%s.cpython-%s-%s-linux-gnu.so", path, tags->abi + 2,
			tags->platform && ws_ends_with(tags->platform, "_aarch64") ? "aarch64" : "x86_64");
	}
	const char *stable = strstr(tags->abi, "abi3t") ? ".abi3t.so" : ".abi3.so";
	const char *usual = strcmp(tags->abi, "none") == 0 ? ".so" : stable;
	return ws_arena_printf(a, "%s%s", path, suffix ? suffix : usual);
}

static void
add_text(struct making *m, const char *name, const char *text)
{
	*ws_vec_push(&m->entries, m->a) = (struct ws_wheel_entry){
		.name = ws_path_join(m->a, m->dist_info, name, NULL),
		.bytes = text,
		.len = strlen(text),
	};
}

static bool
add_product(struct making *m, struct ws_err *err)
{
	const struct ws_wheel_spec *spec = m->spec;
	for (size_t i = 0; i < spec->file_count; i++) {
		const struct ws_wheel_file *file = &spec->files[i];
		const char *top = ws_arena_copy(m->a, file->path, strcspn(file->path, "/"));
		if (ws_ends_with(top, ".dist-info")) { /* the wheel has one, which this file writes */
			return ws_err_set(err, WS_ERR_CONFIG, "'%s' is in a dist-info folder", file->path);
		}
		*ws_vec_push(&m->entries, m->a) = (struct ws_wheel_entry){
			.name = file->path, .file = file->file, .executable = file->executable};
	}
	for (size_t i = 0; i < spec->module_count; i++) {
		const struct ws_wheel_module *module = &spec->modules[i];
		*ws_vec_push(&m->entries, m->a) = (struct ws_wheel_entry){
			.name = ws_wheel_module_path(module->module, module->suffix, &spec->tags, m->a),
			.file = module->file,
			.executable = true,
		};
	}
	return true;
}

/* PEP 639: "licenses/" below dist-info, with the paths that License-File names. */
static bool
add_licenses(struct making *m, struct ws_err *err)
{
	const struct ws_metadata *metadata = m->spec->metadata;
	for (size_t i = 0; i < metadata->license_file_count; i++) {
		const char *name = metadata->license_files[i];
		if (!ws_path_is_inside(name)) {
			return ws_err_set(
				err, WS_ERR_CONFIG, "the licence file '%s' is not inside the sources", name);
		}
		const char *file = ws_path_join(m->a, m->spec->source_dir, name, NULL);
		if (!ws_fs_exists(file)) {
			return ws_err_set(err, WS_ERR_CONFIG, "the sources have no licence file '%s'", name);
		}
		*ws_vec_push(&m->entries, m->a) = (struct ws_wheel_entry){
			.name = ws_path_join(m->a, m->dist_info, "licenses", name, NULL), .file = file};
	}
	return true;
}

static bool
add_metadata(struct making *m, struct ws_err *err)
{
	const struct ws_wheel_spec *spec = m->spec;
	WS_AUTO_BUF struct ws_buf description = {0};
	WS_AUTO_BUF struct ws_buf text = {0};
	const char *name = spec->metadata->description_file;
	if (name && !ws_path_is_inside(name)) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "the description file '%s' is not inside the sources", name);
	}
	if (name
		&& !ws_fs_read_at_most(
			ws_path_join(m->a, spec->source_dir, name, NULL), LARGEST_TEXT, &description, err)) {
		return ws_err_wrap(err, "reading the description");
	}
	if (!ws_metadata_write(spec, ws_buf_str(&description), &text, err)) {
		return false;
	}
	add_text(m, "METADATA", ws_buf_copy(&text, m->a));
	return true;
}

/* Hashes every entry; RECORD becomes the last one. Installers put a wheel for any platform into
 * purelib, which must not have libraries. */
static bool
add_record(struct making *m, struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf record = {0};
	bool pure = strcmp(m->spec->tags.platform, "any") == 0;
	for (size_t i = 0; i < m->entries.len; i++) {
		const struct ws_wheel_entry *entry = &m->entries.at[i];
		if (pure && ws_ends_with(entry->name, ".so")) {
			return ws_err_set(err, WS_ERR_CONFIG,
				"'%s' is a shared object in a wheel for any platform", entry->name);
		}
		struct ws_digest digest;
		uint64_t size = entry->len;
		if (!entry->file) {
			digest = ws_digest_bytes(entry->bytes, entry->len);
		} else if (!ws_digest_file(entry->file, &digest, &size, err)) {
			return false;
		}
		ws_record_add(&record, entry->name, &digest, size);
	}
	ws_record_add(&record, ws_path_join(m->a, m->dist_info, "RECORD", NULL), NULL, 0);
	add_text(m, "RECORD", ws_buf_copy(&record, m->a));
	return true;
}

bool
ws_wheel_write(const struct ws_wheel_spec *spec, const char *path, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct making m = {.spec = spec, .a = a};
	m.dist_info = ws_arena_printf(
		a, "%s-%s.dist-info", ws_package_file_part(spec->distribution, a), spec->version);
	/* The file name must parse back to the same values. */
	struct ws_version version;
	if (!ws_version_parse(spec->version, a, &version)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a version", spec->version);
	}
	if (strcmp(version.text, spec->version) != 0) {
		return ws_err_set(err, WS_ERR_CONFIG, "the version '%s' must be written '%s'",
			spec->version, version.text);
	}
	struct ws_wheel_name name;
	const char *file_name = ws_wheel_file_name(spec, a), *why;
	if (!ws_wheel_name_parse(file_name, a, &name, &why)) {
		return ws_err_set(err, WS_ERR_CONFIG, "'%s' is not a wheel's name: %s", file_name, why);
	}
	if (!add_product(&m, err) || !add_licenses(&m, err) || !add_metadata(&m, err)) {
		return false;
	}
	WS_AUTO_BUF struct ws_buf text = {0};
	ws_wheel_file_write(&spec->tags, strcmp(spec->tags.platform, "any") == 0, &text);
	add_text(&m, "WHEEL", ws_buf_copy(&text, a));
	if (spec->facts_json) {
		add_text(&m, "wheelsmith.json", spec->facts_json);
	}
	if (spec->sbom_json) {
		add_text(&m, "sboms/wheelsmith.cdx.json", spec->sbom_json);
	}
	return ws_wheel_entries_order(m.entries.at, m.entries.len, m.dist_info, err)
		&& add_record(&m, err)
		&& ws_pack_write(path, NULL, m.entries.at, m.entries.len, spec->epoch, err);
}
