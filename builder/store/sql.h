/**
 * sql.h - the only user of SQLite
 *
 * A database file shared by processes (WAL, with 10 s to wait for locks), statements with bound
 * values, rows read one by one. The caller defines the tables.
 */
#ifndef WS_STORE_SQL_H
#define WS_STORE_SQL_H

#include "base/arena.h"
#include "base/err.h"

struct ws_sql;
struct ws_sql_rows;

/**
 * Opens or creates the file and runs @a schema ("create table if not exists ..."). A damaged
 * database is renamed to PATH.broken and created again: its contents can be lost without harm.
 */
struct ws_sql *ws_sql_open(const char *path, const char *schema, struct ws_err *err);
void ws_sql_close(struct ws_sql *sql);

/**
 * Runs a statement. @a types has a letter for each `?`: 't' const char * (NULL is null), 'i'
 * int64_t. Statements stay prepared, so pass literals.
 */
bool ws_sql_run(struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...);

/** The same of a select. NULL on failure. One select at a time for each text. */
struct ws_sql_rows *ws_sql_select(
	struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...);

/** The next row; false at the end, which releases the rows. */
bool ws_sql_next(struct ws_sql_rows *rows);
/** Releases rows before their end. */
void ws_sql_done(struct ws_sql_rows *rows);

/** Column @a index, from 0. A text is borrowed until the next row. */
const char *ws_sql_text(const struct ws_sql_rows *rows, int index);
int64_t ws_sql_int(const struct ws_sql_rows *rows, int index);

#endif
