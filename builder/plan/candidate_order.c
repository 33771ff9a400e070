#include "plan/candidate_order.h"

#include "base/text.h"

#include <stdlib.h>

struct ws_offers
ws_offers_read(const struct ws_recipe *recipe, const struct ws_offered_wheel *wheels, size_t count,
	struct ws_arena *a)
{
	WS_VEC(struct ws_offer) offers = {0};
	for (size_t i = 0; i < count; i++) {
		struct ws_wheel_name name;
		const char *why;
		if (ws_wheel_name_parse(wheels[i].file, a, &name, &why)
			&& ws_same(name.distribution, recipe->name)
			&& ws_version_cmp_public(&name.version, &recipe->version) == 0) {
			*ws_vec_push(&offers, a) =
				(struct ws_offer){&wheels[i], name, ws_wheel_label_read(name.version.local, a)};
		}
	}
	return (struct ws_offers){offers.at, offers.len};
}

/* Every Python that the wheel would serve; 0: some it does not fit. */
static unsigned
fits_pythons(const struct ws_product *product, const struct ws_wheel_name *name)
{
	unsigned least = 0;
	for (size_t i = 0; i < product->cell_count; i++) {
		const struct ws_python_choice *python = product->cells[i]->point.python;
		if (i > 0 && python == product->cells[i - 1]->point.python) {
			continue;
		}
		/* The judge checks the real requirement of a glibc. */
		unsigned fit = ws_wheel_fit(name, &python->tag, product->point.machine, 2, WS_ANY_GLIBC);
		if (fit == 0) {
			return 0;
		}
		least = i == 0 || fit < least ? fit : least;
	}
	return least;
}

/* ---- order ---- */

struct ranked {
	struct ws_candidate candidate;
	long distance; /* of torch minors */
	unsigned cuda; /* 0: the product's; 1: any of its major, or not said; 2: another */
	unsigned fit;  /* of tags; the more the better */
	size_t number;
};

typedef WS_VEC(struct ranked) ranked_list;

static unsigned
rank_cuda(const struct ws_product *product, const struct ws_wheel_label *label)
{
	const struct ws_cuda_choice *cuda = product->point.cuda;
	if (!label->cuda || !cuda) {
		return 1;
	}
	return ws_same(label->cuda, cuda->name) ? 0 : ws_starts_with(cuda->name, label->cuda) ? 1 : 2;
}

/* Older wheels before newer ones: what newer torches export is more than what older ones do. */
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
add(ranked_list *list, const struct ws_product *product, const struct ws_candidate *candidate,
	unsigned fit, struct ws_arena *a)
{
	size_t number = list->len;
	*ws_vec_push(list, a) = (struct ranked){
		.candidate = *candidate,
		.distance = ws_claim_distance(product, &candidate->label),
		.cuda = rank_cuda(product, &candidate->label),
		.fit = fit,
		.number = number,
	};
}

static void
add_offers(ranked_list *list, const struct ws_product *product, bool window,
	const struct ws_offers *offers, struct ws_arena *a)
{
	for (size_t i = 0; offers && i < offers->count; i++) {
		const struct ws_offer *offer = &offers->at[i];
		struct ws_candidate candidate = {
			.file = offer->wheel->file,
			.from = offer->wheel->from,
			.url = offer->wheel->url,
			.sha256 = offer->wheel->sha256,
			.size_bytes = offer->wheel->size_bytes,
			.place = offer->wheel->place,
			.label = offer->label,
		};
		unsigned fit;
		if (ws_claim_fits(product, &offer->label, window, &candidate.window)
			&& (fit = fits_pythons(product, &offer->name)) > 0) {
			add(list, product, &candidate, fit, a);
		}
	}
}

/* The rule by which a wheel of this name is known not to serve. */
static const struct ws_shared_bad *
find_bad(const struct ws_product *product, const char *file, struct ws_arena *a)
{
	const struct ws_recipe *recipe = product->recipe;
	struct ws_wheel_name name;
	const char *why;
	return recipe->bad_wheel_count > 0 && ws_wheel_name_parse(file, a, &name, &why)
		? ws_shared_bad_wheel(recipe->bad_wheels, recipe->bad_wheel_count, &name, &product->view)
		: NULL;
}

/* What cannot serve is never asked for. */
static void
refuse(const struct ws_product *product, struct ws_candidate *candidate, struct ws_arena *a)
{
	const struct ws_arch *lacking;
	const struct ws_shared_bad *bad = find_bad(product, candidate->file, a);
	if (bad) {
		ws_candidate_set(candidate, WS_CANDIDATE_REFUSED, bad->rule.why);
		candidate->see = bad->rule.see;
	} else if (!ws_claim_runs(product, &candidate->label, &lacking)) {
		ws_candidate_set(candidate, WS_CANDIDATE_REFUSED,
			ws_arena_printf(a, "its code for %s does not run on %s",
				ws_arch_set_text(&candidate->label.archs, a), ws_arch_text(lacking, a)));
	}
}

struct ws_candidates
ws_candidates_of(const struct ws_product *product, bool window, const struct ws_offers *offers,
	struct ws_arena *a)
{
	struct ws_published_wheels published = ws_published_of(product, window, a);
	size_t room = published.count + 1; /* seldom more, and plans have thousands of products */
	ranked_list list = {.at = WS_NEW_N(a, struct ranked, room), .cap = room};
	add_offers(&list, product, window, offers, a);
	for (size_t i = 0; i < published.count; i++) {
		add(&list, product, &published.at[i], 0, a);
	}
	if (list.len > 1) {
		qsort(list.at, list.len, sizeof(*list.at), cmp_ranked);
	}
	struct ws_candidates candidates = {
		.at = WS_NEW_N(a, struct ws_candidate, list.len),
		.count = list.len,
		.unpublished = published.unpublished,
		.unpublished_count = published.unpublished_count,
	};
	for (size_t i = 0; i < list.len; i++) {
		candidates.at[i] = list.at[i].candidate;
		refuse(product, &candidates.at[i], a);
	}
	return candidates;
}
