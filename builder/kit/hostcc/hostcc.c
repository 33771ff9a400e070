/* hostcc.c - the choice, and what to say when there is none. Which compilers there are is
 * list.c's, what a toolkit takes limits.c's. */
#include "kit/hostcc/hostcc.h"

#include "base/buf.h"
#include "base/str.h"
#include "kit/hostcc/install.h"
#include "sys/host.h"

static bool
is_bad(const struct ws_hostcc *cc, const struct ws_hostcc_wish *wish)
{
	for (size_t i = 0; i < wish->bad_count; i++) {
		if (cc->kind == WS_HOSTCC_GCC && cc->major == wish->bad[i]) {
			return true;
		}
	}
	return false;
}

bool
ws_hostcc_fits(const struct ws_hostcc *cc, const struct ws_hostcc_wish *wish)
{
	const struct ws_hostcc_limits *limits = &wish->limits;
	if (cc->kind == WS_HOSTCC_CLANG) {
		return cc->major >= limits->clang_min && cc->major <= limits->clang_max;
	}
	return cc->major >= wish->gcc_min && cc->major <= limits->gcc_max && !is_bad(cc, wish);
}

static const char *
kind_name(enum ws_hostcc_kind kind)
{
	return kind == WS_HOSTCC_GCC ? "gcc" : "clang";
}

/* "gcc up to 11", "gcc 9 to 11", and clang where this host has one. */
static void
say_taken(struct ws_buf *b, const struct ws_hostcc_wish *wish, bool with_clang)
{
	if (wish->gcc_min > 0) {
		ws_buf_printf(b, "gcc %u to %u", wish->gcc_min, wish->limits.gcc_max);
	} else {
		ws_buf_printf(b, "gcc up to %u", wish->limits.gcc_max);
	}
	if (with_clang && wish->limits.clang_max > 0) {
		ws_buf_printf(b, " and clang up to %u", wish->limits.clang_max);
	}
}

/* "gcc 12 and 14", "gcc 12, 13 (known to fail) and 14": the majors of one kind, ascending, each once;
 * @a list has the newest first. Nothing when there is none. */
static void
say_majors(struct ws_buf *b, const ws_hostcc_list *list, const struct ws_hostcc_wish *wish,
	enum ws_hostcc_kind kind)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	WS_VEC(const struct ws_hostcc *) once = {0};
	for (size_t i = list->len; i-- > 0;) {
		const struct ws_hostcc *cc = &list->at[i];
		if (cc->kind == kind && (once.len == 0 || once.at[once.len - 1]->major != cc->major)) {
			*ws_vec_push(&once, a) = cc;
		}
	}
	for (size_t i = 0; i < once.len; i++) {
		if (i == 0) {
			ws_buf_printf(b, "%s%s ", b->len > 0 ? ", " : "", kind_name(kind));
		} else {
			ws_buf_puts(b, i + 1 < once.len ? ", " : " and ");
		}
		ws_buf_printf(
			b, "%u%s", once.at[i]->major, is_bad(once.at[i], wish) ? " (known to fail)" : "");
	}
}

static bool
has_gcc_for(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish)
{
	for (size_t i = 0; i < list->len; i++) {
		if (list->at[i].kind == WS_HOSTCC_GCC && ws_hostcc_fits(&list->at[i], wish)) {
			return true;
		}
	}
	return false;
}

/* The first CUDA after the one that was wanted that takes a gcc of this host. */
static void
cure_newer_cuda(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, struct ws_err *err)
{
	WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
	struct ws_version wanted;
	if (!wish->facts || !ws_version_parse(wish->cuda, a, &wanted)) {
		return;
	}
	for (size_t i = 0; i < wish->facts->cuda_count; i++) {
		const struct ws_cuda_toolkit *cuda = &wish->facts->cuda[i];
		struct ws_hostcc_wish other = *wish;
		other.limits.gcc_max = cuda->gcc_max;
		if (ws_version_cmp(&cuda->version, &wanted) > 0 && has_gcc_for(list, &other)) {
			unsigned major = ws_version_number(&cuda->version, 0);
			bool crosses = major != ws_version_number(&wanted, 0);
			const char *text = cuda->version.text;
			const char *torch =
				crosses ? ws_arena_printf(a, " and a torch built for CUDA %u", major) : "";
			ws_err_cure(err, "or build this cell with CUDA %s or newer (\"cuda\": \"%s\")%s", text,
				text, torch);
			return;
		}
	}
}

static bool
refuse(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish, const struct ws_host *host,
	struct ws_err *err)
{
	WS_AUTO_BUF struct ws_buf taken = {0};
	WS_AUTO_BUF struct ws_buf there = {0};
	say_majors(&there, list, wish, WS_HOSTCC_GCC);
	size_t gcc_len = there.len;
	say_majors(&there, list, wish, WS_HOSTCC_CLANG);
	say_taken(&taken, wish, there.len > gcc_len);
	ws_err_set(err, WS_ERR_BUILD, "no host compiler for CUDA %s: it takes %s, this host has %s",
		wish->cuda, ws_buf_text(&taken), there.len > 0 ? ws_buf_text(&there) : "none");
	ws_hostcc_install_cure(wish, host, err);
	cure_newer_cuda(list, wish, err);
	return false;
}

bool
ws_hostcc_choose(const ws_hostcc_list *list, const struct ws_hostcc_wish *wish,
	const struct ws_host *host, struct ws_hostcc *chosen, struct ws_err *err)
{
	for (size_t i = 0; i < list->len; i++) {
		if (ws_hostcc_fits(&list->at[i], wish)) {
			*chosen = list->at[i];
			return true;
		}
	}
	return refuse(list, wish, host, err);
}
