/**
 * fields.h - objects that people write, read by table
 *
 * Each kind of object has a static table of its keys: type, where the value goes, whether it must
 * be there. One function reads by any such table and tells every mistake with its place: unknown
 * keys, missing ones, wrong types, empty lists, values that stand twice. What the values mean
 * together is the business of the file that has the table.
 */
#ifndef WS_CONFIG_FIELDS_H
#define WS_CONFIG_FIELDS_H

#include "base/json.h"

/** What reading one document needs. */
struct ws_reader {
	const struct ws_json_doc *doc;
	const char *folder; /**< absolute: what relative paths in the document count from */
	const char *home;   /**< what "~/" stands for; NULL: nothing */
	struct ws_arena *a; /**< results live here */
	struct ws_err *err;
	const char *key; /**< of the value being read, for messages */
	/**
	 * NULL: reading ends at the first mistake, which is in err. Else every mistake is given to it,
	 * err stays empty, and reading goes on with the next member or item.
	 */
	void (*report)(void *self, const struct ws_err *err);
	void *self;
};

/** How one value is read. */
struct ws_type {
	const char *name;   /**< "a version", in "expected ..., got ..." */
	const char *plural; /**< "versions" */
	size_t size;        /**< of what read fills, bytes */
	/** Checks @a value, and fills @a into, which is zeroed. NULL: an object, read by `table`. */
	bool (*read)(struct ws_reader *r, const struct ws_json *value, void *into);
	const struct ws_table *table;
	/** For lists: whether @a value may stand without one ("auto"); NULL: never. */
	bool (*alone)(const struct ws_json *value);
	const char *word; /**< that may stand alone, for "did you mean"; NULL: none */
};

/** Values that @a reader reads into a @a c_type; objects that it reads; objects that a table
 * reads. */
#define WS_VALUES(c_type, one, many, reader) \
	{ \
		.name = (one), .plural = (many), .size = sizeof(c_type), .read = (reader) \
	}
#define WS_OBJECTS(c_type, reader) WS_VALUES(c_type, "an object", "objects", reader)
#define WS_BY_TABLE(c_type, its_table) \
	{ \
		.name = "an object", .plural = "objects", .size = sizeof(c_type), .table = &(its_table) \
	}

enum ws_field_flags {
	WS_FIELD_REQUIRED = 1,
	WS_FIELD_LIST = 2,   /**< a list, not empty: a pointer to the first, and a size_t */
	WS_FIELD_UNIQUE = 4, /**< no text may stand twice in the list */
};

/** One key of an object. */
struct ws_field {
	const char *key;
	const struct ws_type *type;
	unsigned flags;
	size_t at;           /**< offset of the member in the object's struct */
	size_t count_at;     /**< offset of its count; of lists only */
	const char *example; /**< a value to show when it is missing or of another type; NULL */
};

/** One kind of object. */
struct ws_table {
	const char *what; /**< "a matrix" */
	const struct ws_field *fields;
	size_t count;
};

/**
 * `{WS_ONE(struct x, member, "key", type), .flags = ...}`: key, type, place. A type whose values go
 * into several members is given the whole struct: `{.key = "key", .type = &type}`.
 */
#define WS_ONE(owner, member, json_key, value_type) \
	.key = (json_key), .type = &(value_type), .at = offsetof(owner, member)
/** The same of a list: member and the member that counts. */
#define WS_MANY(owner, member, counter, json_key, value_type) \
	.key = (json_key), .type = &(value_type), .at = offsetof(owner, member), \
	.count_at = offsetof(owner, counter)

/**
 * Reads @a value, which must be an object, into @a into; members of absent keys stay as they are.
 * False when there was a mistake.
 */
bool ws_object_read(
	struct ws_reader *r, const struct ws_json *value, const struct ws_table *table, void *into);

/** Sets "expected NAME for 'key', got ..." at @a value, with a cure where one is evident. */
bool ws_type_err(struct ws_reader *r, const struct ws_json *value, const char *name);

/** Checks that @a value is of @a kind, else as ws_type_err. */
bool ws_expect(
	struct ws_reader *r, const struct ws_json *value, enum ws_json_kind kind, const char *name);

/** Sets "'WORD' is not a WHAT" at @a value, "did you mean" and the list of @a words. */
bool ws_word_err(struct ws_reader *r, const struct ws_json *value, const char *what,
	const char *const *words, size_t count);

#endif
