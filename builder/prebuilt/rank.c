#include "prebuilt/rank.h"

#include "net/url.h"

#include <fnmatch.h>

/* ---- labels: a missing part fits everything ---- */

#define OUT_OF_REACH 100000 /* a distance: another major of torch */

/* How many minors the label's torch is behind (> 0) or ahead of (< 0) the product's. 0: the same
 * minor, a label without torch, or a product that is not bound to torch. */
static long
label_distance(const struct ws_product *product, const struct ws_wheel_label *label)
{
	const struct ws_torch_choice *torch = product->point.torch;
	if (!label->torch || !torch || product->binding >= WS_BINDING_C_ABI) {
		return 0;
	}
	return label->torch_major == torch->version.major
		? (long)torch->version.minor - (long)label->torch_minor
		: OUT_OF_REACH;
}

/* @other: the label names another torch minor than the product's, which fits only with @window.
 * Modules of the stable ABI fit the torch that they were built for and all later ones. */
static bool
label_fits(
	const struct ws_product *product, const struct ws_wheel_label *label, bool window, bool *other)
{
	const struct ws_point *point = &product->point;
	/* The major that torch's build and the toolkit share; 0: the product is not bound to CUDA. */
	unsigned major = product->binding == WS_BINDING_NONE ? 0
		: point->torch && point->torch->cuda_major       ? point->torch->cuda_major
		: point->cuda                                    ? point->cuda->version.major
														 : 0;
	long distance = label_distance(product, label);
	bool bound = product->binding < WS_BINDING_STABLE_ABI && point->cxx11abi >= 0;
	*other = product->binding == WS_BINDING_STABLE_ABI ? distance < 0 : distance != 0;
	return (major == 0 || (!label->cpu && (!label->cuda || label->cuda_major == major)))
		&& distance != OUT_OF_REACH && (window || !*other)
		&& (!bound || label->cxx11abi < 0 || label->cxx11abi == point->cxx11abi);
}

/* False when code for the label's architectures cannot run on one of the product's, @lacking. */
static bool
label_runs(const struct ws_product *product, const struct ws_wheel_label *label,
	const struct ws_arch **lacking)
{
	const struct ws_arch_set *asked = &product->point.archs;
	for (size_t i = 0; i < asked->count && label->archs.count > 0; i++) {
		bool runs = false;
		for (size_t j = 0; j < label->archs.count; j++) {
			runs = runs || ws_arch_may_run(&label->archs.at[j], &asked->at[i]);
		}
		if (!runs) {
			*lacking = &asked->at[i];
			return false;
		}
	}
	return true;
}

/* ---- names from a recipe's templates ---- */

/* The search with one template. */
struct search {
	const struct ws_product *product;
	const struct ws_prebuilt *prebuilt;
	bool window;
	struct ws_arena *a;
	WS_VEC(struct ws_candidate) found; /* of values that were published; not ranked */
	/* Names that one would expect for the product and that were never published. */
	WS_VEC(struct ws_unpublished) unpublished;
};

/* The template with @values; @plus replaces '+'. The recipe's reader checked the placeholders. */
static const char *
expand(const struct search *s, const struct ws_published_values *values, const char *template,
	const char *plus)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	for (const char *c = template; *c; c++) {
		const char *end = *c == '{' ? strchr(c, '}') : NULL;
		if (!end) {
			ws_buf_add(&out, *c == '+' ? plus : c, *c == '+' ? strlen(plus) : 1);
			continue;
		}
		struct ws_str key = {c + 1, (size_t)(end - c - 1)};
		const struct ws_published *value = ws_str_is(key, "cuda") ? values->cuda
			: ws_str_is(key, "torch")                             ? values->torch
			: ws_str_is(key, "cxx11abi")                          ? values->cxx11abi
																  : NULL;
		if (ws_str_is(key, "version")) {
			ws_buf_puts(&out, s->product->recipe->version.text);
		} else if (ws_str_is(key, "python") && values->python) {
			ws_buf_printf(&out, "cp%u%u", values->python->tag.major, values->python->tag.minor);
		} else if (value) {
			ws_buf_puts(&out, value->text);
		}
		c = end;
	}
	return ws_buf_copy(&out, s->a);
}

static const char *
file_of(const struct search *s, const struct ws_published_values *values)
{
	return expand(s, values, strrchr(s->prebuilt->url, '/') + 1, "+");
}

static void
try_values(struct search *s, const struct ws_published_values *values)
{
	const struct ws_version *torch = values->torch ? &values->torch->version : NULL;
	const struct ws_version *cuda = values->cuda ? &values->cuda->version : NULL;
	struct ws_candidate candidate = {
		.from = s->prebuilt->from,
		.place = WS_PLACE_TEMPLATE,
		.label = {.torch = torch ? values->torch->text : NULL,
			.torch_major = torch ? torch->major : 0,
			.torch_minor = torch ? torch->minor : 0,
			.cuda = cuda ? cuda->text : NULL,
			.cuda_major = cuda ? cuda->major : 0,
			.cuda_minor = cuda && !values->cuda->any_minor ? (int)cuda->minor : -1,
			.cxx11abi = values->cxx11abi ? values->cxx11abi->cxx11abi : -1,
			.archs = s->prebuilt->archs},
	};
	if (label_fits(s->product, &candidate.label, s->window, &candidate.window)
		&& ws_prebuilt_has(s->prebuilt, values)) {
		candidate.file = file_of(s, values);
		candidate.url = expand(s, values, s->prebuilt->url, "%2B");
		candidate.origin = ws_url_bare(candidate.url, s->a);
		if (s->product->recipe->bad_wheel_count > 0) { /* a rule may be about its label */
			struct ws_wheel_name *name = WS_NEW(s->a, struct ws_wheel_name);
			const char *why;
			candidate.name = ws_wheel_name_parse(candidate.file, s->a, name, &why) ? name : NULL;
		}
		*ws_vec_push(&s->found, s->a) = candidate;
	}
}

/* The template's value for the Python that all cells of the product have. NULL: names without a
 * Python; with *fits false: without such a value. */
static const struct ws_published_python *
find_python(const struct search *s, bool *fits)
{
	const struct ws_product *product = s->product;
	const struct ws_python_tag *wanted = &product->point.python->tag;
	*fits = true;
	if (s->prebuilt->python_count == 0) {
		return NULL;
	}
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_python_tag *tag = &product->cells[i]->point.python->tag;
		*fits = *fits && tag->major == wanted->major && tag->minor == wanted->minor
			&& !tag->free_threaded;
	}
	for (size_t i = 0; i < s->prebuilt->python_count && *fits; i++) {
		const struct ws_published_python *python = &s->prebuilt->pythons[i];
		if (python->tag.major == wanted->major && python->tag.minor == wanted->minor) {
			return python;
		}
	}
	*fits = false;
	return NULL;
}

/* A few dozen combinations at most; most are for another CUDA major, torch or ABI. An empty list is
 * one value, NULL, which names do not contain. */
static void
find_published(struct search *s, const struct ws_published_python *python)
{
	const struct ws_published_list *cuda = &s->prebuilt->cuda, *torch = &s->prebuilt->torch,
								   *abi = &s->prebuilt->cxx11abi;
	for (size_t c = 0; c == 0 || c < cuda->count; c++) {
		for (size_t t = 0; t == 0 || t < torch->count; t++) {
			for (size_t i = 0; i == 0 || i < abi->count; i++) {
				struct ws_published_values values = {cuda->count > 0 ? &cuda->at[c] : NULL,
					torch->count > 0 ? &torch->at[t] : NULL, abi->count > 0 ? &abi->at[i] : NULL,
					python};
				try_values(s, &values);
			}
		}
	}
}

/* ---- expected names that were never published ---- */

struct guess {
	struct ws_published_values values;
	struct ws_published made_up[3]; /* torch, CUDA, ABI without a published value */
	const char *what;               /* the first value that was never published: "torch 2.5" */
	struct ws_buf why;
};

static void
add_reason(struct guess *guess, const char *what, const char *others)
{
	guess->what = guess->what ? guess->what : what;
	ws_buf_printf(&guess->why, "%s%s was never published (%s were)", guess->why.len > 0 ? "; " : "",
		what, others);
}

/* The value @text of @list, or one made up, with a reason. */
static const struct ws_published *
guess_value(const struct search *s, struct guess *guess, const struct ws_published_list *list,
	const char *text, struct ws_published *made_up, const char *what, const char *prefix)
{
	const char *others = "";
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->at[i].text, text) == 0) {
			return &list->at[i];
		}
		others =
			ws_arena_printf(s->a, "%s%s%s%s", others, i > 0 ? ", " : "", prefix, list->at[i].text);
	}
	add_reason(guess, ws_arena_printf(s->a, "%s%s", what, text), others);
	made_up->text = text;
	return made_up;
}

/* The product's CUDA in the spelling of the template's values: "124", "12", "12.4". */
static const char *
guess_cuda(const struct search *s)
{
	const struct ws_cuda_choice *cuda = s->product->point.cuda;
	const struct ws_published *like = &s->prebuilt->cuda.at[0];
	const struct ws_version *v = &cuda->version;
	return like->any_minor        ? ws_arena_printf(s->a, "%u", v->major)
		: strchr(like->text, '.') ? cuda->name
								  : ws_arena_printf(s->a, "%u%u", v->major, v->minor);
}

/* The product's ABI in the spelling of the template's values, else "TRUE" or "FALSE". */
static const char *
guess_abi(const struct search *s)
{
	const struct ws_published_list *list = &s->prebuilt->cxx11abi;
	for (size_t i = 0; i < list->count; i++) {
		if (list->at[i].cxx11abi == s->product->point.cxx11abi) {
			return list->at[i].text;
		}
	}
	return s->product->point.cxx11abi == 1 ? "TRUE" : "FALSE";
}

/* Reports the name that one would expect for the product, if it was never published. */
static void
report_guess(struct search *s, const struct ws_published_python *published)
{
	const struct ws_prebuilt *p = s->prebuilt;
	const struct ws_point *point = &s->product->point;
	const struct ws_published_python python = {point->python->tag, point->python->version};
	struct guess guess = {.values = {.python = published}};
	if (p->torch.count > 0 && point->torch) {
		guess.values.torch =
			guess_value(s, &guess, &p->torch, point->torch->minor, &guess.made_up[0], "torch ", "");
	}
	if (p->cuda.count > 0 && point->cuda) {
		guess.values.cuda =
			guess_value(s, &guess, &p->cuda, guess_cuda(s), &guess.made_up[1], "cu", "cu");
	}
	if (p->cxx11abi.count > 0) {
		guess.values.cxx11abi =
			guess_value(s, &guess, &p->cxx11abi, guess_abi(s), &guess.made_up[2], "cxx11abi ", "");
	}
	if (p->python_count > 0 && !published) {
		const char *others = "";
		for (size_t i = 0; i < p->python_count; i++) {
			others = ws_arena_printf(s->a, "%s%s%s", others, i > 0 ? ", " : "",
				ws_python_version_text(&p->pythons[i].tag, s->a));
		}
		add_reason(&guess, ws_arena_printf(s->a, "Python %s", point->python->text), others);
		guess.values.python = &python;
	}
	if (guess.why.len > 0 || !ws_prebuilt_has(p, &guess.values)) {
		*ws_vec_push(&s->unpublished, s->a) = (struct ws_unpublished){
			.file = file_of(s, &guess.values),
			.from = p->from,
			.what = guess.what,
			.why = guess.why.len > 0 ? ws_buf_copy(&guess.why, s->a)
									 : "this combination of values was never published",
		};
	}
	ws_buf_release(&guess.why);
}

static void
search_templates(struct search *s)
{
	const struct ws_recipe *recipe = s->product->recipe;
	for (size_t i = 0; i < recipe->prebuilt_count; i++) {
		bool fits;
		s->prebuilt = &recipe->prebuilt[i];
		/* Templates end in "linux_x86_64.whl" or "any.whl". */
		const char *platform = strrchr(s->prebuilt->url, '-');
		if (platform && !strstr(platform, s->product->point.machine->name)
			&& !ws_same(platform, "-any.whl")) {
			continue;
		}
		const struct ws_published_python *python = find_python(s, &fits);
		if (fits) {
			find_published(s, python);
		}
		report_guess(s, python);
	}
}

/* ---- fit and rank ---- */

struct ranked {
	struct ws_candidate candidate;
	long distance; /* of torch minors */
	unsigned cuda; /* 0: the product's; 1: any of its major, or not named; 2: another */
	unsigned fit;  /* of tags; more is better */
	size_t number;
};

typedef WS_VEC(struct ranked) ranked_list;

/* The worst fit among the Pythons of the product's cells; 0: the wheel does not fit one of them. */
static unsigned
fit_pythons(const struct ws_product *product, const struct ws_wheel_name *name)
{
	unsigned least = 0;
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_python_choice *python = product->cells[i]->point.python;
		if (i > 0 && python == product->cells[i - 1]->point.python) {
			continue;
		}
		/* The judge measures the glibc that the wheel really needs. */
		unsigned fit = ws_wheel_fit(name, &python->tag, product->point.machine, 2, WS_ANY_GLIBC);
		if (fit == 0) {
			return 0;
		}
		least = i == 0 || fit < least ? fit : least;
	}
	return least;
}

static unsigned
rank_cuda(const struct ws_product *product, const struct ws_wheel_label *label)
{
	const struct ws_cuda_choice *cuda = product->point.cuda;
	if (!label->cuda || !cuda) {
		return 1;
	}
	bool same_major = label->cuda_major == cuda->version.major;
	return same_major && label->cuda_minor == (int)cuda->version.minor ? 0
		: same_major && label->cuda_minor < 0                          ? 1
																	   : 2;
}

/* Older wheels come first: newer torch releases export more than older ones. */
static int
cmp_distance(long x, long y)
{
	bool later_x = x < 0, later_y = y < 0;
	return later_x != later_y ? (int)later_x - (int)later_y
		: labs(x) != labs(y)  ? (labs(x) < labs(y) ? -1 : 1)
							  : 0;
}

static int
cmp_ranked(const void *x, const void *y)
{
	const struct ranked *one = x;
	const struct ranked *two = y;
	if (one->candidate.window != two->candidate.window) {
		return (int)one->candidate.window - (int)two->candidate.window;
	}
	int order = one->candidate.window ? cmp_distance(one->distance, two->distance) : 0;
	order = order ? order : (int)one->candidate.place - (int)two->candidate.place;
	order = order ? order : (int)one->cuda - (int)two->cuda;
	if (!order && one->fit != two->fit) {
		order = one->fit > two->fit ? -1 : 1;
	}
	return order ? order : one->number < two->number ? -1 : 1;
}

static void
add_ranked(ranked_list *list, const struct ws_product *product,
	const struct ws_candidate *candidate, unsigned fit, struct ws_arena *a)
{
	size_t number = list->len;
	*ws_vec_push(list, a) = (struct ranked){
		.candidate = *candidate,
		.distance = label_distance(product, &candidate->label),
		.cuda = rank_cuda(product, &candidate->label),
		.fit = fit,
		.number = number,
	};
}

/* Refuses a wheel that cannot serve, by its name alone: a fact about published wheels of its label
 * (bad_wheels are of this package and version), or code for other architectures. */
static void
refuse_by_name(const struct ws_product *product, struct ws_candidate *candidate, struct ws_arena *a)
{
	const struct ws_arch *lacking;
	const struct ws_recipe *recipe = product->recipe;
	const char *local = candidate->name ? candidate->name->version.local : NULL;
	for (size_t i = 0; i < recipe->bad_wheel_count; i++) {
		const struct ws_shared_bad *bad = &recipe->bad_wheels[i];
		if (candidate->name && fnmatch(bad->label, local ? local : "", FNM_NOESCAPE) == 0
			&& ws_condition_holds(&bad->rule.when, &product->view)) {
			candidate->state = WS_CANDIDATE_REFUSED;
			candidate->why = bad->rule.why;
			candidate->see = bad->rule.see;
			return;
		}
	}
	if (!label_runs(product, &candidate->label, &lacking)) {
		candidate->state = WS_CANDIDATE_REFUSED;
		candidate->why = ws_arena_printf(a, "its code for %s does not run on %s",
			ws_arch_set_text(&candidate->label.archs, a), ws_arch_text(lacking, a));
	}
}

struct ws_candidates
ws_candidates_rank(const struct ws_product *product, bool window,
	const struct ws_index_wheels *wheels, struct ws_arena *a)
{
	/* Room for one or two: seldom more, and plans have thousands of products. */
	struct search published = {.product = product,
		.window = window,
		.a = a,
		.found = {.at = WS_NEW(a, struct ws_candidate), .cap = 1}};
	ranked_list list = {.at = WS_NEW_N(a, struct ranked, 2), .cap = 2};
	for (size_t i = 0; i < wheels->count; i++) {
		struct ws_candidate candidate = wheels->at[i];
		unsigned fit;
		if (label_fits(product, &candidate.label, window, &candidate.window)
			&& (fit = fit_pythons(product, candidate.name)) > 0) {
			add_ranked(&list, product, &candidate, fit, a);
		}
	}
	search_templates(&published);
	for (size_t i = 0; i < published.found.len; i++) {
		add_ranked(&list, product, &published.found.at[i], 0, a);
	}
	if (list.len > 1) {
		qsort(list.at, list.len, sizeof(*list.at), cmp_ranked);
	}
	struct ws_candidates candidates = {
		.at = WS_NEW_N(a, struct ws_candidate, list.len),
		.count = list.len,
		.unpublished = published.unpublished.at,
		.unpublished_count = published.unpublished.len,
	};
	for (size_t i = 0; i < list.len; i++) {
		candidates.at[i] = list.at[i].candidate;
		refuse_by_name(product, &candidates.at[i], a);
	}
	return candidates;
}
