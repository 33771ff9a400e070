/* cmd_inspect.c - wheelsmith inspect: facts about a wheel, an installed package or a library. The
 * child that judges collects them (judge/wheel_facts.h), except for a wheel at a URL. */
#include "base/fs.h"
#include "cli/matrix_options.h"
#include "cli/session.h"
#include "judge/order.h"
#include "kit/torch/export_lists.h"
#include "net/download.h"
#include "net/url.h"
#include "report/format.h"
#include "report/page.h"

/* ---- the page: a label for each part, a line for each fact; mistakes come last ---- */

struct printing {
	struct ws_page page;
	struct ws_arena *a;
};

#define LINE(p, ...) ws_page_line(&(p)->page, WS_PAGE_PLAIN, __VA_ARGS__)
#define ROW(p, label, ...) ws_page_row(&(p)->page, label, __VA_ARGS__)
#define ADVICE(p, ...) ws_page_line(&(p)->page, WS_PAGE_ADVICE, __VA_ARGS__)

static const char *
size_text(uint64_t bytes, struct ws_arena *a)
{
	char words[WS_FORMAT_BYTES];
	return ws_arena_strdup(a, ws_format_size(bytes, words));
}

/* "a, b, c", the first @most of them. */
static const char *
joined(const char *const *texts, size_t count, size_t most, struct ws_arena *a)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	for (size_t i = 0; i < count && i < most; i++) {
		ws_buf_printf(&text, "%s%s", i ? ", " : "", texts[i]);
	}
	if (count > most) {
		ws_buf_printf(&text, " and %zu more", count - most);
	}
	return ws_buf_copy(&text, a);
}

static void
print_names(struct printing *p, const struct ws_wheel_facts *f)
{
	const struct ws_wheel_name *name = f->name;
	const struct ws_metadata_info *metadata = f->metadata;
	if (name) {
		ROW(p, "file name", "%s %s  %s  %s  %s", name->distribution, name->version.text,
			joined(name->pythons, name->python_count, 8, p->a),
			joined(name->abis, name->abi_count, 8, p->a),
			joined(name->platforms, name->platform_count, 8, p->a));
	}
	if (f->wheel) {
		ROW(p, "WHEEL", "%s", joined(f->wheel->tags, f->wheel->tag_count, 8, p->a));
		LINE(p, "made by %s", f->wheel->generator ? f->wheel->generator : "?");
	}
	if (metadata) {
		const char **requires = WS_NEW_N(p->a, const char *, metadata->require_count);
		for (size_t i = 0; i < metadata->require_count; i++) {
			requires[i] = metadata->requires[i].text;
		}
		ROW(p, "METADATA", "%s %s  Python %s", metadata->name, metadata->version.text,
			metadata->requires_python ? metadata->requires_python : "any");
		if (metadata->require_count > 0) {
			LINE(p, "requires %s", joined(requires, metadata->require_count, 12, p->a));
		}
	}
}

/* A line for each architecture and kind, however its images are compressed. */
static void
print_gpu_code(struct printing *p, const struct ws_module_facts *m)
{
	struct ws_image_facts sum = {0};
	for (size_t i = 0; i < m->image_count; i++) {
		const struct ws_image_facts *image = &m->images[i];
		sum.count += image->count;
		sum.stored_bytes += image->stored_bytes;
		sum.raw_bytes += image->raw_bytes;
		const struct ws_image_facts *next = i + 1 < m->image_count ? image + 1 : NULL;
		if (next && ws_same(image->section, next->section) && ws_same(image->arch, next->arch)
			&& ws_same(image->kind, next->kind) && ws_same(image->ptx_isa, next->ptx_isa)) {
			continue;
		}
		LINE(p, "GPU %s %s%s%s, %zu images, %s of %s%s", image->arch, image->kind,
			image->ptx_isa ? " ISA " : "", image->ptx_isa ? image->ptx_isa : "", sum.count,
			size_text(sum.stored_bytes, p->a), size_text(sum.raw_bytes, p->a),
			ws_same(image->section, WS_FATBIN_SECTION) ? "" : ", not linked");
		sum = (struct ws_image_facts){0};
	}
}

static void
print_module(struct printing *p, const struct ws_module_facts *m)
{
	ROW(p, "module", "%s", m->name);
	LINE(p, "%s, %s", m->machine ? m->machine : "not a library", size_text(m->size_bytes, p->a));
	if (m->refused) {
		ADVICE(p, "%s", m->refused);
		return;
	}
	const char *glibc = m->floor.asked[WS_FLOOR_GLIBC].text;
	const char *cxx = m->floor.asked[WS_FLOOR_GLIBCXX].text, *outside = m->floor.outside;
	LINE(p, "needs %s",
		m->needed_count ? joined(m->needed, m->needed_count, 30, p->a) : "no library");
	if (m->rpath || m->runpath) {
		LINE(p, "%s %s", m->runpath ? "RUNPATH" : "RPATH", m->runpath ? m->runpath : m->rpath);
	}
	if (m->platform) {
		LINE(p, "glibc %s%s: %s%s%s", glibc ? glibc : "any",
			cxx ? ws_arena_printf(p->a, ", GLIBCXX %s", cxx) : "", m->platform,
			outside ? ", for the sake of " : "", outside ? outside : "");
	}
	if (m->torch == WS_TORCH_CXX) {
		const char *abi = ws_cxx11abi_words[m->cxx11abi];
		LINE(p, "torch: C++ names, cxx11abi %s", abi[0] ? abi : "unsaid");
	} else if (m->torch == WS_TORCH_STABLE) {
		LINE(p, "torch: stable ABI, %s",
			m->torch_since ? ws_arena_printf(p->a, "%s or newer", m->torch_since)
						   : "newer than any that is known");
	}
	if (m->internals) {
		LINE(p, "pybind11: %s", m->internals);
	}
	const char *named =
		m->python_suffix ? ws_arena_printf(p->a, ", named for %s", m->python_suffix) : "";
	if (m->python == WS_PYTHON_STABLE) {
		LINE(p, "Python: stable ABI of %s%s", m->python_since, named);
	} else if (m->python == WS_PYTHON_VERSION) {
		LINE(p, "Python: of one version%s; %zu of %zu names are not in the stable ABI", named,
			m->python_outside_count, m->python_name_count);
	} else {
		LINE(p, "Python: none%s", named);
	}
	print_gpu_code(p, m);
	if (m->gpu_refused) {
		ADVICE(p, "%s", m->gpu_refused);
	}
	if (m->cpu) {
		ADVICE(p,
			"code for CPUs with %s, and nothing asks whether this one has it: on others it ends "
			"with SIGILL (-march=native?)",
			m->cpu);
	}
	if (m->leaked_count > 0) {
		ADVICE(p, "paths of the machine that built it: %s",
			joined(m->leaked, m->leaked_count, 1, p->a));
	}
}

static void
print_page(const struct ws_wheel_facts *f, const struct ws_out *out)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct printing p = {ws_page_begin(out), a};
	static const char *const kinds[] = {"wheel", "package", "library"};
	ROW(&p, kinds[f->kind], "%s", f->subject);
	if (f->zip && f->zip->entry_count > 0) {
		LINE(&p, "%s, %zu entries, %s unpacked", size_text(f->size_bytes, p.a), f->zip->entry_count,
			size_text(f->zip->content_bytes, p.a));
	}
	if (f->zip && f->zip->descriptor_count > 0) {
		ADVICE(&p, "%zu data descriptors, the first at '%s': some indexes refuse them",
			f->zip->descriptor_count, f->zip->descriptor);
	}
	if (!f->is_whole && f->read_bytes < f->size_bytes) {
		ADVICE(&p, "%s were read: no digest was recomputed, no library opened (--whole)",
			size_text(f->read_bytes, p.a));
	}
	print_names(&p, f);
	if (f->record) {
		ws_page_label(&p.page, "RECORD");
		if (f->is_whole) {
			LINE(&p, "%zu lines, %zu digests recomputed and right", f->record->line_count,
				f->record->hashed_count);
		} else {
			LINE(&p, "%zu lines", f->record->line_count);
		}
		if (f->record->outside_count > 0) {
			LINE(&p, "%zu files outside of site-packages, not read", f->record->outside_count);
		}
	}
	if (f->platform && f->kind != WS_FACTS_LIBRARY) {
		ROW(&p, "platform", "%s is what its modules allow", f->platform);
	}
	for (size_t i = 0; i < f->module_count; i++) {
		print_module(&p, &f->modules[i]);
	}
	size_t count = f->problems.count, shown = f->problems.kept.len;
	ROW(&p, "verdict", "%s",
		count == 0 && !f->is_whole ? "sound, as far as it was read"
			: count == 0           ? "sound: no problem was found in the wheel itself"
			: count == 1           ? "wrong"
								   : ws_arena_printf(p.a, "wrong in %zu ways", count));
	for (size_t i = 0; i < shown; i++) {
		const struct ws_wheel_problem *problem = &f->problems.kept.at[i];
		ws_page_line(&p.page, WS_PAGE_WRONG, "%s: %s", problem->about, problem->text);
	}
	if (count > shown) {
		ws_page_line(&p.page, WS_PAGE_WRONG, "and %zu more", count - shown);
	}
}

struct inspecting {
	struct ws_session *s;
	const char *subject; /* as typed */
	const char *python;
	bool whole;
	const char *folder; /* for the child */
	struct ws_facts_order order;
	const struct ws_wheel_facts *facts;
};

/* Has the child collect the facts of i->order. */
static bool
collect(struct inspecting *i, struct ws_err *err)
{
	const struct ws_judge_order order = {.facts = &i->order};
	struct ws_wheel_verdict verdict;
	if (!ws_judge_now(&order, i->s->program, i->folder, i->s->a, &verdict, err)) {
		return false;
	}
	i->facts = verdict.facts;
	return true;
}

/* ---- a wheel at a URL ---- */

static bool
inspect_url(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	struct ws_wheel_facts *facts = WS_NEW(s->a, struct ws_wheel_facts);
	struct ws_index_file file = {
		.url = i->subject, .name = ws_url_file_name(i->subject, s->a), .sha256 = ""};
	if (!ws_session_open_net(s, NULL, false, err)) {
		return false;
	}
	if (i->whole) {
		const char *path = ws_path_join(s->a, i->folder, "whole.whl", NULL);
		struct ws_download one = {
			.url = file.url,
			.path = path,
			.partial = ws_path_join(s->a, i->folder, "whole.part", NULL),
		};
		i->order.name = file.name;
		i->order.path = path;
		return ws_download_all(s->fetch.http, &one, 1, err) && collect(i, err);
	}
	i->facts = facts;
	return ws_wheel_facts_get(&s->fetch, &file, s->a, facts, err);
}

/* ---- on this host ---- */

static bool
inspect_package(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	struct ws_python_kit kit;
	struct ws_python_tag tag;
	bool by_tag = ws_python_tag_parse(i->python, &tag);
	const char *path = by_tag ? NULL : ws_matrix_options_python(&s->env, i->python, s->a);
	if (!ws_python_find_meant(&s->env, path, false, &tag, s->a, &kit, err)) {
		return false;
	}
	if (!kit.purelib) {
		return ws_err_set(
			err, WS_ERR_CONFIG, "'%s' does not say where its packages are", i->python);
	}
	i->order.name = i->subject;
	i->order.path = kit.purelib;
	i->order.kind = WS_FACTS_PACKAGE;
	return collect(i, err);
}

static bool
inspect_file(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	char *path = realpath(i->subject, NULL);
	i->order.path = ws_arena_strdup(s->a, path);
	free(path);
	char head[4];
	WS_AUTO_FD int fd = path ? ws_fs_open_regular(i->order.path, 0, NULL, err) : -1;
	if (fd < 0) {
		ws_err_set(err, WS_ERR_USAGE, "there is no file '%s'", i->subject);
		return ws_err_cure(err, "for an installed package give --python PATH as well");
	}
	/* A .whl is a wheel for installers, whatever its first bytes are. */
	bool elf = !ws_ends_with(i->subject, ".whl") && pread(fd, head, sizeof(head), 0) == sizeof(head)
		&& memcmp(head, "\177ELF", 4) == 0;
	i->order.name = elf ? i->subject : ws_path_base(i->subject);
	i->order.kind = elf ? WS_FACTS_LIBRARY : WS_FACTS_WHEEL;
	return collect(i, err);
}

static bool
inspect(struct inspecting *i, struct ws_err *err)
{
	struct ws_session *s = i->s;
	WS_AUTO_SCRATCH struct ws_scratch scratch = {.fd = -1};
	bool url = ws_starts_with(i->subject, "https://") || ws_starts_with(i->subject, "http://");
	ws_list_paths stable = {0}, torch = {0};
	if (i->whole && !url) {
		return ws_err_set(err, WS_ERR_USAGE, "--whole is for a URL; a file is always read whole");
	}
	if (i->python && url) {
		return ws_err_set(err, WS_ERR_USAGE, "--python is for an installed package, not for a URL");
	}
	if (!ws_session_open_store(s, false, err)
		|| !ws_torch_dependencies(s->data.facts, NULL, s->a, &stable, err)
		|| !ws_scratch_make(
			ws_store_path(&s->store, s->a, "partial"), "inspect-", s->a, &scratch, err)) {
		return false;
	}
	for (size_t k = 0; k < s->facts.torch_count; k++) {
		const char *file = ws_arena_printf(s->a, "torch-%s.zst", s->facts.torch[k].version.text);
		const char *path = ws_path_join(s->a, s->data.facts, "exports", file, NULL);
		if (ws_fs_exists(path)) {
			*ws_vec_push(&torch, s->a) = path;
		}
	}
	/* Export lists that date the stable names of Python and torch. */
	i->order.stable = stable.at;
	i->order.stable_count = stable.len;
	i->order.torch = torch.at;
	i->order.torch_count = torch.len;
	i->folder = scratch.path;
	bool fine = url ? inspect_url(i, err)
		: i->python ? inspect_package(i, err)
					: inspect_file(i, err);
	return ws_stop_asked(&s->stop) ? ws_stop_err(&s->stop, err) : fine;
}

bool
ws_cmd_inspect(struct ws_session *s, struct ws_err *err)
{
	struct inspecting i = {.s = s};
	const struct ws_option options[] = {
		{"python", 0, WS_OPTION_TEXT, &i.python, "PATH",
			"a package installed for this Python: 3.12, a path"},
		{"whole", 0, WS_OPTION_FLAG, &i.whole, NULL,
			"download the wheel at a URL and read all of it"},
	};
	struct ws_usage usage = {
		.command = "inspect",
		.synopsis = "WHEEL | FILE.so | URL [--whole]\nPACKAGE --python PATH",
		.summary = "Says what a wheel is: names, RECORD, each library with its ABI, GPU code and\n"
				   "the systems it loads on. Of a wheel at a URL a few kB are read.\n"
				   "Exits 0, or 1 when something is wrong with it.",
		WS_OPTIONS(options),
		.least = 1,
		.most = 1,
	};
	if (!ws_command_options(s, &usage, err)) {
		return false;
	}
	i.subject = s->words.at[0];
	if (!inspect(&i, err)) {
		return false;
	}
	if (s->globals.json) {
		ws_session_print_json(s, &ws_wheel_facts_table, i.facts);
	} else {
		print_page(i.facts, &s->out);
	}
	*err = (struct ws_err){.kind = WS_ERR_NEGATIVE};
	return i.facts->verdict == WS_FACTS_SOUND;
}
