/* closure.c - a list and a walk; a process has a hundred libraries at most. */
#include "verify/closure.h"

#include "verify/floor.h"
#include "verify/missing.h"

size_t
ws_closure_library(struct ws_closure *c, const char *name)
{
	for (size_t i = 0; i < c->libraries.len; i++) {
		if (ws_same(c->libraries.at[i].name, name)) {
			return i;
		}
	}
	ws_vec_push(&c->libraries, c->a)->name = ws_arena_strdup(c->a, name);
	return c->libraries.len - 1;
}

size_t
ws_closure_add(struct ws_closure *c, const struct ws_elf *elf)
{
	size_t library = ws_closure_library(c, ws_elf_library_name(elf));
	c->libraries.at[library].elf = elf;
	for (size_t i = 0; i < elf->needed_count; i++) {
		ws_closure_need(c, library, elf->needed[i]);
	}
	return library;
}

void
ws_closure_need(struct ws_closure *c, size_t library, const char *needed)
{
	*ws_vec_push(&c->libraries.at[library].needed, c->a) = ws_arena_strdup(c->a, needed);
}

void
ws_closure_show(struct ws_closure *c, const char *name)
{
	size_t first = ws_closure_library(c, name);
	if (c->libraries.at[first].visible) {
		return;
	}
	/* The loader goes breadth first; only what is reached matters here. */
	WS_VEC(size_t) queue = {0};
	c->libraries.at[first].visible = true;
	*ws_vec_push(&queue, c->a) = first;
	for (size_t at = 0; at < queue.len; at++) {
		for (size_t i = 0; i < c->libraries.at[queue.at[at]].needed.len; i++) {
			size_t next = ws_closure_library(c, c->libraries.at[queue.at[at]].needed.at[i]);
			if (!c->libraries.at[next].visible) {
				c->libraries.at[next].visible = true;
				*ws_vec_push(&queue, c->a) = next;
			}
		}
	}
}

/* The first library that torch's own need for which @fits holds; NULL: none. */
static const char *
find_of_torch(const struct ws_closure *c, bool (*fits)(const char *needed, const char *word),
	const char *word)
{
	for (size_t i = 0; i < c->libraries.len; i++) {
		const struct ws_known_library *known = &c->libraries.at[i];
		for (size_t n = 0; known->listed && n < known->needed.len; n++) {
			if (fits(known->needed.at[n], word)) {
				return known->needed.at[n];
			}
		}
	}
	return NULL;
}

bool
ws_closure_is_brought(const struct ws_closure *c, const struct ws_known_library *library)
{
	return library->elf || library->listed || ws_floor_is_system_library(library->name)
		|| ws_library_is_of(library->name, "libcuda") || ws_starts_with(library->name, "libpython")
		|| find_of_torch(c, ws_same, library->name);
}

const char *
ws_closure_brought_instead(const struct ws_closure *c, const char *name)
{
	const char *end = ws_library_is_cuda(name) ? strstr(name, ".so") : NULL;
	return end ? find_of_torch(c, ws_library_is_of, ws_arena_copy(c->a, name, (size_t)(end - name)))
			   : NULL;
}
