/* guess_flags.c - flags of a setup.py as a recipe names them: without what the matrix, torch or the
 * scheduler decides (config/recipe.h knows which those are), and without what is for Windows. */
#include "draft/guess_flags.h"

#include "config/recipe.h"
#include "recipe/words.h"

#include <stdlib.h>
#include <string.h>

/* "arch=compute_80,code=sm_90a": every number behind compute_ and sm_. */
static void
take_archs(const char *text, struct ws_arena *a, struct ws_guess_flags *found)
{
	static const char *const marks[] = {"compute_", "sm_"};
	for (size_t i = 0; i < WS_LEN(marks); i++) {
		for (const char *at = text; (at = strstr(at, marks[i]));) {
			at += strlen(marks[i]);
			unsigned long number = strtoul(at, NULL, 10);
			if (number >= 50 && number <= 199) {
				ws_texts_add(
					&found->archs, ws_arena_printf(a, "%lu.%lu", number / 10, number % 10), a);
			}
		}
	}
}

/* "-std=c++17", "gnu++20". */
static void
take_std(const char *text, struct ws_guess_flags *found)
{
	const char *plus = strstr(text, "++");
	unsigned long number = plus ? strtoul(plus + 2, NULL, 10) : 0;
	bool known = number == 14 || number == 17 || number == 20 || number == 23;
	if (known && number > found->cxx_std) {
		found->cxx_std = (unsigned)number;
	}
}

static bool
is_plain(const char *text)
{
	for (const char *c = text; *c; c++) {
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f) {
			return false;
		}
	}
	return text[0] != '\0';
}

/* State between one word and the next. */
struct sorting {
	struct ws_arena *a;
	struct ws_guess_flags *found;
	bool left_out;  /* the last flag was, so a word without a dash was its value */
	bool value_due; /* the last flag takes the next word as its value */
};

static void
take_word(struct sorting *s, const char *text, bool conditional)
{
	bool value = s->value_due || (s->left_out && text[0] != '-');
	bool refused = ws_recipe_flag_refused(text) != NULL;
	if (strstr(text, "compute_") || strstr(text, "sm_")) {
		take_archs(text, s->a, s->found);
	}
	if (!value && refused && strstr(text, "-std")) {
		take_std(text, s->found);
	}
	s->left_out =
		(value && s->left_out) || refused || (!value && text[0] == '/') || !is_plain(text);
	s->value_due = !value && ws_flag_takes_value(text);
	if (!s->left_out) {
		ws_texts *list = !value && text[0] != '-' ? &s->found->strays
			: conditional                         ? &s->found->conditional
												  : &s->found->flags;
		*ws_vec_push(list, s->a) = text;
	}
}

void
ws_guess_flags(const ws_setup_words *words, struct ws_arena *a, struct ws_guess_flags *found)
{
	struct sorting s = {.a = a, .found = found};
	for (size_t i = 0; i < words->len; i++) {
		struct ws_str rest = ws_str_of(words->at[i].text);
		bool several = strstr(words->at[i].text, " -") != NULL;
		while (rest.s) {
			struct ws_str word = several ? ws_str_cut(&rest, ' ') : rest;
			rest = several ? rest : (struct ws_str){NULL, 0};
			take_word(&s, ws_str_copy(ws_str_trim(word), a), words->at[i].conditional);
		}
	}
}
