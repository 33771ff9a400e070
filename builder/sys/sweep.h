/**
 * sweep.h - nothing keeps running when we are gone
 *
 * PDEATHSIG does not reach what a compiler started. So a small child of ours (`wheelsmith
 * internal sweep DIR`) waits on a pipe whose other end only we hold; when it closes, however we
 * ended, the child kills every process that works below DIR. One rule, no list of processes to
 * keep true: whatever the engine starts has its working folder there. Groups are left alone: a
 * person's shell may be there too, in the group of the script that opened it.
 */
#ifndef WS_SYS_SWEEP_H
#define WS_SYS_SWEEP_H

#include "base/err.h"

/** Starts the child; it sweeps once the returned descriptor is closed. -1 on failure. */
int ws_sweep_start(const char *program, const char *dir, struct ws_err *err);

/** The good end: sweeps @a dir here and now, sends the child of @a fd home and closes @a fd. */
void ws_sweep_end(int fd, const char *dir);

/** The child's whole life: waits for the end of @a fd, then sweeps @a dir; a byte sends it home. */
void ws_sweep_wait(int fd, const char *dir);

/** Kills what works below @a dir until nothing does; returns how many processes that were. */
unsigned ws_sweep_now(const char *dir);

#endif
