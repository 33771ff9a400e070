/* split.c - turns nvcc's commands for a stand-in into actions for a unit. */
#include "compile/split.h"

#include "base/fs.h"
#include "compile/header_reads.h"
#include "kit/cuda/parts.h"

#include <ctype.h>

void
ws_markers_anchor(struct ws_str text, struct ws_buf *out)
{
	while (text.n > 0) {
		const char *line = text.s, *end = memchr(line, '\n', text.n);
		size_t len = end ? (size_t)(end - line) + 1 : text.n, at = 2;
		while (at < len && isdigit((unsigned char)line[at])) {
			at++;
		}
		/* # 12 "NAME */
		if (len > 4 && memcmp(line, "# ", 2) == 0 && at > 2 && at + 2 < len
			&& memcmp(line + at, " \"", 2) == 0 && !strchr("/<\"", line[at + 2])) {
			ws_buf_add(out, line, at + 2);
			ws_buf_puts(out, WS_SOURCE_ROOT "/");
			ws_buf_add(out, line + at + 2, len - at - 2);
		} else {
			ws_buf_add(out, line, len);
		}
		text = (struct ws_str){line + len, text.n - len};
	}
}

/* ---- actions ---- */

/* No source has this name. */
#define STAND_IN "wheelsmith_unit"

/* The folder of nvcc's files: --keep-dir. */
#define FOLDER "tmp/"

struct split {
	struct ws_split split;
	const struct ws_target *target;
	const struct ws_unit *unit;
	const struct ws_action *whole;
	struct ws_split_words *words;
	const struct ws_store *store;
};

/* An expansion in progress. */
struct expanding {
	const struct split *split;
	const char *stem;    /* the unit's base name without its ending */
	ws_nvcc_steps steps; /* of the split's arguments */
	bool lines;          /* they write line tables */
	ws_node_list *nodes; /* one for each step */
	struct ws_arena *a;
};

/* Estimates of commands without measurements. cicc of a kernel with torch/extension.h is the
 * largest. The percentage is of the unit's CPU time for all architectures, measured with
 * causal-conv1d's backward and flash-attn's forward. */
static const struct {
	uint64_t rss_bytes;
	unsigned percent;
	bool transient; /* its files are large and cheap */
	bool reads;     /* it reads headers */
} traits[WS_NVCC_STAGES] = {
	[WS_NVCC_PREPROCESS] = {(uint64_t)384 << 20, 2, true, true},
	[WS_NVCC_CUDAFE] = {(uint64_t)768 << 20, 3, true, false},
	[WS_NVCC_CICC] = {(uint64_t)2560 << 20, 60, false, false},
	[WS_NVCC_PTXAS] = {(uint64_t)1024 << 20, 25, false, false},
	[WS_NVCC_FATBINARY] = {(uint64_t)128 << 20, 2, true, false},
	[WS_NVCC_HOST] = {(uint64_t)1536 << 20, 8, false, true},
};

/* The toolkit's program of a stage, and its token. */
static const struct {
	enum ws_cuda_part part;
	const char *token;
} tools[WS_NVCC_STAGES] = {
	[WS_NVCC_CUDAFE] = {WS_CUDA_CUDAFE, "{cudafe++}"},
	[WS_NVCC_CICC] = {WS_CUDA_CICC, "{cicc}"},
	[WS_NVCC_PTXAS] = {WS_CUDA_PTXAS, "{ptxas}"},
	[WS_NVCC_FATBINARY] = {WS_CUDA_FATBINARY, "{fatbinary}"},
};

/* cicc finds libdevice by a variable that nvcc sets. */
static const char *const cicc_env[] = {"HOME={work}/tmp", "LANG=C",
	"NVVMIR_LIBRARY_DIR={libdevice}", "PATH=/usr/bin:/bin", "SOURCE_DATE_EPOCH=315532800",
	"TMPDIR={work}/tmp", NULL};

const char *
ws_split_stand_in(const char *path, struct ws_arena *a)
{
	const char *dot = strrchr(ws_path_base(path), '.');
	return ws_arena_printf(a, STAND_IN "%s", dot ? dot : "");
}

/* ---- words ---- */

/* Replaces the stand-in's name in @a word by the unit's. */
static const char *
name_unit(const struct expanding *x, const char *word)
{
	const char *path = x->split->unit->path, *stand_in = x->split->words->stand_in;
	WS_AUTO_BUF struct ws_buf out = {0};
	for (const char *hit; (hit = strstr(word, STAND_IN));) {
		/* "src/x.cu" and seeds have the unit's folder; "tmp/x.cubin" does not. */
		bool whole = hit > word && hit[-1] == '/' && ws_starts_with(hit, stand_in)
			&& !isalnum((unsigned char)hit[strlen(stand_in)]) && !ws_starts_with(word, FOLDER);
		ws_buf_add(&out, word, (size_t)(hit - word));
		ws_buf_puts(&out, whole ? path : x->stem);
		word = hit + (whole ? strlen(stand_in) : strlen(STAND_IN));
	}
	ws_buf_puts(&out, word);
	return ws_buf_copy(&out, x->a);
}

/* The name of a step's file: without archs, except where files of several archs meet. The object
 * contains the name of the host compiler's input, which stays nvcc's; debug info may contain any
 * name. */
static const char *
name_file(const struct expanding *x, const struct ws_nvcc_step *step, const char *name)
{
	bool own = step->stage == WS_NVCC_FATBINARY
		|| (step->stage == WS_NVCC_HOST && ws_is_among(name, step->words.at, step->words.len))
		|| x->split->target->size.debug_info != WS_DEBUG_NONE;
	return name_unit(x, own ? name : ws_nvcc_without_arch(name, x->a));
}

static const char *const *
make_argv(const struct expanding *x, const struct ws_nvcc_step *step)
{
	struct ws_arena *a = x->a;
	ws_name_list argv = {0};
	bool named = false;
	ws_vec_reserve(&argv, step->words.len + 4, a);
	*ws_vec_push(&argv, a) = traits[step->stage].reads ? "{cxx}" : tools[step->stage].token;
	if (traits[step->stage].reads) {
		*ws_vec_push(&argv, a) = "-MD";
		*ws_vec_push(&argv, a) = "-MF";
		*ws_vec_push(&argv, a) = WS_COMPILE_DEPFILE;
	}
	for (size_t i = 1; i < step->words.len; i++) {
		const char *word = step->words.at[i];
		/* nvcc's own, a real path if the file exists; ours follows. */
		if (!named && ws_same(word, "--orig_src_path_name")) {
			named = true;
			i++;
			continue;
		}
		bool file = strstr(word, STAND_IN) != NULL;
		*ws_vec_push(&argv, a) = file ? name_file(x, step, word) : word;
	}
	*ws_vec_push(&argv, a) = NULL;
	return argv.at;
}

/* The arch in a command: "compute_80", "sm_80"; "" for the host. */
static const char *
arch_of(const struct expanding *x, const struct ws_nvcc_step *step)
{
	static const char define[] = "-D__CUDA_ARCH__=";
	for (size_t i = 1; i < step->words.len; i++) {
		const char *word = step->words.at[i];
		if (step->stage == WS_NVCC_CICC && ws_same(word, "-arch") && i + 1 < step->words.len) {
			return step->words.at[i + 1];
		}
		if (step->stage == WS_NVCC_PTXAS && ws_starts_with(word, "-arch=")) {
			return word + strlen("-arch=");
		}
		if (step->stage == WS_NVCC_PREPROCESS && ws_starts_with(word, define)) {
			return ws_arena_printf(x->a, "compute_%.*s", (int)strlen(word + strlen(define)) - 1,
				word + strlen(define));
		}
	}
	return "";
}

/* ---- actions ---- */

/* For the action that preprocesses text for cicc. */
static bool
anchor_markers(const struct ws_action *action, const char *work, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_AUTO_BUF struct ws_buf text = {0}, anchored = {0};
	const char *path = ws_path_join(a, work, action->outputs[0], NULL);
	if (!ws_fs_read(path, &text, err)) {
		return false;
	}
	ws_markers_anchor(ws_buf_str(&text), &anchored);
	return ws_fs_write(path, ws_buf_text(&anchored), anchored.len, 0644, err);
}

/* Fills what depends on the program of a stage. */
static void
fill_program(const struct expanding *x, enum ws_nvcc_stage stage, struct ws_action *part)
{
	const struct ws_action *whole = x->split->whole;
	const struct ws_cuda_kit *cuda = x->split->target->cuda;
	const struct ws_hostcc *cxx = x->split->target->cxx;
	struct ws_token *tokens = WS_NEW_N(x->a, struct ws_token, 2);
	part->tokens = tokens;
	part->token_count = 1;
	if (traits[stage].reads) {
		/* A part that reads headers has the unit's folders; the preprocessor's seed is the
		 * source. */
		tokens[0] = (struct ws_token){"{cxx}", cxx->path};
		part->tool = ws_cxx_tool(cxx);
		part->host_files = cxx->files;
		part->host_file_count = cxx->file_count;
		part->platform = cxx->platform;
		part->mounts = whole->mounts;
		part->mount_count = whole->mount_count;
		part->search = cxx->search;
		part->search_count = cxx->search_count;
		part->find_reads = ws_headers_reads;
		part->seeds = stage == WS_NVCC_PREPROCESS ? whole->seeds : NULL;
		part->seed_count = stage == WS_NVCC_PREPROCESS ? whole->seed_count : 0;
		return;
	}
	struct ws_host_file *files = WS_NEW_N(x->a, struct ws_host_file, 2);
	const char *program = ws_cuda_part_find(cuda->path, tools[stage].part, x->a);
	tokens[0] = (struct ws_token){tools[stage].token, program};
	files[0] = (struct ws_host_file){program, cuda->digests[tools[stage].part]};
	if (stage == WS_NVCC_CICC) {
		const char *libdevice = ws_cuda_part_find(cuda->path, WS_CUDA_LIBDEVICE, x->a);
		tokens[part->token_count++] =
			(struct ws_token){"{libdevice}", ws_path_dir(x->a, libdevice)};
		files[1] = (struct ws_host_file){libdevice, cuda->digests[WS_CUDA_LIBDEVICE]};
	}
	/* The fingerprint covers the program and, for cicc, libdevice, which becomes part of its
	 * output. */
	struct ws_digest digest = ws_digest_fields(files[0].digest, files[1].digest, NULL);
	part->tool = (struct ws_tool){
		ws_nvcc_stage_words[stage], tools[stage].token, ws_arena_strdup(x->a, digest.hex)};
	part->tool_files = files;
	part->tool_file_count = cuda->tree ? part->token_count : 0;
}

static void
fill_files(const struct expanding *x, const struct ws_nvcc_step *step, struct ws_action *part)
{
	struct ws_input *inputs = WS_NEW_N(x->a, struct ws_input, step->inputs.len + 1);
	const char **outputs = WS_NEW_N(x->a, const char *, step->outputs.len + 1);
	for (size_t i = 0; i < step->inputs.len; i++) {
		const struct ws_nvcc_file *file = &step->inputs.at[i];
		const struct ws_nvcc_step *maker = &x->steps.at[file->maker];
		inputs[i] = (struct ws_input){
			.name = name_file(x, step, file->name), .from = x->nodes->at[file->maker]};
		while (!ws_same(maker->outputs.at[inputs[i].output], file->name)) {
			inputs[i].output++;
		}
	}
	for (size_t i = 0; i < step->outputs.len; i++) {
		outputs[i] = name_file(x, step, step->outputs.at[i]);
	}
	part->inputs = inputs;
	part->input_count = step->inputs.len;
	part->outputs = outputs;
	part->output_count = step->outputs.len;
}

/* Without a seed nvcc generates a random name that all parts share, so the step that generates
 * it must never be rerun alone. */
static bool
generates_name(const struct ws_nvcc_step *step)
{
	return ws_is_among("--gen_module_id_file", step->words.at, step->words.len)
		&& !ws_is_among("--frandom-seed", step->words.at, step->words.len);
}

static const struct ws_action *
make_part(const struct expanding *x, size_t index)
{
	const struct ws_nvcc_step *step = &x->steps.at[index];
	const struct ws_action *whole = x->split->whole;
	const char *stage = ws_nvcc_stage_words[step->stage], *arch = arch_of(x, step);
	struct ws_action *part = WS_NEW(x->a, struct ws_action);
	uint64_t alike = 0;
	for (size_t i = 0; i < x->steps.len; i++) {
		alike += x->steps.at[i].stage == step->stage;
	}
	*part = (struct ws_action){
		.subject =
			arch[0] ? ws_arena_printf(x->a, "%s (%s)", whole->subject, arch) : whole->subject,
		.group = whole->group,
		.unit = whole->unit,
		.stage = stage,
		.variant = ws_arena_printf(x->a, "cuda%s %s", x->split->target->cuda->version.text, arch),
		.argv = make_argv(x, step),
		.env = step->stage == WS_NVCC_CICC ? cicc_env : ws_target_env,
		.log_says = whole->log_says,
		.need = {.cpus = 1, .rss_bytes = traits[step->stage].rss_bytes},
		/* Without an estimate, a long kernel would wait behind units with known costs, and end
		 * last. */
		.cpu_ms = whole->cpu_ms * traits[step->stage].percent / 100 / alike,
		.limits = whole->limits,
		.transient =
			traits[step->stage].transient && index + 1 < x->steps.len && !generates_name(step),
	};
	fill_program(x, step->stage, part);
	fill_files(x, step, part);
	if (step->stage == WS_NVCC_PREPROCESS && arch[0] && x->lines) {
		/* A compiler with changed output has another fingerprint. */
		struct ws_digest digest =
			ws_digest_fields(part->tool.fingerprint, WS_SOURCE_ROOT "/", NULL);
		part->tool.fingerprint = ws_arena_strdup(x->a, digest.hex);
		part->amend = anchor_markers;
	}
	return part;
}

/* Asks nvcc for its commands; or sets why the unit is not split. */
static void
ask_steps(const struct split *s, struct ws_arena *a)
{
	struct ws_split_words *words = s->words;
	WS_AUTO_BUF struct ws_buf printed = {0};
	ws_dryrun_commands commands = {0};
	struct ws_err err;
	/* nvcc runs on this host and asks the compiler for its version. */
	const struct ws_hostcc *cxx = s->target->cxx->platform ? s->target->linker : s->target->cxx;
	words->asked = true;
	if (cxx->kind != WS_HOSTCC_GCC) {
		words->why = "the host compiler is not gcc";
	} else if (!ws_same(cxx->fingerprint, s->target->cxx->fingerprint)) {
		words->why =
			"the farm's compiler is not on this host, where nvcc is asked for its commands";
	} else if (!ws_dryrun_ask(s->target->cuda, cxx, words->words, s->store, &printed, &err)) {
		words->why = ws_arena_strdup(a, err.text); /* keep nvcc's own message */
	} else if (ws_dryrun_read(ws_buf_text(&printed), a, &commands, &words->why)) {
		ws_nvcc_steps_read(&commands, FOLDER, s->whole->outputs[0], a, &words->steps, &words->why);
	}
}

static bool
expand_unit(const struct ws_split *self, struct ws_graph *graph, ws_node_list *parts,
	const char **why, struct ws_err *err WS_UNUSED)
{
	const struct split *s = (const struct split *)(const void *)self;
	if (!s->words->asked) {
		ask_steps(s, graph->a);
	}
	const char *base = ws_path_base(s->unit->path), *dot = strrchr(base, '.');
	struct expanding x = {.split = s,
		.stem = dot ? ws_arena_copy(graph->a, base, (size_t)(dot - base)) : base,
		.steps = s->words->steps,
		.nodes = parts,
		.a = graph->a};
	for (size_t i = 0; i < x.steps.len; i++) {
		const struct ws_nvcc_step *step = &x.steps.at[i];
		x.lines = x.lines
			|| (step->stage == WS_NVCC_CICC
				&& ws_is_among("-generate-line-info", step->words.at, step->words.len));
	}
	*why = x.lines && s->target->travels
		? "-lineinfo: this host rewrites line markers before cicc reads them"
		: s->words->why;
	for (size_t i = 0; !*why && i < x.steps.len; i++) {
		*ws_vec_push(parts, x.a) = ws_graph_add(graph, make_part(&x, i));
	}
	return true;
}

const struct ws_split *
ws_split_make(const struct ws_target *target, const struct ws_unit *unit,
	const struct ws_action *whole, struct ws_split_words *words, const struct ws_store *store,
	struct ws_arena *a)
{
	struct split *s = WS_NEW(a, struct split);
	*s = (struct split){{expand_unit}, target, unit, whole, words, store};
	return &s->split;
}
