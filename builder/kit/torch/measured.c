/* measured.c - lines of version.py, two libraries, and the JSON that keeps what they said. */
#include "kit/torch/measured.h"

#include "base/json.h"
#include "elf/torch_abi.h"

#include <string.h>

#define SCHEMA "wheelsmith.torch-kit/1"

/* ---- version.py ---- */

/* The value of "NAME = 'text'" or "NAME: Optional[str] = 'text'"; NULL for None and other lines. */
static char *
value_of(struct ws_str line, const char *name, struct ws_arena *a)
{
	size_t len = strlen(name);
	if (line.n <= len || memcmp(line.s, name, len) != 0 || !strchr(" :=", line.s[len])) {
		return NULL;
	}
	struct ws_str rest = {line.s + len, line.n - len};
	ws_str_cut(&rest, '=');
	if (!rest.s) {
		return NULL;
	}
	rest = ws_str_trim(rest);
	if (rest.n < 2 || (rest.s[0] != '\'' && rest.s[0] != '"') || rest.s[rest.n - 1] != rest.s[0]) {
		return NULL;
	}
	return ws_arena_copy(a, rest.s + 1, rest.n - 2);
}

bool
ws_torch_measured_parse(struct ws_str version_py, const char *name, struct ws_arena *a,
	struct ws_torch_measured *m, struct ws_err *err)
{
	m->version = m->cuda = m->hip = NULL;
	for (struct ws_str rest = version_py; rest.s;) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		const char *version = value_of(line, "__version__", a);
		const char *cuda = value_of(line, "cuda", a);
		const char *hip = value_of(line, "hip", a);
		m->version = version ? version : m->version;
		m->cuda = cuda ? cuda : m->cuda;
		m->hip = hip ? hip : m->hip;
	}
	if (!m->version || (m->cuda && m->cuda[strspn(m->cuda, "0123456789.")])) {
		return ws_err_set(
			err, WS_ERR_FETCH, "version.py of '%s' has no version line; is it torch?", name);
	}
	return true;
}

/* ---- the libraries ---- */

void
ws_torch_measured_set_pybind(struct ws_torch_measured *m, const char *internals, struct ws_arena *a)
{
	static const char start[] = "__pybind11_internals_v";
	m->pybind_compiler = m->pybind_stdlib = m->pybind_build_abi = NULL;
	if (!internals || !ws_starts_with(internals, start)) {
		return;
	}
	const char *ids = internals + strlen(start);
	ids += strspn(ids, "0123456789");
	size_t len = strlen(ids);
	if (ids[0] != '_' || len < 3 || strcmp(ids + len - 2, "__") != 0) {
		return;
	}
	const char *parts[3];
	struct ws_str rest = {ids + 1, len - 3};
	for (size_t i = 0; i < WS_LEN(parts); i++) {
		struct ws_str part = ws_str_cut(&rest, '_');
		if (part.n == 0) {
			return;
		}
		parts[i] = ws_arena_printf(a, "_%.*s", WS_STR_ARGS(part));
	}
	if (!rest.s) {
		m->pybind_compiler = parts[0];
		m->pybind_stdlib = parts[1];
		m->pybind_build_abi = parts[2];
	}
}

bool
ws_torch_measured_look(const char *c10, const char *torch_python, struct ws_arena *a,
	struct ws_torch_measured *m, struct ws_err *err)
{
	WS_AUTO_ELF struct ws_elf *core = ws_elf_open(c10, a, err);
	enum ws_cxx11abi abi;
	if (!core || !ws_cxx11abi_of_c10(core, &abi, err)) {
		return false;
	}
	m->cxx11abi = abi == WS_CXX11ABI_1;
	WS_AUTO_ELF struct ws_elf *python = ws_elf_open(torch_python, a, err);
	if (!python) {
		return false;
	}
	ws_torch_measured_set_pybind(m, ws_pybind11_internals(python, a), a);
	return true;
}

bool
ws_torch_measured_check(const struct ws_torch_measured *m, const char *name, struct ws_err *err)
{
	if (m->cuda) {
		return true;
	}
	if (m->hip) {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is a torch for ROCm %s, not for CUDA", name, m->hip);
	} else {
		ws_err_set(err, WS_ERR_CONFIG, "'%s' is a torch without CUDA (%s)", name, m->version);
	}
	ws_err_cure(
		err, "extensions with kernels need a CUDA build of torch; the default index has one");
	char variant[64];
	snprintf(variant, sizeof(variant), "%.*s+cu124", (int)strcspn(m->version, "+"), m->version);
	return ws_err_cure_code(err, WS_CURE_TORCH, variant);
}

/* ---- kit.json ---- */

void
ws_torch_measured_write(const struct ws_torch_measured *m, struct ws_buf *text)
{
	struct ws_json_writer *w = ws_json_begin_object();
	ws_json_add_text(w, "schema", SCHEMA);
	ws_json_add_text(w, "version", m->version);
	ws_json_add_text(w, "cuda", m->cuda);
	ws_json_add_u64(w, "cxx11abi", (uint64_t)m->cxx11abi);
	ws_json_add_text(w, "pybind_compiler", m->pybind_compiler);
	ws_json_add_text(w, "pybind_stdlib", m->pybind_stdlib);
	ws_json_add_text(w, "pybind_build_abi", m->pybind_build_abi);
	ws_json_finish(w, WS_JSON_PRETTY, text);
}

bool
ws_torch_measured_read(
	const char *path, struct ws_arena *a, struct ws_torch_measured *m, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_read(path, WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	uint64_t abi;
	*m = (struct ws_torch_measured){
		.version = ws_json_text(doc.root, "version"),
		.cuda = ws_json_text(doc.root, "cuda"),
		.pybind_compiler = ws_json_text(doc.root, "pybind_compiler"),
		.pybind_stdlib = ws_json_text(doc.root, "pybind_stdlib"),
		.pybind_build_abi = ws_json_text(doc.root, "pybind_build_abi"),
	};
	const char *schema = ws_json_text(doc.root, "schema");
	if (!ws_same(schema, SCHEMA) || !m->version || !m->cuda
		|| !ws_json_u64(doc.root, "cxx11abi", &abi) || abi > 1) {
		return ws_err_set(err, WS_ERR_IO, "'%s' is not the description of a torch kit", path);
	}
	m->cxx11abi = (int)abi;
	return true;
}
