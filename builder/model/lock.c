/* lock.c - the tables of pins, and operations by table. A lock holds tens of pins: lists are
 * enough. */
#include "model/lock.h"

#include "base/text.h"

#define NAMED(owner, member, json_key, its_value, its_flags) \
	{ \
		.key = (json_key), .value = WS_PIN_##its_value, .flags = (its_flags), \
		.at = offsetof(struct ws_pin_##owner, member) \
	}
#define FIELD(owner, member, value, flags) NAMED(owner, member, #member, value, flags)
#define NEEDED WS_PIN_NEEDED
#define BINDS WS_PIN_BINDS
#define FOLLOWS WS_PIN_FOLLOWS
#define ID (WS_PIN_ID | WS_PIN_NEEDED)

static const struct ws_pin_field source_fields[] = {
	FIELD(source, package, PACKAGE, ID),
	FIELD(source, version, LINE, ID),
	FIELD(source, how, SOURCE_HOW, NEEDED | BINDS),
	FIELD(source, from, LINE, NEEDED),
	FIELD(source, sha256, SHA256, BINDS),
	FIELD(source, commit, COMMIT, BINDS),
	FIELD(source, tree, SHA256, NEEDED | BINDS),
	FIELD(source, definition, SHA256, FOLLOWS),
};

static const struct ws_pin_field cuda_fields[] = {
	FIELD(cuda, cuda, LINE, ID),
	FIELD(cuda, how, CUDA_HOW, NEEDED | BINDS),
	FIELD(cuda, name, LINE, NEEDED),
	FIELD(cuda, digest, SHA256, NEEDED | BINDS),
	FIELD(cuda, definition, SHA256, 0),
	FIELD(cuda, debian, DEBIAN, 0),
};

static const struct ws_pin_field torch_fields[] = {
	NAMED(torch, version, "torch", LINE, ID),
	FIELD(torch, wheel, LINE, NEEDED),
	FIELD(torch, sha256, SHA256, 0),
	FIELD(torch, record, SHA256, NEEDED),
	FIELD(torch, tree, SHA256, NEEDED | BINDS),
	FIELD(torch, cuda, LINE, 0),
	FIELD(torch, cxx11abi, ABI, NEEDED),
};

static const struct ws_pin_field exports_fields[] = {
	FIELD(exports, torch, LINE, ID),
	FIELD(exports, definition, SHA256, NEEDED | FOLLOWS),
	FIELD(exports, tree, SHA256, NEEDED | FOLLOWS),
};

static const struct ws_pin_field prebuilt_fields[] = {
	FIELD(prebuilt, package, PACKAGE, ID),
	FIELD(prebuilt, version, LINE, NEEDED),
	FIELD(prebuilt, wheel, WHEEL, ID),
	FIELD(prebuilt, from, LINE, NEEDED),
	FIELD(prebuilt, sha256, SHA256, ID | BINDS),
};

#define TYPE(list, its_what, its_name, c_type, its_fields) \
	{ \
		.key = #list, .what = (its_what), .name = (its_name), \
		.list_at = offsetof(struct ws_lock, list), .count_at = offsetof(struct ws_lock, list.len), \
		.size = sizeof(c_type), .fields = (its_fields), .field_count = WS_LEN(its_fields) \
	}

const struct ws_pin_type ws_pin_types[WS_PIN_KINDS] = {
	[WS_PIN_SOURCE] =
		TYPE(sources, "the pin of a source", NULL, struct ws_pin_source, source_fields),
	[WS_PIN_CUDA] = TYPE(cuda, "the pin of a CUDA kit", "cuda", struct ws_pin_cuda, cuda_fields),
	[WS_PIN_TORCH] =
		TYPE(torch, "the pin of a torch release", "torch", struct ws_pin_torch, torch_fields),
	[WS_PIN_EXPORTS] =
		TYPE(exports, "the pin of an export list", "torch", struct ws_pin_exports, exports_fields),
	[WS_PIN_PREBUILT] = TYPE(
		prebuilt, "the pin of a prebuilt wheel", NULL, struct ws_pin_prebuilt, prebuilt_fields),
};

/* ---- members ---- */

/* The text of a member; NULL where it has none. */
static const char *
member_text(const struct ws_pin_field *field, const void *pin)
{
	const char *text;
	memcpy(&text, (const char *)pin + field->at, sizeof(text));
	return text;
}

/* By the members that have @a flags. NULL and "" are equal. */
static int
cmp(const struct ws_pin_type *type, const void *x, const void *y, unsigned flags)
{
	int order = 0;
	for (size_t i = 0; i < type->field_count && order == 0; i++) {
		const struct ws_pin_field *field = &type->fields[i];
		if ((field->flags & flags) != flags) {
			continue;
		}
		if (field->value == WS_PIN_ABI) {
			order = memcmp((const char *)x + field->at, (const char *)y + field->at, sizeof(int));
		} else {
			const char *left = member_text(field, x), *right = member_text(field, y);
			order = strcmp(left ? left : "", right ? right : "");
		}
	}
	return order;
}

int
ws_pin_cmp(enum ws_pin_kind kind, const void *x, const void *y)
{
	return cmp(&ws_pin_types[kind], x, y, WS_PIN_ID);
}

/* ---- lists ---- */

/* The shape of every list of a lock. */
typedef WS_VEC(char) pin_list;

static pin_list
get_list(const struct ws_lock *lock, const struct ws_pin_type *type)
{
	pin_list list;
	memcpy(&list, (const char *)lock + type->list_at, sizeof(list));
	list.cap = list.cap < list.len ? list.len : list.cap; /* a list that was read has no capacity */
	return list;
}

static void
set_list(struct ws_lock *lock, const struct ws_pin_type *type, pin_list list)
{
	memcpy((char *)lock + type->list_at, &list, sizeof(list));
}

size_t
ws_lock_count(const struct ws_lock *lock, enum ws_pin_kind kind)
{
	return get_list(lock, &ws_pin_types[kind]).len;
}

const void *
ws_lock_at(const struct ws_lock *lock, enum ws_pin_kind kind, size_t index)
{
	const struct ws_pin_type *type = &ws_pin_types[kind];
	return get_list(lock, type).at + index * type->size;
}

const void *
ws_lock_find(const struct ws_lock *lock, enum ws_pin_kind kind, const void *like)
{
	for (size_t i = 0; lock && i < ws_lock_count(lock, kind); i++) {
		const void *pin = ws_lock_at(lock, kind, i);
		if (ws_pin_cmp(kind, pin, like) == 0) {
			return pin;
		}
	}
	return NULL;
}

const struct ws_pin_prebuilt *
ws_lock_prebuilt(const struct ws_lock *lock, const char *package, const char *wheel,
	const char *sha256, const char *from)
{
	const struct ws_pin_prebuilt *there = NULL;
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		if (!ws_same(pin->package, package) || !ws_same(pin->wheel, wheel)) {
			continue;
		}
		if (ws_same(pin->sha256, sha256)) {
			return pin;
		}
		there = !there && ws_same(pin->from, from) ? pin : there;
	}
	return there;
}

/* For `lock --update`. */
static const char *
name_of(const struct ws_pin_type *type, const void *pin)
{
	return type->name ? type->name : member_text(&type->fields[0], pin);
}

static const char *
subject_of(enum ws_pin_kind kind, const void *pin, struct ws_arena *a)
{
	const struct ws_pin_source *source = pin;
	const struct ws_pin_prebuilt *wheel = pin;
	switch (kind) {
	case WS_PIN_SOURCE:
		return ws_arena_printf(a, "the sources of %s %s", source->package, source->version);
	case WS_PIN_CUDA:
		return ws_arena_printf(a, "CUDA %s", ((const struct ws_pin_cuda *)pin)->cuda);
	case WS_PIN_PREBUILT:
		return ws_arena_printf(a, "the wheel '%s'", wheel->wheel);
	case WS_PIN_TORCH:
	case WS_PIN_EXPORTS:
	case WS_PIN_KINDS:
		break;
	}
	return ws_arena_printf(a, "torch %s", ((const struct ws_pin_torch *)pin)->version);
}

struct ws_pin_change
ws_lock_compare(
	const struct ws_lock *lock, enum ws_pin_kind kind, const void *found, struct ws_arena *a)
{
	const struct ws_pin_type *type = &ws_pin_types[kind];
	const void *known = ws_lock_find(lock, kind, found);
	struct ws_pin_change change = {
		.pin = found,
		.subject = subject_of(kind, found, a),
		.name = name_of(type, found),
	};
	char *merged = known ? ws_arena_copy(a, known, type->size) : NULL;
	for (size_t i = 0; i < type->field_count; i++) {
		const struct ws_pin_field *field = &type->fields[i];
		if (field->flags & WS_PIN_BINDS) {
			const char *is = member_text(field, found),
					   *was = known ? member_text(field, known) : is;
			change.binds = change.binds || !known || !ws_same(was ? was : "", is ? is : "");
			/* The last one is the digest that the pin is about. */
			change.is = is;
			change.was = known ? was : NULL;
		}
		if (known && (field->flags & WS_PIN_FOLLOWS)) {
			const char *text = member_text(field, found);
			memcpy(merged + field->at, &text, sizeof(text));
		}
	}
	change.pin = known && !change.binds ? merged : found;
	return change;
}

bool
ws_lock_put(struct ws_lock *lock, enum ws_pin_kind kind, const void *pin, struct ws_arena *a)
{
	const struct ws_pin_type *type = &ws_pin_types[kind];
	pin_list list = get_list(lock, type);
	const char *known = ws_lock_find(lock, kind, pin);
	if (known && cmp(type, known, pin, 0) == 0) {
		return false;
	}
	size_t index = known ? (size_t)(known - list.at) / type->size : list.len;
	if (!known) {
		ws_vec_grow(&list.at, list.len, &list.cap, type->size, a);
		list.len++;
	}
	memcpy(list.at + index * type->size, pin, type->size);
	set_list(lock, type, list);
	return true;
}

/* The last pin fills the gap: the writer sorts. */
static void
remove_at(struct ws_lock *lock, const struct ws_pin_type *type, size_t index)
{
	pin_list list = get_list(lock, type);
	list.len--;
	memmove(list.at + index * type->size, list.at + list.len * type->size, type->size);
	set_list(lock, type, list);
}

/* ---- all ---- */

size_t
ws_lock_forget(struct ws_lock *lock, const char *name)
{
	size_t count = 0;
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		for (size_t i = ws_lock_count(lock, kind); i-- > 0;) {
			const char *own = name_of(&ws_pin_types[kind], ws_lock_at(lock, kind, i));
			if (ws_same(name, "all") || ws_same(name, own)) {
				remove_at(lock, &ws_pin_types[kind], i);
				count++;
			}
		}
	}
	return count;
}

void
ws_lock_merge(
	struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is, struct ws_arena *a)
{
	for (enum ws_pin_kind kind = 0; kind < WS_PIN_KINDS; kind++) {
		const struct ws_pin_type *type = &ws_pin_types[kind];
		for (size_t i = ws_lock_count(into, kind); i-- > 0;) {
			const void *pin = ws_lock_at(into, kind, i);
			const void *old = ws_lock_find(was, kind, pin);
			if (old && cmp(type, old, pin, 0) == 0 && !ws_lock_find(is, kind, pin)) {
				remove_at(into, type, i);
			}
		}
		for (size_t i = 0; i < ws_lock_count(is, kind); i++) {
			const void *pin = ws_lock_at(is, kind, i);
			const void *old = ws_lock_find(was, kind, pin);
			if (!old || cmp(type, old, pin, 0) != 0) {
				ws_lock_put(into, kind, pin, a);
			}
		}
	}
}
