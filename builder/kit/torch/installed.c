/* installed.c - the torch that an interpreter would import, found without importing it: that
 * takes seconds, and fails where its CUDA libraries are not. */
#include "base/digest.h"
#include "base/fs.h"
#include "base/json.h"
#include "kit/python/details.h"
#include "kit/torch/rules.h"
#include "sys/capture.h"

/* find_spec of a top-level name runs none of its code. */
static const char question[] =
	"import importlib.util, json, os, sys\n"
	"sys.path = [p for p in sys.path if p]\n"
	"spec = importlib.util.find_spec('torch')\n"
	"places = list(spec.submodule_search_locations or []) if spec else []\n"
	"print(json.dumps({'folder': os.path.abspath(places[0]) if places else None}))\n";

/* The folder of the package; *folder is NULL when there is no torch. */
static bool
ask(const struct ws_python_kit *python, struct ws_arena *a, const char **folder, struct ws_err *err)
{
	const char *const argv[] = {python->interpreter, "-c", question, NULL};
	struct ws_capture command = {.argv = argv, .env = ws_python_env(a)};
	WS_AUTO_BUF struct ws_buf answer = {0};
	struct ws_json_doc doc;
	if (!ws_capture_run(&command, &answer, err)
		|| !ws_json_parse(
			python->interpreter, ws_buf_text(&answer), answer.len, WS_JSON_STRICT, a, &doc, err)) {
		return ws_err_wrap(err, "asking '%s' for its torch", python->interpreter);
	}
	*folder = ws_json_text(doc.root, "folder");
	return true;
}

static bool
say_none(const struct ws_python_kit *python, struct ws_err *err)
{
	const char *who = python->interpreter ? python->interpreter : python->include;
	ws_err_set(err, WS_ERR_CONFIG, "no torch is installed for '%s'", who);
	ws_err_cure(err, "install one there, name another Python,");
	return ws_err_cure(
		err, "or name a release instead of \"installed\": nothing needs to be installed");
}

static bool
find_folder(
	const struct ws_python_kit *python, struct ws_arena *a, const char **folder, struct ws_err *err)
{
	*folder = NULL;
	if (python->interpreter) {
		return ask(python, a, folder, err) && (*folder || say_none(python, err));
	}
	const char *guess = python->purelib ? ws_path_join(a, python->purelib, "torch", NULL) : NULL;
	*folder = guess && ws_fs_is_dir(guess) ? guess : NULL;
	return *folder || say_none(python, err);
}

static bool
check_headers(const char *folder, struct ws_arena *a, struct ws_err *err)
{
	if (ws_fs_exists(ws_path_join(a, folder, "include/torch/extension.h", NULL))) {
		return true;
	}
	ws_err_set(err, WS_ERR_CONFIG, "the torch in '%s' has no headers", folder);
	return ws_err_cure(err, "name a release instead of \"installed\"");
}

/* What the installer noted of all files. Its folder has the wheel's version, and that has a local label
 * on some indexes only. */
static const char *
find_record(const char *folder, const struct ws_version *version, struct ws_arena *a)
{
	const char *const names[] = {version->text, version->public_text};
	struct ws_digest digest;
	for (size_t i = 0; i < WS_LEN(names); i++) {
		const char *record = ws_arena_printf(a, "%s-%s.dist-info/RECORD", folder, names[i]);
		if (ws_digest_file(record, &digest, NULL, NULL)) {
			return ws_arena_strdup(a, digest.hex);
		}
	}
	return "";
}

bool
ws_torch_open_installed(const struct ws_facts *facts, const struct ws_python_kit *python,
	struct ws_arena *a, struct ws_torch_kit *kit, struct ws_err *err)
{
	const char *folder;
	struct ws_torch_measured m;
	WS_AUTO_BUF struct ws_buf text = {0};
	if (!find_folder(python, a, &folder, err) || !check_headers(folder, a, err)
		|| !ws_fs_read_at_most(
			ws_path_join(a, folder, "version.py", NULL), (size_t)1 << 20, &text, err)
		|| !ws_torch_measured_parse(ws_buf_str(&text), folder, a, &m, err)
		|| !ws_torch_measured_check(&m, folder, err)) {
		return false;
	}
	const char *lib = ws_path_join(a, folder, "lib", NULL);
	const char *c10 = ws_path_join(a, lib, "libc10.so", NULL);
	const char *torch_python = ws_path_join(a, lib, "libtorch_python.so", NULL);
	*kit = (struct ws_torch_kit){
		.path = folder, .wheel_sha256 = "", .record_sha256 = "", .library_path = lib};
	if (!ws_torch_measured_look(c10, torch_python, a, &m, err)
		|| !ws_torch_rules_apply(facts, &m, a, kit, err)) {
		return false;
	}
	kit->record_sha256 = find_record(folder, &kit->version, a);
	return true;
}
