#include "make/import_check.h"

#include "base/fs.h"
#include "base/json.h"
#include "make/pack.h"
#include "store/cas.h"

#define VERSION "wheelsmith.import/1"

/* -I ignores the user's environment and the current folder. Exit code 6 is a verdict; the traceback
 * is the log. */
static const char script[] = "import importlib, json, os, sys, traceback, zipfile\n"
							 "def end(verdict, text):\n"
							 "    with open('import.json', 'w') as out:\n"
							 "        json.dump({'verdict': verdict, 'text': text}, out)\n"
							 "    raise SystemExit(0)\n"
							 "def fail():\n"
							 "    traceback.print_exc()\n"
							 "    raise SystemExit(6)\n"
							 "names = sys.argv[1:]\n"
							 "zipfile.ZipFile('wheel.whl').extractall('site')\n"
							 "sys.path.insert(0, os.path.abspath('site'))\n"
							 "try:\n"
							 "    import torch\n"
							 "except BaseException as error:\n"
							 "    end('unknown', 'torch itself cannot be imported: %s' % error)\n"
							 "try:\n"
							 "    for name in names:\n"
							 "        importlib.import_module(name)\n"
							 "except ModuleNotFoundError as error:\n"
							 "    missing = (error.name or '').split('.')[0]\n"
							 "    if not missing or missing in [name.split('.')[0] for name in "
							 "os.listdir('site') + names]:\n"
							 "        fail()\n"
							 "    end('unknown', 'this Python has no module %s' % missing)\n"
							 "except Exception as error:\n"
							 "    if 'libcuda.so' in str(error) or 'NVIDIA driver' in str(error):\n"
							 "        end('unknown', 'this host has no NVIDIA driver')\n"
							 "    fail()\n"
							 "end('ok', '%s: imported by Python %s with torch %s' % (\n"
							 "    ', '.join(names), sys.version.split()[0], torch.__version__))\n";

/* The variables with which the interpreter starts, and finds libraries outside the linker's
 * folders. */
static const char *const *
environment(const struct ws_python_kit *python, struct ws_arena *a)
{
	const char **env = WS_NEW_N(a, const char *, 6);
	size_t count = 0;
	env[count++] = "HOME={work}/tmp";
	env[count++] = "LANG=C";
	for (const char *const *var = python->env; var && *var; var++) {
		if (ws_starts_with(*var, "LD_LIBRARY_PATH=")) {
			env[count++] = *var;
		}
	}
	env[count++] = "PATH=/usr/bin:/bin";
	env[count++] = "TMPDIR={work}/tmp";
	return env;
}

/* Cache only a successful import: the cause of a failure is not in the key and may be gone next
 * time. */
static bool
keep_verdicts_only(const struct ws_action *action WS_UNUSED, const char *work,
	const char *log WS_UNUSED, struct ws_arena *a, struct ws_reads *reads, struct ws_err *err)
{
	struct ws_json_doc doc;
	if (!ws_json_read(ws_path_join(a, work, "import.json", NULL), WS_JSON_STRICT, a, &doc, err)) {
		return false;
	}
	bool verdict = ws_same(ws_json_text(doc.root, "verdict"), "ok");
	reads->uncacheable = verdict ? NULL : "this host could not import it";
	return true;
}

const struct ws_action *
ws_import_action(const struct ws_import_order *order, struct ws_arena *a)
{
	static const char *const outputs[] = {"import.json"};
	const struct ws_install_check *check = &order->recipe->check;
	const char *interpreter = order->python->interpreter; /* a venv is known by its path */
	const char *const start[] = {interpreter, "-I", "-B", "-c", script};
	ws_name_list argv = {0};
	for (size_t i = 0; i < WS_LEN(start); i++) {
		*ws_vec_push(&argv, a) = start[i];
	}
	for (size_t i = 0; i < check->import_count; i++) {
		*ws_vec_push(&argv, a) = check->imports[i];
	}
	*ws_vec_push(&argv, a) = NULL;
	struct ws_action *action = WS_NEW(a, struct ws_action);
	struct ws_input *input = WS_NEW(a, struct ws_input);
	*input = (struct ws_input){.name = "wheel.whl", .from = order->pack, .output = WS_PACK_WHEEL};
	*action = (struct ws_action){
		.subject = ws_arena_printf(a, "%s %s with torch %s", order->recipe->name,
			order->recipe->version.text, order->torch->version.text),
		.group = order->group,
		.unit = ws_arena_printf(a, "%s/import", order->recipe->name),
		.stage = "import",
		.variant = "",
		.tool = {"python", interpreter,
			ws_arena_printf(a, VERSION " %s %s torch %s %s", interpreter, order->python->version,
				order->torch->version.text, order->torch->record_sha256)},
		.argv = argv.at,
		.env = environment(order->python, a),
		.inputs = input,
		.input_count = 1,
		.outputs = outputs,
		.output_count = 1,
		.find_reads = keep_verdicts_only,
		.need = {.cpus = 1, .rss_bytes = (uint64_t)1 << 30},
		.cpu_ms = 5000,
		.limits.timeout_ms = 300000,
	};
	return action;
}

const char *
ws_import_finding(
	const struct ws_store *store, const struct ws_node *node, bool *imported, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_doc doc;
	if (!ws_cas_read(store, node->result.outputs[0].hex, &text, NULL)
		|| !ws_json_parse(
			"import.json", ws_buf_text(&text), text.len, WS_JSON_STRICT, a, &doc, NULL)) {
		return NULL;
	}
	*imported = ws_same(ws_json_text(doc.root, "verdict"), "ok");
	return ws_arena_strdup(a, ws_json_text(doc.root, "text"));
}
