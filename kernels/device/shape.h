/**
 * shape.h - how many rows a block of threads takes, as the kernels have it
 *
 * Read by the kernels and by the host, which counts the blocks.
 */
#ifndef WSK_SHAPE_H
#define WSK_SHAPE_H

/* 32 query rows a warp halve what is read from shared memory; of the larger ones the accumulators
 * leave no room for it without spilling on sm_75. */
#define WSK_FORWARD_M(head_dim) ((head_dim) <= 80 ? 2 : 1)
#define WSK_DQ_M(head_dim) ((head_dim) <= 64 ? 2 : 1)

#define WSK_FORWARD_ROWS(head_dim) (64 * WSK_FORWARD_M(head_dim))
#define WSK_DQ_ROWS(head_dim) (64 * WSK_DQ_M(head_dim))
#define WSK_DKDV_KEYS 64
#define WSK_DELTA_ROWS 16

#endif
