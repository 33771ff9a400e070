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
/* Parts of the keys: 16 rows a warp where there are no more than 64 or no registers for more, else
 * as forward. */
#define WSK_SPLIT_HAS_MANY(head_dim) ((head_dim) <= 64)
#define WSK_SPLIT_ROWS_FEW 64

/* Warps that share the columns of 16 rows; and whether two share 16 keys, one for dK and one for
 * dV. */
#define WSK_SHARED_BY(head_dim) ((head_dim) > 128 ? 2 : 1)
#ifndef WSK_DKDV_IN_PAIRS
#define WSK_DKDV_IN_PAIRS(head_dim, any) ((head_dim) > ((any) ? 96 : 128))
#endif

/* Rows of a block of four warps; `any` are the kernels for what costs registers, and for parts of
 * the keys. */
#define WSK_FORWARD_ROWS(head_dim) (64 * WSK_FORWARD_M(head_dim) / WSK_SHARED_BY(head_dim))
#define WSK_DQ_ROWS(head_dim) (64 * WSK_DQ_M(head_dim) / WSK_SHARED_BY(head_dim))
#define WSK_ANY_ROWS(head_dim) (64 / WSK_SHARED_BY(head_dim))
#define WSK_DKDV_KEYS(head_dim, any) \
	(WSK_DKDV_IN_PAIRS(head_dim, any) ? 32 / WSK_SHARED_BY(head_dim) : 64)
#define WSK_DELTA_ROWS 16

#endif
