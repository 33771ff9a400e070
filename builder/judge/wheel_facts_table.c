/* wheel_facts_table.c - the tables of facts and of their order; the list of problems. */
#include "judge/wheel_facts.h"

const char *const ws_cxx11abi_words[] = {[WS_CXX11ABI_SILENT] = "",
	[WS_CXX11ABI_0] = "0",
	[WS_CXX11ABI_1] = "1",
	[WS_CXX11ABI_MIXED] = "mixed",
	NULL};

#define NAME struct ws_wheel_name
static const struct ws_field name_fields[] = {
	WS_VALUE("package", NAME, distribution, WS_ALWAYS, "normalised"),
	WS_VALUE("version", NAME, version.text, WS_ALWAYS, NULL),
	WS_VALUE("build", NAME, build, WS_OR_NULL, NULL),
	WS_LIST("python", NAME, pythons, python_count, WS_ALWAYS, NULL),
	WS_LIST("abi", NAME, abis, abi_count, WS_ALWAYS, NULL),
	WS_LIST("platform", NAME, platforms, platform_count, WS_ALWAYS, NULL),
};
static const struct ws_table name_table = {NULL, name_fields, WS_LEN(name_fields)};

/* "1.0" of two numbers that are neighbours. */
static const char *
pair_text(const void *value, struct ws_arena *a)
{
	const unsigned *pair = value;
	return ws_arena_printf(a, "%u.%u", pair[0], pair[1]);
}

static bool
read_pair(struct ws_reader *r, const struct ws_json *value, void *into)
{
	unsigned *pair = into;
	return ws_expect(r, value, WS_JSON_STRING, "a version")
		&& (sscanf(value->text, "%u.%u", &pair[0], &pair[1]) == 2
			|| ws_json_err(r->doc, value, r->err, "'%s' is not a version", value->text));
}

static const struct ws_type type_pair = {.name = "a version",
	.plural = "versions",
	.size = sizeof(unsigned[2]),
	.read = read_pair,
	.text = pair_text};
_Static_assert(offsetof(struct ws_wheel_info, minor) == sizeof(unsigned), "a pair");
_Static_assert(offsetof(struct ws_metadata_info, minor) == sizeof(unsigned), "a pair");

#define INFO struct ws_wheel_info
static const struct ws_field info_fields[] = {
	WS_VALUE_AS("version", INFO, major, type_pair, WS_ALWAYS, NULL),
	WS_VALUE("generator", INFO, generator, WS_OR_NULL, NULL),
	WS_VALUE("purelib", INFO, purelib, WS_ALWAYS, NULL),
	WS_VALUE("build", INFO, build, WS_OR_NULL, NULL),
	WS_LIST("tags", INFO, tags, tag_count, WS_ALWAYS, NULL),
};
static const struct ws_table info_table = {NULL, info_fields, WS_LEN(info_fields)};

static const char *
requirement_text(const void *value, struct ws_arena *a WS_UNUSED)
{
	return ((const struct ws_requirement *)value)->text;
}

static bool
read_requirement(struct ws_reader *r, const struct ws_json *value, void *into)
{
	((struct ws_requirement *)into)->text = value->text;
	return ws_expect(r, value, WS_JSON_STRING, "a requirement");
}

static const struct ws_type type_requirement = {.name = "a requirement",
	.plural = "requirements",
	.size = sizeof(struct ws_requirement),
	.read = read_requirement,
	.text = requirement_text};

#define METADATA struct ws_metadata_info
static const struct ws_field metadata_fields[] = {
	WS_VALUE_AS("metadata_version", METADATA, major, type_pair, WS_ALWAYS, NULL),
	WS_VALUE("name", METADATA, name, WS_ALWAYS, NULL),
	WS_VALUE("version", METADATA, version.text, WS_ALWAYS, NULL),
	WS_VALUE("summary", METADATA, summary, WS_OR_NULL, NULL),
	WS_VALUE("license", METADATA, license, WS_OR_NULL, NULL),
	WS_VALUE("requires_python", METADATA, requires_python, WS_OR_NULL, NULL),
	WS_LIST_AS("requires", METADATA, requires, require_count, type_requirement, WS_ALWAYS, NULL),
};
static const struct ws_table metadata_table = {NULL, metadata_fields, WS_LEN(metadata_fields)};

#define ZIP struct ws_zip_facts
static const struct ws_field zip_fields[] = {
	WS_VALUE("entries", ZIP, entry_count, WS_ALWAYS, NULL),
	WS_VALUE("bytes", ZIP, content_bytes, WS_ALWAYS, "unpacked"),
	WS_VALUE("broken", ZIP, broken, WS_OR_NULL, "how the archive is malformed; null: it is not"),
	WS_VALUE("descriptors", ZIP, descriptor_count, WS_ALWAYS,
		"entries with a data descriptor, which agrees"),
	WS_VALUE("first_descriptor", ZIP, descriptor, WS_OR_NULL, NULL),
};
static const struct ws_table zip_table = {NULL, zip_fields, WS_LEN(zip_fields)};

static const struct ws_field record_fields[] = {
	WS_VALUE("lines", struct ws_record_facts, line_count, WS_ALWAYS, NULL),
	WS_VALUE("hashed", struct ws_record_facts, hashed_count, WS_ALWAYS,
		"files whose SHA-256 was computed again and agrees"),
	WS_VALUE("outside", struct ws_record_facts, outside_count, WS_ALWAYS,
		"installed files outside of site-packages, not read"),
};
static const struct ws_table record_table = {NULL, record_fields, WS_LEN(record_fields)};

#define MODULE struct ws_module_facts
#define FLOOR(key, kind) WS_VALUE(key, MODULE, floor.asked[kind].text, WS_OR_NULL, NULL)
static const struct ws_field floor_fields[] = {
	WS_VALUE("platform", MODULE, platform, WS_OR_NULL,
		"the manylinux tag that these versions allow; null: unknown"),
	FLOOR("glibc", WS_FLOOR_GLIBC),
	FLOOR("glibcxx", WS_FLOOR_GLIBCXX),
	FLOOR("cxxabi", WS_FLOOR_CXXABI),
	FLOOR("gcc", WS_FLOOR_GCC),
	FLOOR("zlib", WS_FLOOR_ZLIB),
	FLOOR("libatomic", WS_FLOOR_LIBATOMIC),
	WS_VALUE("outside", MODULE, floor.outside, WS_OR_NULL,
		"the library or version that no manylinux policy knows"),
};
static const struct ws_table floor_table = {NULL, floor_fields, WS_LEN(floor_fields)};

static const char *const python_words[] = {"none", "stable", "version", NULL};
static const char *const torch_words[] = {"none", "stable", "c++", NULL};
static const char *const packing_words[] = {"none", "lz4", "zstd", "unknown", NULL};
static const char *const kind_words[] = {"wheel", "package", "library", NULL};
static const char *const verdict_words[] = {"sound", "wrong", NULL};

static const struct ws_field python_fields[] = {
	WS_WORD("abi", MODULE, python, python_words, WS_ALWAYS, "stable: only names of the stable ABI"),
	WS_VALUE("suffix", MODULE, python_suffix, WS_OR_NULL, "from its file name: cp311, abi3"),
	WS_VALUE("since", MODULE, python_since, WS_OR_NULL,
		"the first Python whose stable ABI has all its names"),
	WS_VALUE("names", MODULE, python_name_count, WS_ALWAYS, "names of Python's that it needs"),
	WS_LIST("outside", MODULE, python_outside, python_outside_count, WS_ALWAYS,
		"of these, the names that the stable ABI lacks"),
};
static const struct ws_table python_table = {NULL, python_fields, WS_LEN(python_fields)};

static const struct ws_field torch_fields[] = {
	WS_WORD("abi", MODULE, torch, torch_words, WS_ALWAYS,
		"stable: only C functions of torch's stable ABI"),
	WS_VALUE("since", MODULE, torch_since, WS_OR_NULL,
		"stable: the oldest known release that has all of them, or null"),
	WS_VALUE("stable_names", MODULE, torch_name_count, WS_ALWAYS, NULL),
	WS_WORD("cxx11abi", MODULE, cxx11abi, ws_cxx11abi_words, WS_OR_NULL, "null: no name shows it"),
	WS_VALUE("pybind11", MODULE, internals, WS_OR_NULL, "pybind11's internals id"),
};
static const struct ws_table torch_table = {NULL, torch_fields, WS_LEN(torch_fields)};

#define IMAGE struct ws_image_facts
static const struct ws_field image_fields[] = {
	WS_VALUE("section", IMAGE, section, WS_ALWAYS, "__nv_relfatbin: code that was not linked"),
	WS_VALUE("kind", IMAGE, kind, WS_ALWAYS, "code, ptx, lto, or an unknown number"),
	WS_VALUE("arch", IMAGE, arch, WS_ALWAYS, "9.0, 9.0a"),
	WS_VALUE("ptx_isa", IMAGE, ptx_isa, WS_OR_NULL, "version of the PTX language"),
	WS_WORD("compressed", IMAGE, packing, packing_words, WS_ALWAYS, NULL),
	WS_VALUE("images", IMAGE, count, WS_ALWAYS, NULL),
	WS_VALUE("stored_bytes", IMAGE, stored_bytes, WS_ALWAYS, NULL),
	WS_VALUE("bytes", IMAGE, raw_bytes, WS_ALWAYS, "unpacked"),
};
static const struct ws_table image_table = {NULL, image_fields, WS_LEN(image_fields)};

static const struct ws_field module_fields[] = {
	WS_VALUE("name", MODULE, name, WS_ALWAYS, "in the wheel, or the path"),
	WS_VALUE("bytes", MODULE, size_bytes, WS_ALWAYS, NULL),
	WS_VALUE("machine", MODULE, machine, WS_OR_NULL,
		"x86-64, aarch64, Mach-O, ...; null: not a library of any machine"),
	WS_VALUE("refused", MODULE, refused, WS_OR_NULL, "why the members below are unknown"),
	WS_VALUE("soname", MODULE, soname, WS_OR_NULL, NULL),
	WS_LIST("needed", MODULE, needed, needed_count, WS_ALWAYS, "DT_NEEDED"),
	WS_VALUE("rpath", MODULE, rpath, WS_OR_NULL, NULL),
	WS_VALUE("runpath", MODULE, runpath, WS_OR_NULL, NULL),
	WS_LIST("versions", MODULE, versions, version_count, WS_ALWAYS,
		"symbol versions it asks for: \"libc.so.6 GLIBC_2.14\""),
	WS_PART("floor", floor_table, WS_ALWAYS, "the newest versions asked of the system"),
	WS_PART("python", python_table, WS_ALWAYS, NULL),
	WS_PART("torch", torch_table, WS_ALWAYS, NULL),
	WS_LIST_OF("gpu_code", MODULE, images, image_count, image_table, WS_ALWAYS, NULL),
	WS_VALUE("gpu_code_refused", MODULE, gpu_refused, WS_OR_NULL, "why GPU code could not be read"),
	WS_VALUE("cpu", MODULE, cpu, WS_OR_NULL,
		"AVX, AVX-512: needed beyond plain x86-64, and never tested for; null: neither was seen"),
	WS_LIST("build_paths", MODULE, leaked, leaked_count, WS_ALWAYS,
		"paths of the machine that built it"),
};
static const struct ws_table module_table = {"a module", module_fields, WS_LEN(module_fields)};

static const struct ws_field problem_fields[] = {
	WS_VALUE("about", struct ws_wheel_problem, about, WS_ALWAYS,
		"zip, file name, WHEEL, METADATA, RECORD, names, module"),
	WS_VALUE("text", struct ws_wheel_problem, text, WS_ALWAYS, NULL),
};
static const struct ws_table problem_table = {NULL, problem_fields, WS_LEN(problem_fields)};

#define FACTS struct ws_wheel_facts
static const struct ws_field facts_fields[] = {
	WS_FIXED("schema", "wheelsmith.inspect/1"),
	WS_WORD("verdict", FACTS, verdict, verdict_words, WS_ALWAYS,
		"wrong: there is a problem; whether it loads somewhere is not judged"),
	WS_WORD("kind", FACTS, kind, kind_words, WS_ALWAYS, NULL),
	WS_VALUE("subject", FACTS, subject, WS_ALWAYS, "file name, package, or path of the library"),
	WS_VALUE("bytes", FACTS, size_bytes, WS_ALWAYS, "of the file; 0: installed"),
	WS_VALUE("read_bytes", FACTS, read_bytes, WS_ALWAYS, "of these, read"),
	WS_VALUE("whole", FACTS, is_whole, WS_ALWAYS,
		"false: only names were read; no digest was computed, no module opened"),
	WS_LIST_OF("problems", FACTS, problems.kept.at, problems.kept.len, problem_table, WS_ALWAYS,
		"the first 200"),
	WS_VALUE("problem_count", FACTS, problems.count, WS_ALWAYS, NULL),
	WS_POINTED(
		"file_name", FACTS, name, name_table, WS_IF_ANY, "absent: the name is not a wheel's"),
	WS_POINTED("wheel", FACTS, wheel, info_table, WS_IF_ANY, "WHEEL; absent: not readable"),
	WS_POINTED(
		"metadata", FACTS, metadata, metadata_table, WS_IF_ANY, "METADATA; absent: not readable"),
	WS_POINTED("zip", FACTS, zip, zip_table, WS_IF_ANY, "absent: not a wheel"),
	WS_POINTED("record", FACTS, record, record_table, WS_IF_ANY, NULL),
	WS_VALUE("platform", FACTS, platform, WS_OR_NULL,
		"the manylinux tag that all modules together allow"),
	WS_LIST_OF("modules", FACTS, modules, module_count, module_table, WS_ALWAYS, NULL),
};
const struct ws_table ws_wheel_facts_table = {NULL, facts_fields, WS_LEN(facts_fields)};

#define ORDER struct ws_facts_order
static const struct ws_field order_fields[] = {
	WS_WORD("kind", ORDER, kind, kind_words, WS_ALWAYS, NULL),
	WS_VALUE("name", ORDER, name, WS_ALWAYS, NULL),
	WS_VALUE("path", ORDER, path, WS_ALWAYS, NULL),
	WS_LIST("stable", ORDER, stable, stable_count, WS_ALWAYS, NULL),
	WS_LIST("torch", ORDER, torch, torch_count, WS_ALWAYS, NULL),
};
const struct ws_table ws_facts_order_table = {NULL, order_fields, WS_LEN(order_fields)};

/* ---- problems ---- */

void
ws_wheel_problem_add(struct ws_wheel_facts *facts, const char *about, const char *format, ...)
{
	struct ws_wheel_problems *problems = &facts->problems;
	facts->verdict = WS_FACTS_WRONG;
	if (problems->count++ >= WS_MOST_WHEEL_PROBLEMS) {
		return;
	}
	va_list values;
	va_start(values, format);
	*ws_vec_push(&problems->kept, problems->a) =
		(struct ws_wheel_problem){about, ws_arena_vprintf(problems->a, format, values)};
	va_end(values);
}
