/**
 * variant_wheel.h - wheel variants: one version for all, and a label that an installer chooses by
 *
 * Draft PEP 825, variant metadata 0.1.1 (a draft: what is written today may not be read tomorrow).
 * A bound wheel "demo-1.0+cu.13.0.torch.2.11.sm.90-cp311-cp311-linux_x86_64.whl" becomes
 * "demo-1.0-cp311-cp311-linux_x86_64-cu13.0_torch2.11_sm90.whl": the same files, the public
 * version, and dist-info/variant.json with what was measured when it was built:
 *
 *     nvidia :: cuda_version_lower_bound :: 13.0   the CUDA of its libcudart
 *     nvidia :: sm_arch :: 90_real                 machine code; 90_virtual: PTX
 *     abi_dependency :: torch :: 2.11
 *
 * The label says the same as the properties, so one label never stands for two sets of them. There
 * is no property for cxx11abi, debug information or a torch whose own CUDA differs: wheels whose
 * local label says more than CUDA, torch and architectures have no variant.
 */
#ifndef WS_PUBLISH_VARIANT_WHEEL_H
#define WS_PUBLISH_VARIANT_WHEEL_H

#include "publish/catalog.h"

#include <stdbool.h>

/** Its label, "cu13.0_torch2.11_sm90"; NULL: such a wheel has no variant. */
const char *ws_variant_label(const struct ws_index_entry *entry, struct ws_arena *a);

/** The file name of the variant with this label. */
const char *ws_variant_file(
	const struct ws_index_entry *entry, const char *label, struct ws_arena *a);

/** Appends variant.json of one entry, NAME-VERSION-variants.json of several; all have labels. */
void ws_variant_json(const struct ws_index_entry *const *entries, size_t count, struct ws_arena *a,
	struct ws_buf *out);

/**
 * Packs the wheel at @a path, which is @a entry, again to @a to, and appends its METADATA. Packed
 * bytes of files that stay are copied. The same wheel gives the same bytes.
 */
bool ws_variant_make(const struct ws_index_entry *entry, const char *path, const char *to,
	struct ws_arena *a, struct ws_buf *metadata, struct ws_err *err);

/** The entry of the variant, as a page shows it. It has one. */
struct ws_index_entry ws_variant_entry(const struct ws_index_entry *entry, struct ws_arena *a);

/** Both hold the same files, in any order. False also where one cannot be read as strictly as a
 * wheel is. */
bool ws_index_same_wheel(const char *path, const char *other);

#endif
