/* lock.c - looking up and replacing pins. A lock holds tens of pins: lists are enough. */
#include "model/lock.h"

#include "base/str.h"

#include <string.h>

const struct ws_pin_source *
ws_lock_source(const struct ws_lock *lock, const char *package, const char *version)
{
	for (size_t i = 0; i < lock->sources.len; i++) {
		const struct ws_pin_source *pin = &lock->sources.at[i];
		if (strcmp(pin->package, package) == 0 && strcmp(pin->version, version) == 0) {
			return pin;
		}
	}
	return NULL;
}

const struct ws_pin_cuda *
ws_lock_cuda(const struct ws_lock *lock, const char *cuda)
{
	for (size_t i = 0; i < lock->cuda.len; i++) {
		if (strcmp(lock->cuda.at[i].cuda, cuda) == 0) {
			return &lock->cuda.at[i];
		}
	}
	return NULL;
}

const struct ws_pin_torch *
ws_lock_torch(const struct ws_lock *lock, const char *version)
{
	for (size_t i = 0; i < lock->torch.len; i++) {
		if (strcmp(lock->torch.at[i].version, version) == 0) {
			return &lock->torch.at[i];
		}
	}
	return NULL;
}

const struct ws_pin_exports *
ws_lock_exports(const struct ws_lock *lock, const char *torch)
{
	for (size_t i = 0; i < lock->exports.len; i++) {
		if (strcmp(lock->exports.at[i].torch, torch) == 0) {
			return &lock->exports.at[i];
		}
	}
	return NULL;
}

const struct ws_pin_prebuilt *
ws_lock_prebuilt(const struct ws_lock *lock, const char *package, const char *wheel)
{
	for (size_t i = 0; i < lock->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &lock->prebuilt.at[i];
		if (strcmp(pin->package, package) == 0 && strcmp(pin->wheel, wheel) == 0) {
			return pin;
		}
	}
	return NULL;
}

static size_t
count_pins(const struct ws_lock *lock)
{
	return lock->torch.len + lock->exports.len + lock->cuda.len + lock->sources.len
		+ lock->prebuilt.len;
}

/* Takes the pins of a package out of a list. */
#define FORGET_PACKAGE(list, name) \
	do { \
		size_t kept = 0; \
		for (size_t i = 0; i < (list)->len; i++) { \
			if (strcmp((list)->at[i].package, name) != 0) { \
				(list)->at[kept++] = (list)->at[i]; \
			} \
		} \
		(list)->len = kept; \
	} while (0)

size_t
ws_lock_forget(struct ws_lock *lock, const char *name)
{
	bool all = strcmp(name, "all") == 0;
	size_t before = count_pins(lock);
	lock->torch.len = all || strcmp(name, "torch") == 0 ? 0 : lock->torch.len;
	lock->exports.len = all || strcmp(name, "torch") == 0 ? 0 : lock->exports.len;
	lock->cuda.len = all || strcmp(name, "cuda") == 0 ? 0 : lock->cuda.len;
	lock->sources.len = all ? 0 : lock->sources.len;
	lock->prebuilt.len = all ? 0 : lock->prebuilt.len;
	FORGET_PACKAGE(&lock->sources, name);
	FORGET_PACKAGE(&lock->prebuilt, name);
	return before - count_pins(lock);
}

static bool
sources_equal(const struct ws_pin_source *x, const struct ws_pin_source *y)
{
	return ws_same(x->how, y->how) && ws_same(x->from, y->from) && ws_same(x->sha256, y->sha256)
		&& ws_same(x->commit, y->commit) && ws_same(x->tree, y->tree)
		&& ws_same(x->definition, y->definition);
}

static bool
cudas_equal(const struct ws_pin_cuda *x, const struct ws_pin_cuda *y)
{
	return ws_same(x->how, y->how) && ws_same(x->name, y->name) && ws_same(x->digest, y->digest)
		&& ws_same(x->definition, y->definition) && ws_same(x->debian, y->debian);
}

static bool
torches_equal(const struct ws_pin_torch *x, const struct ws_pin_torch *y)
{
	return ws_same(x->wheel, y->wheel) && ws_same(x->sha256, y->sha256)
		&& ws_same(x->record, y->record) && ws_same(x->tree, y->tree) && ws_same(x->cuda, y->cuda)
		&& x->cxx11abi == y->cxx11abi;
}

static bool
exports_equal(const struct ws_pin_exports *x, const struct ws_pin_exports *y)
{
	return ws_same(x->definition, y->definition) && ws_same(x->tree, y->tree);
}

static bool
prebuilts_equal(const struct ws_pin_prebuilt *x, const struct ws_pin_prebuilt *y)
{
	return ws_same(x->version, y->version) && ws_same(x->from, y->from)
		&& ws_same(x->sha256, y->sha256);
}

/* The place of the pin that @a known is, or a new one. */
#define PLACE(list, known, a) ((known) ? &(list)->at[(known) - (list)->at] : ws_vec_push(list, a))

bool
ws_lock_put_source(struct ws_lock *lock, const struct ws_pin_source *pin, struct ws_arena *a)
{
	const struct ws_pin_source *known = ws_lock_source(lock, pin->package, pin->version);
	if (known && sources_equal(known, pin)) {
		return false;
	}
	*PLACE(&lock->sources, known, a) = *pin;
	return true;
}

bool
ws_lock_put_cuda(struct ws_lock *lock, const struct ws_pin_cuda *pin, struct ws_arena *a)
{
	const struct ws_pin_cuda *known = ws_lock_cuda(lock, pin->cuda);
	if (known && cudas_equal(known, pin)) {
		return false;
	}
	*PLACE(&lock->cuda, known, a) = *pin;
	return true;
}

bool
ws_lock_put_torch(struct ws_lock *lock, const struct ws_pin_torch *pin, struct ws_arena *a)
{
	const struct ws_pin_torch *known = ws_lock_torch(lock, pin->version);
	if (known && torches_equal(known, pin)) {
		return false;
	}
	*PLACE(&lock->torch, known, a) = *pin;
	return true;
}

bool
ws_lock_put_exports(struct ws_lock *lock, const struct ws_pin_exports *pin, struct ws_arena *a)
{
	const struct ws_pin_exports *known = ws_lock_exports(lock, pin->torch);
	if (known && exports_equal(known, pin)) {
		return false;
	}
	*PLACE(&lock->exports, known, a) = *pin;
	return true;
}

bool
ws_lock_put_prebuilt(struct ws_lock *lock, const struct ws_pin_prebuilt *pin, struct ws_arena *a)
{
	const struct ws_pin_prebuilt *known = ws_lock_prebuilt(lock, pin->package, pin->wheel);
	if (known && prebuilts_equal(known, pin)) {
		return false;
	}
	*PLACE(&lock->prebuilt, known, a) = *pin;
	return true;
}

/* The last takes the place of the one that goes: the order is the writer's. */
#define TAKE_OUT(list, pin) (list)->at[(pin) - (list)->at] = (list)->at[--(list)->len]

static void
take_out_forgotten(struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is)
{
	for (size_t i = 0; i < was->sources.len; i++) {
		const struct ws_pin_source *old = &was->sources.at[i];
		const struct ws_pin_source *there = ws_lock_source(into, old->package, old->version);
		if (there && !ws_lock_source(is, old->package, old->version) && sources_equal(there, old)) {
			TAKE_OUT(&into->sources, there);
		}
	}
	for (size_t i = 0; i < was->cuda.len; i++) {
		const struct ws_pin_cuda *old = &was->cuda.at[i];
		const struct ws_pin_cuda *there = ws_lock_cuda(into, old->cuda);
		if (there && !ws_lock_cuda(is, old->cuda) && cudas_equal(there, old)) {
			TAKE_OUT(&into->cuda, there);
		}
	}
	for (size_t i = 0; i < was->torch.len; i++) {
		const struct ws_pin_torch *old = &was->torch.at[i];
		const struct ws_pin_torch *there = ws_lock_torch(into, old->version);
		if (there && !ws_lock_torch(is, old->version) && torches_equal(there, old)) {
			TAKE_OUT(&into->torch, there);
		}
	}
	for (size_t i = 0; i < was->exports.len; i++) {
		const struct ws_pin_exports *old = &was->exports.at[i];
		const struct ws_pin_exports *there = ws_lock_exports(into, old->torch);
		if (there && !ws_lock_exports(is, old->torch) && exports_equal(there, old)) {
			TAKE_OUT(&into->exports, there);
		}
	}
	for (size_t i = 0; i < was->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *old = &was->prebuilt.at[i];
		const struct ws_pin_prebuilt *there = ws_lock_prebuilt(into, old->package, old->wheel);
		if (there && !ws_lock_prebuilt(is, old->package, old->wheel)
			&& prebuilts_equal(there, old)) {
			TAKE_OUT(&into->prebuilt, there);
		}
	}
}

static void
put_made(
	struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is, struct ws_arena *a)
{
	for (size_t i = 0; i < is->sources.len; i++) {
		const struct ws_pin_source *pin = &is->sources.at[i];
		const struct ws_pin_source *old = ws_lock_source(was, pin->package, pin->version);
		if (!old || !sources_equal(old, pin)) {
			ws_lock_put_source(into, pin, a);
		}
	}
	for (size_t i = 0; i < is->cuda.len; i++) {
		const struct ws_pin_cuda *pin = &is->cuda.at[i];
		const struct ws_pin_cuda *old = ws_lock_cuda(was, pin->cuda);
		if (!old || !cudas_equal(old, pin)) {
			ws_lock_put_cuda(into, pin, a);
		}
	}
	for (size_t i = 0; i < is->torch.len; i++) {
		const struct ws_pin_torch *pin = &is->torch.at[i];
		const struct ws_pin_torch *old = ws_lock_torch(was, pin->version);
		if (!old || !torches_equal(old, pin)) {
			ws_lock_put_torch(into, pin, a);
		}
	}
	for (size_t i = 0; i < is->exports.len; i++) {
		const struct ws_pin_exports *pin = &is->exports.at[i];
		const struct ws_pin_exports *old = ws_lock_exports(was, pin->torch);
		if (!old || !exports_equal(old, pin)) {
			ws_lock_put_exports(into, pin, a);
		}
	}
	for (size_t i = 0; i < is->prebuilt.len; i++) {
		const struct ws_pin_prebuilt *pin = &is->prebuilt.at[i];
		const struct ws_pin_prebuilt *old = ws_lock_prebuilt(was, pin->package, pin->wheel);
		if (!old || !prebuilts_equal(old, pin)) {
			ws_lock_put_prebuilt(into, pin, a);
		}
	}
}

void
ws_lock_merge(
	struct ws_lock *into, const struct ws_lock *was, const struct ws_lock *is, struct ws_arena *a)
{
	take_out_forgotten(into, was, is);
	put_made(into, was, is, a);
}
