/* elf_file.c - addresses to bytes, tags to values, offsets to strings. */
#include "elf/elf_file.h"

#include <elf.h>

bool
ws_elf_damaged(const struct ws_elf_file *f, struct ws_err *err, const char *what)
{
	return ws_err_set(err, WS_ERR_FETCH, "'%s' is damaged: %s", f->seen.path, what);
}

const struct ws_elf_segment *
ws_elf_segment_of(const struct ws_elf_file *f, uint64_t address, uint64_t size)
{
	for (size_t i = 0; i < f->segment_count; i++) {
		const struct ws_elf_segment *s = &f->segments[i];
		if (address >= s->address && address - s->address < s->memory
			&& size <= s->memory - (address - s->address)) {
			return s;
		}
	}
	return NULL;
}

bool
ws_elf_is_code(const struct ws_elf_file *f, uint64_t address)
{
	const struct ws_elf_segment *s = ws_elf_segment_of(f, address, 1);
	return s && s->executable;
}

struct ws_str
ws_elf_rest(const struct ws_elf_file *f, uint64_t address)
{
	const struct ws_elf_segment *s = ws_elf_segment_of(f, address, 1);
	uint64_t skipped = s ? address - s->address : 0;
	return s && skipped < s->size
		? (struct ws_str){f->bytes.s + s->offset + skipped, s->size - skipped}
		: (struct ws_str){0};
}

bool
ws_elf_dynamic(const struct ws_elf_file *f, int64_t tag, uint64_t *value)
{
	for (size_t at = f->dynamic.n; at >= sizeof(Elf64_Dyn); at -= sizeof(Elf64_Dyn)) {
		Elf64_Dyn entry;
		memcpy(&entry, f->dynamic.s + at - sizeof(entry), sizeof(entry));
		if (entry.d_tag == tag) {
			*value = entry.d_un.d_val;
			return true;
		}
	}
	return false;
}

const char *
ws_elf_string(const struct ws_elf_file *f, uint64_t offset)
{
	if (offset < f->strings.n) {
		return f->strings.s + offset;
	}
	/* The loader adds the offset to an address, without a check against the table's size. */
	struct ws_str rest = ws_elf_rest(f, f->strings_at + offset);
	return rest.n && memchr(rest.s, '\0', rest.n) ? rest.s : NULL;
}

uint32_t
ws_elf_hash(const char *name)
{
	uint32_t h = 0;
	for (; *name; name++) {
		h = (h << 4) + (unsigned char)*name;
		h = (h ^ (h >> 24 & 0xf0)) & 0x0fffffff;
	}
	return h;
}
