/**
 * table.h - one table describes a record
 *
 * A record is a struct. Its table lists the members: key in JSON, type, offset, when the key is
 * written, meaning. The table serves three purposes:
 *
 * - ws_object_read reads what a person wrote and reports each mistake with its place;
 * - ws_table_parse reads what a program wrote: unknown keys are skipped, a mistake is "damaged";
 * - ws_table_write writes JSON;
 *
 * and the files in schemas/ are generated from it (tests/unit/schema.h). The owner of the table
 * checks what members mean together.
 *
 *   static const struct ws_field fields[] = {
 *       WS_FIXED("schema", "wheelsmith.x/1"),
 *       WS_VALUE("wheel", struct ws_x, wheel, WS_OR_NULL, "file name of the wheel"),
 *       WS_WORD("verdict", struct ws_x, verdict, ws_verdict_words, WS_ALWAYS, "the worst one"),
 *       WS_LIST_OF("places", struct ws_x, places, place_count, ws_place_table, WS_ALWAYS, "..."),
 *   };
 *   const struct ws_table ws_x_table = {"a verdict", fields, WS_LEN(fields)};
 */
#ifndef WS_BASE_TABLE_H
#define WS_BASE_TABLE_H

#include "base/crypto.h"
#include "base/json.h"

/** The state of reading one document. */
struct ws_reader {
	const struct ws_json_doc *doc;
	const char *folder; /**< absolute: base of relative paths in the document */
	const char *home;   /**< replaces "~" at the start of a path; NULL: not replaced */
	struct ws_arena *a; /**< results live here */
	struct ws_err *err;
	const char *key; /**< key of the value being read, for messages */
	/** A program wrote the document: skip unknown keys, accept empty lists. */
	bool lenient;
	/**
	 * NULL: the first mistake ends reading and is in err. Else each mistake is passed to report,
	 * err stays empty, and reading continues with the next member or item.
	 */
	void (*report)(void *self, const struct ws_err *err);
	void *self;
};

/** How a value lies in memory, and its type in JSON. */
enum ws_value_kind {
	WS_KIND_OTHER,    /**< a string in JSON; ws_type.read and ws_type.text convert it */
	WS_KIND_TEXT,     /**< const char *; empty: NULL */
	WS_KIND_DIGEST,   /**< struct ws_digest; empty: "" */
	WS_KIND_BOOL,     /**< empty: false */
	WS_KIND_UNSIGNED, /**< 4 or 8 bytes; empty: 0 */
	WS_KIND_SIGNED,   /**< likewise */
	WS_KIND_WORD,     /**< an enum; ws_field.words has a word for each value; empty: "" */
	WS_KIND_FIXED,    /**< not in memory: always ws_field.fixed */
	WS_KIND_OBJECT,   /**< a struct with a table; empty: all its members are */
	WS_KIND_JSON,     /**< const struct ws_json *, written unchanged; empty: NULL */
};

/** How one value is read and written. */
struct ws_type {
	const char *name;   /**< "a version", in "expected ..., got ..." */
	const char *plural; /**< "versions" */
	size_t size;        /**< bytes of the value in memory */
	/** Checks @a value and fills @a into, which is zeroed. NULL: read by kind or table. */
	bool (*read)(struct ws_reader *r, const struct ws_json *value, void *into);
	const struct ws_table *table; /**< of objects; ws_field.table comes first */
	/** For lists: whether @a value may stand without a list around it ("auto"); NULL: never. */
	bool (*alone)(const struct ws_json *value);
	const char *word; /**< may stand alone, without alone() it is the only one; NULL: none */
	enum ws_value_kind kind;
	/** KIND_OTHER: the text in JSON; NULL result: empty. */
	const char *(*text)(const void *value, struct ws_arena *a);
	const char *schema; /**< its JSON Schema, an object without "description"; NULL: by kind */
	const char *const *words; /**< WORD, and TEXT that is one of them; ws_field.words comes first */
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
		.name = "an object", .plural = "objects", .size = sizeof(c_type), .table = &(its_table), \
		.kind = WS_KIND_OBJECT \
	}

enum ws_field_flags {
	WS_FIELD_REQUIRED = 1, /**< the key must be there and is always written; else it is left out
	                          when the value is empty */
	WS_FIELD_LIST = 2,     /**< a list: a pointer to the first item, and a size_t */
	WS_FIELD_UNIQUE = 4,   /**< no text may appear twice in the list */
	WS_FIELD_NULL = 8,     /**< an empty value is written as null; null is read as empty */
	WS_FIELD_POINTER = 16, /**< the member is a pointer to the object; not with LIST */
	WS_FIELD_MAP = 32, /**< with LIST: an object in JSON. Its items have two fields: key, value */

	/** The three ways in which records are written. */
	WS_IF_ANY = 0,
	WS_ALWAYS = WS_FIELD_REQUIRED,
	WS_OR_NULL = WS_FIELD_REQUIRED | WS_FIELD_NULL,
};

/** One key of an object. */
struct ws_field {
	const char *key;
	const struct ws_type *type;
	unsigned flags;
	size_t at;                    /**< offset of the member in the object's struct */
	size_t count_at;              /**< offset of its count; of lists only */
	const char *example;          /**< a right value, shown with a mistake; or NULL */
	const struct ws_table *table; /**< OBJECT */
	size_t size;                  /**< OBJECT: bytes of one */
	const char *const *words;     /**< WORD: by value, then NULL */
	const char *fixed;            /**< FIXED */
	const char *meaning;          /**< one line, the description in the schema */
};

/** One kind of object. */
struct ws_table {
	const char *what; /**< "a matrix"; in a schema the name of its definition; NULL: none */
	const struct ws_field *fields;
	size_t count;
};

/* ---- types of plain values ---- */

extern const struct ws_type ws_value_text, ws_value_digest, ws_value_bool, ws_value_unsigned,
	ws_value_u64, ws_value_int, ws_value_i64, ws_value_word, ws_value_fixed, ws_value_object,
	ws_value_json;

/** The type of a plain value, by the C type of @a member. */
#define WS_TYPE_OF(member) \
	_Generic((member), \
		char *: &ws_value_text, \
		const char *: &ws_value_text, \
		struct ws_digest: &ws_value_digest, \
		bool: &ws_value_bool, \
		unsigned: &ws_value_unsigned, \
		uint64_t: &ws_value_u64, \
		int: &ws_value_int, \
		int64_t: &ws_value_i64, \
		const struct ws_json *: &ws_value_json)

/* ---- fields of people's files: `{WS_ONE(struct x, member, "key", type), .flags = ...}` ---- */

/** Key, type, place. A type whose values fill several members gets the whole struct:
 * `{.key = "key", .type = &type}`. */
#define WS_ONE(owner, member, json_key, value_type) \
	.key = (json_key), .type = &(value_type), .at = offsetof(owner, member)
/** The same of a list: member and the member that counts. */
#define WS_MANY(owner, member, counter, json_key, value_type) \
	.key = (json_key), .type = &(value_type), .at = offsetof(owner, member), \
	.count_at = offsetof(owner, counter)

/* ---- fields of records that programs write; @a how is WS_ALWAYS, WS_OR_NULL or WS_IF_ANY ---- */

#define WS_FIELD_OF(json_key, owner, member, value_type, how, what, ...) \
	{ \
		.key = (json_key), .type = (value_type), .at = offsetof(owner, member), .flags = (how), \
		.meaning = (what), __VA_ARGS__ \
	}

/** A text, number, digest or truth value. */
#define WS_VALUE(key, owner, member, how, meaning) \
	WS_FIELD_OF(key, owner, member, WS_TYPE_OF(((owner *)0)->member), how, meaning, .size = 0)
/** A value whose type is named. */
#define WS_VALUE_AS(key, owner, member, value_type, how, meaning) \
	WS_FIELD_OF(key, owner, member, &(value_type), how, meaning, .size = 0)
/** An enum, by its words: `const char *const words[] = {"loads", "fails", NULL}`. */
#define WS_WORD(key, owner, member, its_words, how, meaning) \
	WS_FIELD_OF(key, owner, member, &ws_value_word, how, meaning, .words = (its_words))
/** A text that is the same in all records. */
#define WS_FIXED(json_key, text) \
	{ \
		.key = (json_key), .type = &ws_value_fixed, .flags = WS_ALWAYS, .fixed = (text) \
	}
/** A text, number or truth value that the owner points to; NULL: there is none. */
#define WS_POINTED_VALUE(key, owner, member, how, meaning) \
	WS_FIELD_OF(key, owner, member, WS_TYPE_OF(*((owner *)0)->member), (how) | WS_FIELD_POINTER, \
		meaning, .size = sizeof(*((owner *)0)->member))
/** An object: a struct within the owner; one that the owner points to (empty: NULL); one whose
 * members are the owner's. */
#define WS_OBJECT(key, owner, member, its_table, how, meaning) \
	WS_FIELD_OF(key, owner, member, &ws_value_object, how, meaning, .table = &(its_table), \
		.size = sizeof(((owner *)0)->member))
#define WS_POINTED(key, owner, member, its_table, how, meaning) \
	WS_FIELD_OF(key, owner, member, &ws_value_object, (how) | WS_FIELD_POINTER, meaning, \
		.table = &(its_table), .size = sizeof(*((owner *)0)->member))
#define WS_PART(json_key, its_table, how, what) \
	{ \
		.key = (json_key), .type = &ws_value_object, .flags = (how), .table = &(its_table), \
		.meaning = (what) \
	}
/** Lists: plain values; values whose type is named; objects. */
#define WS_LIST(key, owner, member, counter, how, meaning) \
	WS_FIELD_OF(key, owner, member, WS_TYPE_OF(*((owner *)0)->member), (how) | WS_FIELD_LIST, \
		meaning, .count_at = offsetof(owner, counter))
#define WS_LIST_AS(key, owner, member, counter, value_type, how, meaning) \
	WS_FIELD_OF(key, owner, member, &(value_type), (how) | WS_FIELD_LIST, meaning, \
		.count_at = offsetof(owner, counter))
#define WS_LIST_OF(key, owner, member, counter, its_table, how, meaning) \
	WS_FIELD_OF(key, owner, member, &ws_value_object, (how) | WS_FIELD_LIST, meaning, \
		.count_at = offsetof(owner, counter), .table = &(its_table), \
		.size = sizeof(*((owner *)0)->member))
/** An object in JSON, from a list of pairs; @a its_table has two fields, the key and the value. */
#define WS_MAP(key, owner, member, counter, its_table, how, meaning) \
	WS_FIELD_OF(key, owner, member, &ws_value_object, (how) | WS_FIELD_LIST | WS_FIELD_MAP, \
		meaning, .count_at = offsetof(owner, counter), .table = &(its_table), \
		.size = sizeof(*((owner *)0)->member))

/** The table of an object; NULL for other types. */
static inline const struct ws_table *
ws_field_table(const struct ws_field *f)
{
	return f->table ? f->table : f->type->table;
}

/** Bytes of one item of a list. */
static inline size_t
ws_field_size(const struct ws_field *f)
{
	return f->size ? f->size : f->type->size;
}

/* ---- reading ---- */

/**
 * Reads @a value, which must be an object, into @a into; members of absent keys keep their values.
 * False when there was a mistake.
 */
bool ws_object_read(
	struct ws_reader *r, const struct ws_json *value, const struct ws_table *table, void *into);

/**
 * Reads the record in @a text, which a program wrote, into @a into, which the caller zeroed. Texts
 * and lists live in @a a. @a name is for messages. A mistake is WS_ERR_IO, "'NAME' is damaged:
 * ...".
 */
bool ws_table_parse(const char *name, struct ws_str text, const struct ws_table *table,
	struct ws_arena *a, void *into, struct ws_err *err);
/** The same of a file, by its path in messages. */
bool ws_table_read_file(const char *path, const struct ws_table *table, struct ws_arena *a,
	void *into, struct ws_err *err);
/** The same of a value that was parsed; it lives as long as @a doc. */
bool ws_table_read(const struct ws_json_doc *doc, const struct ws_json *value,
	const struct ws_table *table, struct ws_arena *a, void *into, struct ws_err *err);

/** Sets "expected NAME for 'key', got ..." at @a value, with a cure where one is evident. */
bool ws_type_err(struct ws_reader *r, const struct ws_json *value, const char *name);

/** Checks that @a value is of @a kind, else as ws_type_err. */
bool ws_expect(
	struct ws_reader *r, const struct ws_json *value, enum ws_json_kind kind, const char *name);

/**
 * Reads one of @a words, whose last is NULL, as its @a place among them. @a name is for messages:
 * "a policy". Other texts are an error with "did you mean" and the list.
 */
bool ws_word_read(struct ws_reader *r, const struct ws_json *value, const char *name,
	const char *const *words, unsigned *place);

/* ---- writing ---- */

/** Adds the record as an object; @a key is NULL in a list and at the top. */
void ws_table_write(
	struct ws_json_writer *w, const char *key, const struct ws_table *table, const void *record);
/** Adds its members to the object that is open. */
void ws_table_write_members(
	struct ws_json_writer *w, const struct ws_table *table, const void *record);
/** Appends the record as a JSON text of its own. */
void ws_table_text(const struct ws_table *table, const void *record, enum ws_json_layout layout,
	struct ws_buf *out);

#endif
