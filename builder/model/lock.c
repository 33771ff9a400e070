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

size_t
ws_lock_forget(struct ws_lock *lock, const char *name)
{
	bool all = strcmp(name, "all") == 0;
	size_t before = lock->torch.len + lock->cuda.len + lock->sources.len;
	size_t kept = 0;
	lock->torch.len = all || strcmp(name, "torch") == 0 ? 0 : lock->torch.len;
	lock->cuda.len = all || strcmp(name, "cuda") == 0 ? 0 : lock->cuda.len;
	for (size_t i = 0; i < lock->sources.len; i++) {
		if (!all && strcmp(lock->sources.at[i].package, name) != 0) {
			lock->sources.at[kept++] = lock->sources.at[i];
		}
	}
	lock->sources.len = kept;
	return before - lock->torch.len - lock->cuda.len - kept;
}

static bool
sources_equal(const struct ws_pin_source *x, const struct ws_pin_source *y)
{
	return ws_same(x->how, y->how) && ws_same(x->from, y->from) && ws_same(x->sha256, y->sha256)
		&& ws_same(x->commit, y->commit) && ws_same(x->tree, y->tree);
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
