/* versions.c - the versions that a file asks of others, and those it defines. Lists end where the
 * loader ends them (elf/dl-version.c): at a step of 0; counts that stand beside are not read. */
#include "base/vec.h"
#include "elf/elf_file.h"

#include <elf.h>

#include <string.h>

#define MOST_VERSIONS 32768 /* 15 bits in .gnu.version; the top bit means "hidden" */

struct reading {
	struct ws_elf_file *f;
	WS_VEC(struct ws_elf_version) list;
};

/* Copies @len bytes at *@rest to @to, after moving it by @step. */
static bool
step(struct ws_str *rest, uint64_t step, void *to, size_t len)
{
	if (step > rest->n || len > rest->n - step) {
		return false;
	}
	*rest = (struct ws_str){rest->s + step, rest->n - step};
	memcpy(to, rest->s, len);
	return true;
}

/* The versions asked of one library. */
static bool
read_need(struct reading *r, struct ws_str rest, const Elf64_Verneed *need)
{
	const char *library = ws_elf_string(r->f, need->vn_file);
	Elf64_Vernaux aux = {.vna_next = need->vn_aux};
	do {
		const char *name;
		if (!library || r->list.len == MOST_VERSIONS
			|| !step(&rest, aux.vna_next, &aux, sizeof(aux))
			|| !(name = ws_elf_string(r->f, aux.vna_name)) || aux.vna_hash != ws_elf_hash(name)) {
			return false;
		}
		*ws_vec_push(&r->list, r->f->a) = (struct ws_elf_version){
			library,
			name,
			aux.vna_other & 0x7fff,
			(aux.vna_flags & VER_FLG_WEAK) != 0,
		};
	} while (aux.vna_next != 0);
	return true;
}

static bool
read_needs(struct reading *r)
{
	uint64_t address;
	if (!ws_elf_dynamic(r->f, DT_VERNEED, &address)) {
		return true;
	}
	struct ws_str rest = ws_elf_rest(r->f, address);
	Elf64_Verneed need = {0};
	do {
		/* One version at least for each library, so that MOST_VERSIONS also ends this loop. */
		if (!step(&rest, need.vn_next, &need, sizeof(need)) || need.vn_version != VER_NEED_CURRENT
			|| !read_need(r, rest, &need)) {
			return false;
		}
	} while (need.vn_next != 0);
	return true;
}

static bool
read_defs(struct reading *r)
{
	uint64_t address;
	if (!ws_elf_dynamic(r->f, DT_VERDEF, &address)) {
		return true;
	}
	struct ws_str rest = ws_elf_rest(r->f, address);
	Elf64_Verdef def = {0};
	do {
		Elf64_Verdaux aux;
		const char *name;
		if (r->list.len == MOST_VERSIONS || !step(&rest, def.vd_next, &def, sizeof(def))
			|| def.vd_version != VER_DEF_CURRENT
			|| !step(&(struct ws_str){rest.s, rest.n}, def.vd_aux, &aux, sizeof(aux))
			|| !(name = ws_elf_string(r->f, aux.vda_name))) {
			return false;
		}
		/* The base definition is the library's own name, not a version of a symbol. */
		if (!(def.vd_flags & VER_FLG_BASE) && def.vd_hash == ws_elf_hash(name)) {
			*ws_vec_push(&r->list, r->f->a) =
				(struct ws_elf_version){.name = name, .index = def.vd_ndx & 0x7fff};
		}
	} while (def.vd_next != 0);
	return true;
}

static void
index_versions(struct reading *r)
{
	struct ws_elf_file *f = r->f;
	for (size_t i = 0; i < r->list.len; i++) {
		if (r->list.at[i].index >= f->index_count) {
			f->index_count = r->list.at[i].index + 1;
		}
	}
	f->by_index = WS_NEW_N(f->a, const struct ws_elf_version *, f->index_count);
	for (size_t i = 0; i < r->list.len; i++) {
		f->by_index[r->list.at[i].index] = &r->list.at[i];
	}
}

bool
ws_elf_read_versions(struct ws_elf_file *f, struct ws_err *err)
{
	struct reading r = {.f = f};
	uint64_t address;
	if (!read_needs(&r) || !read_defs(&r)) {
		return ws_elf_damaged(f, err, "its version tables cannot be read");
	}
	bool versioned = ws_elf_dynamic(f, DT_VERSYM, &address);
	f->versyms = versioned ? ws_elf_rest(f, address) : (struct ws_str){0};
	if ((versioned || r.list.len > 0) && f->versyms.n == 0) {
		return ws_elf_damaged(f, err, "the versions of its symbols are not there");
	}
	index_versions(&r);
	f->seen.versions = r.list.at;
	f->seen.version_count = r.list.len;
	return true;
}
