/* doctor_page.c - the page that people read. */
#include "base/buf.h"
#include "cli/doctor.h"
#include "net/url.h"
#include "report/page.h"
#include "report/words.h"

#include <string.h>

/* A path below the home folder as "~/...". */
static const char *
shown(const struct ws_doctor *d, const char *path)
{
	const char *home = getenv("HOME");
	size_t len = home ? strlen(home) : 0;
	bool below = len > 1 && strncmp(path, home, len) == 0 && path[len] == '/';
	return below ? ws_arena_printf(d->a, "~%s", path + len) : path;
}

/* What can be done, each way on lines of its own. */
static void
print_cure(struct ws_page *page, const char *cure)
{
	struct ws_str rest = ws_str_of(cure);
	while (rest.s && rest.n > 0) {
		struct ws_str line = ws_str_cut(&rest, '\n');
		ws_page_line(page, WS_PAGE_MORE, "→ %.*s", WS_STR_ARGS(line));
	}
}

static void
print_complaints(const struct ws_doctor *d, struct ws_page *page, enum ws_doctor_part part)
{
	for (size_t i = 0; i < d->complaints.len; i++) {
		const struct ws_complaint *complaint = &d->complaints.at[i];
		if (complaint->part == part) {
			ws_page_line(
				page, complaint->blocks ? WS_PAGE_WRONG : WS_PAGE_ADVICE, "%s", complaint->text);
			print_cure(page, complaint->cure);
		}
	}
}

static void
print_host(const struct ws_doctor *d, struct ws_page *page)
{
	const struct ws_host *host = &d->s->host;
	char all[WS_WORDS], left[WS_WORDS], held[WS_WORDS];
	ws_page_line(page, WS_PAGE_PLAIN, "%s, glibc %s",
		host->pretty_name[0] ? host->pretty_name : "an unknown distribution", d->glibc);
	ws_page_line(page, WS_PAGE_PLAIN, "%u core%s, %s of memory, %s of it free", host->cores,
		host->cores == 1 ? "" : "s", ws_words_memory(host->memory_bytes, all),
		ws_words_memory(d->available_bytes, left));
	if (host->memory_group) {
		ws_page_line(page, WS_PAGE_MORE, "limited by the control group %s", host->memory_group);
	}
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < d->holder_count; i++) {
		ws_buf_printf(&b, "%s%s (%d) %s", i > 0 ? ", " : "", d->holders[i].name,
			(int)d->holders[i].pid, ws_words_memory(d->holders[i].rss_bytes, held));
	}
	if (b.len > 0) {
		ws_page_line(page, WS_PAGE_MORE, "most is held by %s", ws_buf_text(&b));
	}
}

static void
print_store(const struct ws_doctor *d, struct ws_page *page)
{
	const struct ws_doctor_store *store = &d->store;
	char left[WS_WORDS], size[WS_WORDS];
	ws_page_line(page, WS_PAGE_PLAIN, "%s", shown(d, store->path));
	if (store->is_there) {
		ws_page_line(page, WS_PAGE_PLAIN, "%s%s in %llu file%s, %u tree%s",
			store->counted_all ? "" : "more than ", ws_words_size(store->file_bytes, size),
			(unsigned long long)store->file_count, store->file_count == 1 ? "" : "s",
			store->tree_count, store->tree_count == 1 ? "" : "s");
	} else {
		ws_page_line(page, WS_PAGE_PLAIN, "not there yet");
	}
	if (store->free_bytes > 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "%s free there", ws_words_size(store->free_bytes, left));
	}
}

static void
print_compilers(const struct ws_doctor *d, struct ws_page *page)
{
	for (size_t i = 0; i < d->compilers.len; i++) {
		const struct ws_hostcc *cc = &d->compilers.at[i].cc;
		ws_page_line(page, WS_PAGE_PLAIN, "%-5s %-9s %s%s%s",
			cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang", cc->version, shown(d, cc->path),
			d->compilers.at[i].cuda[0] ? "  for CUDA " : "", d->compilers.at[i].cuda);
	}
	if (d->compilers.len > 0 && d->cuda_without[0]) {
		ws_page_line(page, WS_PAGE_PLAIN, "none for CUDA %s", d->cuda_without);
	}
}

static void
print_cuda(const struct ws_doctor *d, struct ws_page *page)
{
	WS_AUTO_BUF struct ws_buf all = {0};
	WS_AUTO_BUF struct ws_buf stored = {0};
	for (size_t i = 0; i < d->cuda.len; i++) {
		const struct ws_cuda_kit *kit = &d->cuda.at[i];
		if (kit->missing_count == 0) {
			ws_page_line(
				page, WS_PAGE_PLAIN, "%-9s %s  complete", kit->release, shown(d, kit->path));
		}
	}
	for (size_t i = 0; i < d->kits.len; i++) {
		ws_buf_printf(&all, "%s%s", i > 0 ? ", " : "", d->kits.at[i].cuda);
		if (d->kits.at[i].in_store) {
			ws_buf_printf(&stored, "%s%s", stored.len > 0 ? ", " : "", d->kits.at[i].cuda);
		}
	}
	if (d->cuda.len == 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "none is installed; none needs to be");
	}
	if (all.len > 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "archive kits for %s%s%s", ws_buf_text(&all),
			stored.len > 0 ? ";  in the store: " : "", ws_buf_text(&stored));
	}
	ws_page_line(page, WS_PAGE_PLAIN, "other releases from NVIDIA's redistributables");
}

/* Older than every Python that any torch of the facts has wheels for. */
static bool
is_too_old(const struct ws_doctor *d, const struct ws_python_tag *tag)
{
	const struct ws_facts *facts = &d->s->facts;
	for (size_t i = 0; i < facts->torch_count; i++) {
		for (size_t j = 0; j < facts->torch[i].python_count; j++) {
			const struct ws_python_tag *known = &facts->torch[i].pythons[j];
			if (known->major < tag->major
				|| (known->major == tag->major && known->minor <= tag->minor)) {
				return false;
			}
		}
	}
	return facts->torch_count > 0;
}

static void
print_pythons(const struct ws_doctor *d, struct ws_page *page)
{
	WS_AUTO_BUF struct ws_buf old = {0};
	for (size_t i = 0; i < d->pythons.len; i++) {
		const struct ws_doctor_python *python = &d->pythons.at[i];
		const struct ws_python_kit *kit = &python->kit;
		if (!kit->version || (d->python && !python->has_headers)) {
			continue; /* the complaint says all */
		}
		if (is_too_old(d, &kit->tag) && !d->python) {
			ws_buf_printf(&old, "%s%s", old.len > 0 ? ", " : "", kit->version);
			continue;
		}
		ws_page_line(page, python->has_headers ? WS_PAGE_PLAIN : WS_PAGE_ADVICE, "%s%-*s %s%s",
			kit->version, 9 - (int)strlen(kit->version), kit->tag.free_threaded ? "t" : "",
			shown(d, kit->interpreter ? kit->interpreter : kit->include),
			python->has_headers ? "" : "  no headers");
		print_cure(page, python->cure);
	}
	if (old.len > 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "older than any torch here: %s", ws_buf_text(&old));
	}
}

static void
print_torch(const struct ws_doctor *d, struct ws_page *page)
{
	if (d->has_torch) {
		ws_page_line(page, WS_PAGE_PLAIN, "%s, CUDA %s, cxx11abi %d  %s", d->torch.version.text,
			d->torch.cuda ? d->torch.cuda : "none", d->torch.cxx11abi, shown(d, d->torch.path));
	} else {
		ws_page_line(page, WS_PAGE_PLAIN, "%s", d->why_no_torch);
		ws_page_line(page, WS_PAGE_PLAIN, "building needs none");
	}
}

/* "0  NVIDIA H200, 9.0, 140.4 GiB" */
static void
print_gpus(const struct ws_doctor *d, struct ws_page *page)
{
	const struct ws_gpus *gpus = &d->gpus;
	char memory[WS_WORDS];
	for (size_t i = 0; i < gpus->count; i++) {
		const struct ws_gpu *gpu = &gpus->at[i];
		ws_page_line(page, WS_PAGE_PLAIN, "%u  %s, arch %s, %s", gpu->index, gpu->name,
			ws_arch_text(&gpu->arch, d->a), ws_words_memory(gpu->memory_bytes, memory));
	}
	for (size_t i = 0; i < gpus->user_count; i++) {
		const struct ws_gpu_user *user = &gpus->users[i];
		ws_page_line(page, WS_PAGE_MORE, "used by %s (%u), %s", user->name, user->pid,
			user->memory_bytes > 0 ? ws_words_memory(user->memory_bytes, memory)
								   : "how much is not said");
	}
	if (gpus->count > 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "driver %s%s", gpus->driver,
			gpus->user_count == 0 ? ", nobody computes on it" : "");
	} else {
		ws_page_line(page, WS_PAGE_PLAIN, "none: %s", gpus->why_none);
		ws_page_line(page, WS_PAGE_PLAIN, "building needs none");
	}
}

static void
print_indexes(const struct ws_doctor *d, struct ws_page *page)
{
	for (size_t i = 0; d->knows_indexes && i < d->indexes.count; i++) {
		const struct ws_index_choice *choice = &d->indexes.choices[i];
		for (size_t j = 0; j < choice->count; j++) {
			ws_page_line(page, WS_PAGE_PLAIN, "%-9s %s  (%s)", choice->role,
				ws_url_shown(choice->urls[j], d->a), shown(d, choice->from));
		}
	}
	if (d->debian_mirror) {
		ws_page_line(page, WS_PAGE_PLAIN, "%-9s %s  (%s)", "Debian",
			ws_url_shown(d->debian_mirror, d->a), shown(d, d->debian_from));
	} else {
		ws_page_line(
			page, WS_PAGE_PLAIN, "%-9s no mirror is known; NVIDIA's own archives serve", "Debian");
	}
	if (d->s->user.redist) {
		ws_page_line(page, WS_PAGE_PLAIN, "%-9s %s  (\"redist\")", "NVIDIA",
			ws_url_shown(d->s->user.redist, d->a));
	}
	if (d->indexes.ca_path) {
		ws_page_line(
			page, WS_PAGE_PLAIN, "%-9s %s  (%s)", "CAs", d->indexes.ca_path, d->indexes.ca_from);
	} else {
		ws_page_line(page, WS_PAGE_PLAIN, "%-9s those that libcurl was built with", "CAs");
	}
}

static void
print_libraries(const struct ws_doctor *d, struct ws_page *page)
{
	if (!d->git_is_old) {
		ws_page_line(page, WS_PAGE_PLAIN, "libgit2 %s", d->git_version);
	}
}

static void
print_environment(const struct ws_doctor *d, struct ws_page *page)
{
	if (d->ignored.len == 0) {
		ws_page_line(page, WS_PAGE_PLAIN, "no variable that is ignored is set");
	}
}

static void
print_verdict(const struct ws_doctor *d)
{
	size_t wrong = ws_doctor_count(d, true), advice = ws_doctor_count(d, false);
	const struct ws_out *out = &d->s->out;
	ws_out_result(out, "\n");
	if (wrong == 0) {
		ws_out_result(out, "this host can build");
	} else {
		ws_out_result(out, "✗ nothing can be built here until %s mended",
			wrong == 1 ? "that is" : "those are");
	}
	if (advice > 0) {
		ws_out_result(out, "; %zu thing%s to know %s marked !", advice, advice == 1 ? "" : "s",
			advice == 1 ? "is" : "are");
	}
	ws_out_result(out, "\n");
}

void
ws_doctor_print(const struct ws_doctor *d)
{
	static void (*const parts[WS_DOCTOR_PARTS])(const struct ws_doctor *d, struct ws_page *page) = {
		print_host,
		print_store,
		print_compilers,
		print_cuda,
		print_pythons,
		print_torch,
		print_gpus,
		print_indexes,
		print_libraries,
		print_environment,
	};
	struct ws_page page = ws_page_begin(&d->s->out, 0);
	for (size_t i = 0; i < WS_DOCTOR_PARTS; i++) {
		ws_page_label(&page, ws_doctor_part_names[i]);
		parts[i](d, &page);
		print_complaints(d, &page, (enum ws_doctor_part)i);
	}
	print_verdict(d);
}
