#include "wheelfile/label_check.h"

/* ---- the name ---- */

/* "x86_64" of "manylinux_2_28_x86_64", "any" of "any": what is behind the system and its
 * version. */
static const char *
machine_of(const char *platform)
{
	static const char *const systems[] = {"manylinux", "musllinux", "linux"};
	for (size_t i = 0; i < WS_LEN(systems); i++) {
		if (ws_starts_with(platform, systems[i])) {
			const char *rest = platform + strlen(systems[i]);
			return rest + strspn(rest, "_0123456789");
		}
	}
	return platform;
}

static bool
agrees(const struct ws_wheel_name *name, const char *tag, struct ws_arena *a)
{
	struct ws_str rest = ws_str_of(tag);
	const char *python = ws_str_copy(ws_str_cut(&rest, '-'), a);
	const char *abi = ws_str_copy(ws_str_cut(&rest, '-'), a);
	const char *machine = rest.s ? machine_of(ws_str_copy(rest, a)) : "";
	bool same = ws_same(machine, "any");
	for (size_t i = 0; i < name->platform_count; i++) {
		same = same || ws_same(machine, machine_of(name->platforms[i]));
	}
	return same && ws_is_among(python, name->pythons, name->python_count)
		&& ws_is_among(abi, name->abis, name->abi_count);
}

const char *
ws_label_check_name(
	const struct ws_wheel_name *name, const struct ws_metadata_info *metadata, struct ws_arena *a)
{
	if (!ws_same(name->distribution, metadata->package)
		|| ws_version_cmp_public(&name->version, &metadata->version) != 0) {
		return ws_arena_printf(
			a, "its METADATA is of %s %s", metadata->name, metadata->version.text);
	}
	return NULL;
}

const char *
ws_label_check_tags(
	const struct ws_wheel_name *name, const struct ws_wheel_info *wheel, struct ws_arena *a)
{
	for (size_t i = 0; i < wheel->tag_count; i++) {
		if (agrees(name, wheel->tags[i], a)) {
			return NULL;
		}
	}
	return ws_arena_printf(a, "its WHEEL has the tag '%s'", wheel->tags[0]);
}

/* ---- the place ---- */

const char *
ws_label_check_python(
	const struct ws_metadata_info *metadata, const struct ws_python_tag *python, struct ws_arena *a)
{
	const struct ws_specifiers *range =
		metadata->requires_python ? ws_specifiers_parse(metadata->requires_python, a) : NULL;
	/* Some 3.11.x is in the range: which patch release is installed is not known. */
	bool has = !range;
	for (unsigned patch = 0; patch < 100 && !has; patch++) {
		struct ws_version version;
		const char *text = ws_arena_printf(a, "%u.%u.%u", python->major, python->minor, patch);
		has = ws_version_parse(text, a, &version) && ws_specifiers_contain(range, &version, true);
	}
	return has ? NULL
			   : ws_arena_printf(a, "its METADATA asks for Python %s, which %s is not",
				   metadata->requires_python, ws_python_version_text(python, a));
}

/* "==2.5.1" of "==2.5.1+cu121". */
static const char *
without_labels(const char *specifiers, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	while (*specifiers) {
		size_t len = strcspn(specifiers, "+");
		ws_buf_add(&out, specifiers, len);
		specifiers += len;
		specifiers += strcspn(specifiers, ",");
	}
	return ws_buf_copy(&out, a);
}

const char *
ws_label_check_torch(
	const struct ws_metadata_info *metadata, const struct ws_version *torch, struct ws_arena *a)
{
	for (size_t i = 0; i < metadata->require_count; i++) {
		const struct ws_requirement *asked = &metadata->requires[i];
		if (!ws_same(asked->package, "torch") || asked->marker || asked->url) {
			continue;
		}
		const struct ws_specifiers *range = ws_specifiers_parse(
			torch->local ? asked->specifiers : without_labels(asked->specifiers, a), a);
		if (range && !ws_specifiers_contain(range, torch, true)) {
			return ws_arena_printf(a, "its METADATA asks for torch%s, which torch %s is not",
				asked->specifiers, torch->text);
		}
	}
	return NULL;
}

const char *
ws_label_check_files(
	const struct ws_metadata_info *metadata, const struct ws_zip *zip, struct ws_arena *a)
{
	/* Files of every torch release. An extension may have a library of its own beside them. */
	static const char *const files[] = {"torch/__init__.py", "torch/lib/libc10.so",
		"torch/lib/libc10_cuda.so", "torch/lib/libcaffe2_nvrtc.so", "torch/lib/libshm.so",
		"torch/lib/libtorch.so", "torch/lib/libtorch_cpu.so", "torch/lib/libtorch_cuda.so",
		"torch/lib/libtorch_cuda_linalg.so", "torch/lib/libtorch_global_deps.so",
		"torch/lib/libtorch_python.so"};
	for (size_t i = 0; i < zip->count && !ws_same(metadata->package, "torch"); i++) {
		const char *data = strstr(zip->entries[i].name, ".data/");
		const char *slash = data ? strchr(data + strlen(".data/"), '/') : NULL;
		const char *place = slash ? slash + 1 : zip->entries[i].name;
		if (ws_is_among(place, files, WS_LEN(files))) {
			return ws_arena_printf(a,
				"it brings '%s', a file of torch's own: installing it would replace torch's",
				place);
		}
	}
	return NULL;
}
