#include "base/arena.h"
#include "base/text.h"
#include "plan/candidate_order.h"

#include <string.h>

/* Everything for one template. */
struct search {
	const struct ws_product *product;
	const struct ws_prebuilt *prebuilt;
	bool window;
	struct ws_arena *a;
	WS_VEC(struct ws_candidate) found;
	WS_VEC(struct ws_unpublished) unpublished;
};

/* ---- names ---- */

static void
add_value(const struct search *s, const char *name, size_t len,
	const struct ws_published_values *values, struct ws_buf *out)
{
	struct ws_str key = {name, len};
	if (ws_str_is(key, "version")) {
		ws_buf_puts(out, s->product->recipe->version.text);
	} else if (ws_str_is(key, "cuda") && values->cuda) {
		ws_buf_puts(out, values->cuda->text);
	} else if (ws_str_is(key, "torch") && values->torch) {
		ws_buf_puts(out, values->torch->text);
	} else if (ws_str_is(key, "cxx11abi") && values->cxx11abi) {
		ws_buf_puts(out, values->cxx11abi->text);
	} else if (ws_str_is(key, "python") && values->python) {
		ws_buf_printf(out, "cp%u%u", values->python->tag.major, values->python->tag.minor);
	}
}

/* The template with @a values; @a plus stands for '+'. The reader saw to it that placeholders have
 * values. */
static const char *
expand(const struct search *s, const struct ws_published_values *values, const char *template,
	const char *plus)
{
	WS_AUTO_BUF struct ws_buf out = {0};
	for (const char *c = template; *c; c++) {
		const char *end = *c == '{' ? strchr(c, '}') : NULL;
		if (end) {
			add_value(s, c + 1, (size_t)(end - c - 1), values, &out);
			c = end;
		} else if (*c == '+') {
			ws_buf_puts(&out, plus);
		} else {
			ws_buf_putc(&out, *c);
		}
	}
	return ws_buf_copy(&out, s->a);
}

static const char *
file_of(const struct search *s, const struct ws_published_values *values)
{
	return expand(s, values, strrchr(s->prebuilt->url, '/') + 1, "+");
}

/* ---- what was published ---- */

static struct ws_wheel_label
claim(const struct search *s, const struct ws_published_values *values)
{
	return (struct ws_wheel_label){
		.torch = values->torch ? values->torch->text : NULL,
		.cuda = values->cuda ? values->cuda->version.text : NULL,
		.cxx11abi = values->cxx11abi ? values->cxx11abi->cxx11abi : -1,
		.archs = s->prebuilt->archs,
	};
}

static void
try_values(struct search *s, const struct ws_published_values *values)
{
	struct ws_candidate candidate = {
		.from = s->prebuilt->from,
		.place = WS_PLACE_TEMPLATE,
		.label = claim(s, values),
	};
	if (!ws_claim_fits(s->product, &candidate.label, s->window, &candidate.window)
		|| !ws_prebuilt_has(s->prebuilt, values)) {
		return;
	}
	candidate.file = file_of(s, values);
	candidate.url = expand(s, values, s->prebuilt->url, "%2B");
	*ws_vec_push(&s->found, s->a) = candidate;
}

/* The interpreter that names say, which every cell of the product must have; NULL with *fits false:
 * it was not published. */
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

static const struct ws_published *
value_at(const struct ws_published_list *list, size_t i)
{
	return list->count > 0 ? &list->at[i] : NULL;
}

static size_t
rounds(const struct ws_published_list *list)
{
	return list->count > 0 ? list->count : 1;
}

/* All that the matrix has for this product: a few dozen combinations at most, most of them of
 * another CUDA major, torch or ABI. */
static void
find_published(struct search *s, const struct ws_published_python *python)
{
	const struct ws_prebuilt *p = s->prebuilt;
	for (size_t c = 0; c < rounds(&p->cuda); c++) {
		for (size_t t = 0; t < rounds(&p->torch); t++) {
			for (size_t i = 0; i < rounds(&p->cxx11abi); i++) {
				struct ws_published_values values = {value_at(&p->cuda, c), value_at(&p->torch, t),
					value_at(&p->cxx11abi, i), python};
				try_values(s, &values);
			}
		}
	}
}

/* ---- what was not ---- */

/* "118, 123" with @a prefix before each. */
static const char *
list_values(const struct search *s, const struct ws_published_list *list, const char *prefix)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < list->count; i++) {
		ws_buf_printf(&b, "%s%s%s", i > 0 ? ", " : "", prefix, list->at[i].text);
	}
	return ws_buf_copy(&b, s->a);
}

static const char *
list_pythons(const struct search *s)
{
	WS_AUTO_BUF struct ws_buf b = {0};
	for (size_t i = 0; i < s->prebuilt->python_count; i++) {
		ws_buf_printf(&b, "%s%s", i > 0 ? ", " : "",
			ws_python_version_text(&s->prebuilt->pythons[i].tag, s->a));
	}
	return ws_buf_copy(&b, s->a);
}

/* What one would guess, and what is wrong with it. */
struct guess {
	struct ws_published_values values;
	struct ws_published made_up[3]; /* torch, CUDA, ABI, that were not published */
	struct ws_published_python python;
	const char *what; /* the first that was not published: "torch 2.5" */
	struct ws_buf why;
};

static void
add_reason(const struct search *s, struct guess *guess, const char *what, const char *value,
	const char *others)
{
	const char *text = ws_arena_printf(s->a, "%s%s", what, value);
	guess->what = guess->what ? guess->what : text;
	ws_buf_printf(&guess->why, "%s%s was never published (%s were)", guess->why.len > 0 ? "; " : "",
		text, others);
}

static const struct ws_published *
find_value(const struct ws_published_list *list, const char *text)
{
	for (size_t i = 0; i < list->count; i++) {
		if (strcmp(list->at[i].text, text) == 0) {
			return &list->at[i];
		}
	}
	return NULL;
}

/* The product's CUDA as these names write theirs: "124", "12", "12.4". */
static const char *
guess_cuda(const struct search *s)
{
	const struct ws_cuda_choice *cuda = s->product->point.cuda;
	const struct ws_published *like = &s->prebuilt->cuda.at[0];
	unsigned major = cuda->version.major;
	unsigned minor = cuda->version.minor;
	return like->any_minor        ? ws_arena_printf(s->a, "%u", major)
		: strchr(like->text, '.') ? cuda->name
								  : ws_arena_printf(s->a, "%u%u", major, minor);
}

/* @a list's value @a text, or one made up that was not published. */
static const struct ws_published *
guess_value(const struct search *s, struct guess *guess, const struct ws_published_list *list,
	const char *text, struct ws_published *made_up, const char *what, const char *prefix)
{
	const struct ws_published *found = find_value(list, text);
	if (!found) {
		add_reason(s, guess, what, text, list_values(s, list, prefix));
		made_up->text = text;
	}
	return found ? found : made_up;
}

/* "FALSE" or what these names write for it. */
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

static void
guess_values(const struct search *s, struct guess *guess)
{
	const struct ws_prebuilt *p = s->prebuilt;
	const struct ws_point *point = &s->product->point;
	if (p->torch.count > 0 && point->torch) {
		guess->values.torch =
			guess_value(s, guess, &p->torch, point->torch->minor, &guess->made_up[0], "torch ", "");
	}
	if (p->cuda.count > 0 && point->cuda) {
		guess->values.cuda =
			guess_value(s, guess, &p->cuda, guess_cuda(s), &guess->made_up[1], "cu", "cu");
	}
	if (p->cxx11abi.count > 0) {
		guess->values.cxx11abi =
			guess_value(s, guess, &p->cxx11abi, guess_abi(s), &guess->made_up[2], "cxx11abi ", "");
	}
	if (p->python_count > 0 && !guess->values.python) {
		add_reason(s, guess, "Python ", point->python->text, list_pythons(s));
		guess->python = (struct ws_published_python){point->python->tag, point->python->version};
		guess->values.python = &guess->python;
	}
}

/* The name that one would make up for this product, where nobody published it. */
static void
report_guess(struct search *s, const struct ws_published_python *python)
{
	struct guess guess = {.values = {.python = python}};
	guess_values(s, &guess);
	if (guess.why.len > 0 || !ws_prebuilt_has(s->prebuilt, &guess.values)) {
		*ws_vec_push(&s->unpublished, s->a) = (struct ws_unpublished){
			.file = file_of(s, &guess.values),
			.from = s->prebuilt->from,
			.what = guess.what,
			.why = guess.why.len > 0 ? ws_buf_copy(&guess.why, s->a)
									 : "this combination of values was never published",
		};
	}
	ws_buf_release(&guess.why);
}

/* What the names of a template end in: "linux_x86_64.whl", "any.whl". */
static bool
is_for(const struct ws_prebuilt *prebuilt, const struct ws_machine *machine)
{
	const char *platform = strrchr(prebuilt->url, '-');
	return !platform || strstr(platform, machine->name) || ws_same(platform, "-any.whl");
}

struct ws_published_wheels
ws_published_of(const struct ws_product *product, bool window, struct ws_arena *a)
{
	const struct ws_recipe *recipe = product->recipe;
	/* Room for one: most have one, and plans have thousands of products. */
	struct search s = {
		.product = product,
		.window = window,
		.a = a,
		.found = {.at = WS_NEW(a, struct ws_candidate), .cap = 1},
	};
	for (size_t i = 0; i < recipe->prebuilt_count; i++) {
		bool fits;
		if (!is_for(&recipe->prebuilt[i], product->point.machine)) {
			continue;
		}
		s.prebuilt = &recipe->prebuilt[i];
		const struct ws_published_python *python = find_python(&s, &fits);
		if (fits) {
			find_published(&s, python);
		}
		report_guess(&s, python);
	}
	return (struct ws_published_wheels){
		s.found.at, s.found.len, s.unpublished.at, s.unpublished.len};
}
