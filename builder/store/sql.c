/* sql.c - SQLite 3.40 and later. Durability is NORMAL: a power cut may lose the last second,
 * which costs an estimate; an fsync for each row would cost more. */
#include "store/sql.h"

#include "sys/clock.h"

#include <sqlite3.h>

#include <errno.h>

#define MOST_STATEMENTS 24
#define BUSY_MS 10000
#define AGAIN_MS 10

struct statement {
	const char *text;
	sqlite3_stmt *prepared;
};

struct ws_sql {
	sqlite3 *db;
	char *path;
	struct statement statements[MOST_STATEMENTS];
	size_t count;
};

static bool
set_sqlite_error(const struct ws_sql *sql, struct ws_err *err)
{
	/* SQLite reports "disk I/O error" if its log index finds no space. */
	int code = sqlite3_system_errno(sql->db);
	if (sqlite3_errcode(sql->db) == SQLITE_FULL || code == ENOSPC || code == EDQUOT) {
		errno = ENOSPC;
		return ws_err_sys(err, WS_ERR_IO, "the ledger '%s'", sql->path);
	}
	return ws_err_set(err, WS_ERR_IO, "the ledger '%s': %s", sql->path, sqlite3_errmsg(sql->db));
}

static bool
try_open(struct ws_sql *sql, const char *schema)
{
	if (sqlite3_open_v2(sql->path, &sql->db,
			SQLITE_OPEN_READWRITE | SQLITE_OPEN_CREATE | SQLITE_OPEN_NOMUTEX, NULL)
		!= SQLITE_OK) {
		return false;
	}
	sqlite3_busy_timeout(sql->db, BUSY_MS);
	/* A small page cache keeps the process small. */
	return sqlite3_exec(sql->db,
			   "pragma journal_mode = wal; pragma synchronous = normal; pragma cache_size = -512;",
			   NULL, NULL, NULL)
		== SQLITE_OK
		&& sqlite3_exec(sql->db, schema, NULL, NULL, NULL) == SQLITE_OK;
}

/* After a failure: a damaged database is put aside, and a new one opened. */
static struct ws_sql *
open_broken(struct ws_sql *sql, const char *schema, struct ws_err *err)
{
	int code = sql->db ? sqlite3_errcode(sql->db) : SQLITE_NOMEM;
	if (code == SQLITE_NOTADB || code == SQLITE_CORRUPT) {
		WS_AUTO_ARENA struct ws_arena *a = ws_arena_make();
		sqlite3_close(sql->db);
		sql->db = NULL;
		if (rename(sql->path, ws_arena_printf(a, "%s.broken", sql->path)) == 0
			&& try_open(sql, schema)) {
			return sql;
		}
	}
	set_sqlite_error(sql, err);
	ws_sql_close(sql);
	return NULL;
}

struct ws_sql *
ws_sql_open(const char *path, const char *schema, struct ws_err *err)
{
	struct ws_sql *sql = calloc(1, sizeof(*sql));
	if (!sql || !(sql->path = strdup(path))) {
		abort();
	}
	/* While one process switches a new ledger to WAL, others get SQLITE_BUSY at once, without
	 * busy_timeout, since waiting could deadlock. */
	int64_t end_ms = ws_clock_ms() + BUSY_MS;
	while (!try_open(sql, schema)) {
		if (!sql->db || sqlite3_errcode(sql->db) != SQLITE_BUSY || ws_clock_ms() >= end_ms) {
			return open_broken(sql, schema, err);
		}
		sqlite3_close(sql->db);
		sql->db = NULL;
		nanosleep(&(struct timespec){0, AGAIN_MS * 1000000L}, NULL);
	}
	return sql;
}

void
ws_sql_close(struct ws_sql *sql)
{
	if (!sql) {
		return;
	}
	for (size_t i = 0; i < sql->count; i++) {
		sqlite3_finalize(sql->statements[i].prepared);
	}
	sqlite3_close(sql->db);
	free(sql->path);
	free(sql);
}

static sqlite3_stmt *
bind(struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, va_list values)
{
	size_t at = 0;
	while (at < sql->count && strcmp(sql->statements[at].text, text) != 0) {
		at++;
	}
	if (at == MOST_STATEMENTS) {
		ws_err_set(err, WS_ERR_INTERNAL, "too many different statements");
		return NULL;
	}
	sqlite3_stmt *s = sql->statements[at].prepared;
	if (at < sql->count) {
		sqlite3_reset(s);
	} else if (sqlite3_prepare_v3(sql->db, text, -1, SQLITE_PREPARE_PERSISTENT, &s, NULL)
		!= SQLITE_OK) {
		set_sqlite_error(sql, err);
		return NULL;
	} else {
		sql->statements[sql->count++] = (struct statement){text, s};
	}
	for (int i = 0; types[i]; i++) {
		if (types[i] == 't') {
			sqlite3_bind_text(s, i + 1, va_arg(values, const char *), -1, SQLITE_TRANSIENT);
		} else {
			sqlite3_bind_int64(s, i + 1, va_arg(values, int64_t));
		}
	}
	return s;
}

bool
ws_sql_run(struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...)
{
	va_list values;
	va_start(values, types);
	sqlite3_stmt *s = bind(sql, err, text, types, values);
	va_end(values);
	if (!s) {
		return false;
	}
	int code = sqlite3_step(s);
	bool done = code == SQLITE_DONE || code == SQLITE_ROW || set_sqlite_error(sql, err);
	sqlite3_reset(s);
	return done;
}

/* The rows of a select are its prepared statement. */
static sqlite3_stmt *
statement_of(const struct ws_sql_rows *rows)
{
	return (sqlite3_stmt *)(uintptr_t)rows;
}

struct ws_sql_rows *
ws_sql_select(struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...)
{
	va_list values;
	va_start(values, types);
	sqlite3_stmt *s = bind(sql, err, text, types, values);
	va_end(values);
	return (struct ws_sql_rows *)(uintptr_t)s;
}

bool
ws_sql_next(struct ws_sql_rows *rows)
{
	if (sqlite3_step(statement_of(rows)) == SQLITE_ROW) {
		return true;
	}
	ws_sql_done(rows);
	return false;
}

void
ws_sql_done(struct ws_sql_rows *rows)
{
	sqlite3_reset(statement_of(rows));
}

const char *
ws_sql_text(const struct ws_sql_rows *rows, int index)
{
	const unsigned char *text = sqlite3_column_text(statement_of(rows), index);
	return text ? (const char *)text : "";
}

int64_t
ws_sql_int(const struct ws_sql_rows *rows, int index)
{
	return sqlite3_column_int64(statement_of(rows), index);
}
