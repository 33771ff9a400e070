/* facts_json.c - member by member. */
#include "base/json.h"
#include "inspect/facts.h"
#include "model/arch.h"

static void
write_name(struct ws_json_writer *w, const struct ws_wheel_name *name)
{
	ws_json_open_object(w, "file_name");
	ws_json_add_text(w, "package", name->distribution);
	ws_json_add_text(w, "version", name->version.text);
	ws_json_add_text(w, "build", name->build);
	ws_json_add_texts(w, "python", name->pythons, name->python_count);
	ws_json_add_texts(w, "abi", name->abis, name->abi_count);
	ws_json_add_texts(w, "platform", name->platforms, name->platform_count);
	ws_json_close(w);
}

static void
write_wheel(struct ws_json_writer *w, const struct ws_wheel_info *wheel)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_json_open_object(w, "wheel");
	ws_json_add_text(w, "version", ws_arena_printf(a, "%u.%u", wheel->major, wheel->minor));
	ws_json_add_text(w, "generator", wheel->generator);
	ws_json_add_bool(w, "purelib", wheel->purelib);
	ws_json_add_text(w, "build", wheel->build);
	ws_json_add_texts(w, "tags", wheel->tags, wheel->tag_count);
	ws_json_close(w);
}

static void
write_metadata(struct ws_json_writer *w, const struct ws_metadata_info *metadata)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	ws_json_open_object(w, "metadata");
	ws_json_add_text(
		w, "metadata_version", ws_arena_printf(a, "%u.%u", metadata->major, metadata->minor));
	ws_json_add_text(w, "name", metadata->name);
	ws_json_add_text(w, "version", metadata->version.text);
	ws_json_add_text(w, "summary", metadata->summary);
	ws_json_add_text(w, "license", metadata->license);
	ws_json_add_text(w, "requires_python", metadata->requires_python);
	ws_json_open_list(w, "requires");
	for (size_t i = 0; i < metadata->require_count; i++) {
		ws_json_add_text(w, NULL, metadata->requires[i].text);
	}
	ws_json_close(w);
	ws_json_close(w);
}

static void
write_archive(struct ws_json_writer *w, const struct ws_wheel_facts *facts)
{
	bool broken = facts->broken != WS_ZIP_SOUND;
	ws_json_open_object(w, "zip");
	ws_json_add_u64(w, "entries", facts->entry_count);
	ws_json_add_u64(w, "bytes", facts->content_bytes);
	ws_json_add_text(w, "broken_rule", broken ? ws_zip_rule_name(facts->broken) : NULL);
	ws_json_add_text(w, "rule", broken ? ws_zip_rule_meaning(facts->broken) : NULL);
	ws_json_add_text(w, "broken", facts->broken_text);
	ws_json_add_u64(w, "descriptors", facts->descriptor_count);
	ws_json_add_text(w, "first_descriptor", facts->descriptor);
	ws_json_close(w);
}

static void
write_record(struct ws_json_writer *w, const struct ws_wheel_facts *facts)
{
	ws_json_open_object(w, "record");
	ws_json_add_u64(w, "lines", facts->record_count);
	ws_json_add_u64(w, "hashed", facts->hashed_count);
	ws_json_add_u64(w, "outside", facts->outside_count);
	ws_json_close(w);
}

/* ---- modules ---- */

static const char *
abi_word(enum ws_cxx11abi abi)
{
	static const char *const words[] = {NULL, "0", "1", "mixed"};
	return words[abi];
}

static void
write_floor(struct ws_json_writer *w, const struct ws_module_facts *m)
{
	static const char *const names[WS_FLOOR_KINDS] = {
		"glibc", "glibcxx", "cxxabi", "gcc", "zlib", "libatomic"};
	ws_json_open_object(w, "floor");
	ws_json_add_text(w, "platform", m->floor.machine ? ws_floor_tag(&m->floor) : NULL);
	for (size_t i = 0; i < WS_FLOOR_KINDS; i++) {
		ws_json_add_text(w, names[i], m->floor.asked[i].text);
	}
	ws_json_add_text(w, "outside", m->floor.outside);
	ws_json_close(w);
}

static void
write_python(struct ws_json_writer *w, const struct ws_module_facts *m)
{
	static const char *const words[] = {"none", "stable", "version"};
	ws_json_open_object(w, "python");
	ws_json_add_text(w, "abi", words[m->python]);
	ws_json_add_text(w, "suffix", m->python_suffix);
	ws_json_add_text(w, "since", m->python_since);
	ws_json_add_u64(w, "names", m->python_name_count);
	ws_json_add_texts(w, "outside", m->python_outside, m->python_outside_count);
	ws_json_close(w);
}

static void
write_torch(struct ws_json_writer *w, const struct ws_module_facts *m)
{
	static const char *const words[] = {"none", "stable", "c++"};
	ws_json_open_object(w, "torch");
	ws_json_add_text(w, "abi", words[m->torch]);
	ws_json_add_text(w, "since", m->torch_since);
	ws_json_add_u64(w, "stable_names", m->torch_name_count);
	ws_json_add_text(w, "cxx11abi", abi_word(m->cxx11abi));
	ws_json_add_text(w, "pybind11", m->internals);
	ws_json_close(w);
}

static const char *
kind_word(enum ws_fatbin_kind kind, struct ws_arena *a)
{
	return kind == WS_FATBIN_PTX  ? "ptx"
		: kind == WS_FATBIN_CUBIN ? "code"
		: kind == WS_FATBIN_LTO   ? "lto"
								  : ws_arena_printf(a, "%u", (unsigned)kind);
}

static void
write_image(struct ws_json_writer *w, const struct ws_image_facts *i)
{
	static const char *const packings[] = {"none", "lz4", "zstd", "unknown"};
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_arch arch = {.number = i->image.sm, .suffix = i->image.suffix};
	bool ptx = i->image.kind == WS_FATBIN_PTX;
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "section", i->section);
	ws_json_add_text(w, "kind", kind_word(i->image.kind, a));
	ws_json_add_text(w, "arch", ws_arch_text(&arch, a));
	ws_json_add_text(
		w, "ptx_isa", ptx ? ws_arena_printf(a, "%u.%u", i->image.major, i->image.minor) : NULL);
	ws_json_add_text(w, "compressed", packings[i->image.packing]);
	ws_json_add_u64(w, "images", i->count);
	ws_json_add_u64(w, "stored_bytes", i->stored_bytes);
	ws_json_add_u64(w, "bytes", i->raw_bytes);
	ws_json_close(w);
}

static void
write_module(struct ws_json_writer *w, const struct ws_module_facts *m)
{
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "name", m->name);
	ws_json_add_u64(w, "bytes", m->size_bytes);
	ws_json_add_text(w, "machine", m->machine);
	ws_json_add_text(w, "refused", m->refused);
	ws_json_add_text(w, "soname", m->soname);
	ws_json_add_texts(w, "needed", m->needed, m->needed_count);
	ws_json_add_text(w, "rpath", m->rpath);
	ws_json_add_text(w, "runpath", m->runpath);
	ws_json_add_texts(w, "versions", m->versions, m->version_count);
	write_floor(w, m);
	write_python(w, m);
	write_torch(w, m);
	ws_json_open_list(w, "gpu_code");
	for (size_t i = 0; i < m->image_count; i++) {
		write_image(w, &m->images[i]);
	}
	ws_json_close(w);
	ws_json_add_text(w, "gpu_code_refused", m->gpu_refused);
	ws_json_add_text(w, "cpu", m->cpu);
	ws_json_add_texts(w, "build_paths", m->leaked, m->leaked_count);
	ws_json_close(w);
}

/* ---- all of it ---- */

static void
write_problems(struct ws_json_writer *w, const struct ws_wheel_facts *facts)
{
	ws_json_open_list(w, "problems");
	for (size_t i = 0; i < facts->problems.kept.len; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "about", facts->problems.kept.at[i].about);
		ws_json_add_text(w, "text", facts->problems.kept.at[i].text);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_add_u64(w, "problem_count", facts->problems.count);
}

static void
write_parts(struct ws_json_writer *w, const struct ws_wheel_facts *facts)
{
	if (facts->has_name) {
		write_name(w, &facts->name);
	}
	if (facts->has_wheel) {
		write_wheel(w, &facts->wheel);
	}
	if (facts->has_metadata) {
		write_metadata(w, &facts->metadata);
	}
	if (facts->kind == WS_FACTS_WHEEL) {
		write_archive(w, facts);
	}
	if (facts->kind != WS_FACTS_LIBRARY) {
		write_record(w, facts);
	}
}

void
ws_facts_json_write(const struct ws_wheel_facts *facts, uint64_t read_bytes, struct ws_buf *out)
{
	static const char *const kinds[] = {"wheel", "package", "library"};
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", "wheelsmith.inspect/1");
	ws_json_add_text(w, "verdict", facts->problems.count == 0 ? "sound" : "wrong");
	ws_json_add_text(w, "kind", kinds[facts->kind]);
	ws_json_add_text(w, "subject", facts->subject);
	ws_json_add_u64(w, "bytes", facts->size_bytes);
	ws_json_add_u64(w, "read_bytes", read_bytes ? read_bytes : facts->size_bytes);
	ws_json_add_bool(w, "whole", facts->is_whole);
	write_problems(w, facts);
	write_parts(w, facts);
	ws_json_add_text(w, "platform", facts->platform);
	ws_json_open_list(w, "modules");
	for (size_t i = 0; i < facts->module_count; i++) {
		write_module(w, &facts->modules[i]);
	}
	ws_json_finish(w, WS_JSON_PRETTY, out);
}
