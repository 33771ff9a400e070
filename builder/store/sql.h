/**
 * sql.h - the door to SQLite
 *
 * A database file shared by processes (WAL, 10 s of patience), statements with bound values, rows
 * read one by one. Which tables there are is the caller's.
 */
#ifndef WS_STORE_SQL_H
#define WS_STORE_SQL_H

#include "base/arena.h"
#include "base/err.h"

#include <stdint.h>

struct ws_sql;
struct ws_sql_rows;

/**
 * Opens or makes the file and runs @a schema ("create table if not exists ..."). A file that is not
 * a database any more is set aside as PATH.broken and made again: nothing in it is needed for good.
 */
struct ws_sql *ws_sql_open(const char *path, const char *schema, struct ws_err *err);
void ws_sql_close(struct ws_sql *sql);

/**
 * Runs a statement; @a types has a letter for each `?`: 't' const char * (NULL is null), 'i'
 * int64_t. Statements are kept prepared: pass literals.
 */
bool ws_sql_run(struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...);

/** As ws_sql_run, for a select. NULL on failure. One select at a time for each text. */
struct ws_sql_rows *ws_sql_select(
	struct ws_sql *sql, struct ws_err *err, const char *text, const char *types, ...);

/** The next row; false at the end, and the rows are given back. */
bool ws_sql_next(struct ws_sql_rows *rows);
/** Gives rows back before their end. */
void ws_sql_done(struct ws_sql_rows *rows);

/** Column @a index, from 0. Text is borrowed until the next row. */
const char *ws_sql_text(const struct ws_sql_rows *rows, int index);
int64_t ws_sql_int(const struct ws_sql_rows *rows, int index);

#endif
