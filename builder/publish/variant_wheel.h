/**
 * variant_wheel.h - wheel variants: wheels of one public version, with a label for the installer to
 * choose
 *
 * Draft PEP 825, variant metadata 0.1.1. A bound wheel
 * "demo-1.0+cu.13.0.torch.2.11.sm.90-cp311-cp311-linux_x86_64.whl" becomes
 * "demo-1.0-cp311-cp311-linux_x86_64-cu13.0_torch2.11_sm90.whl": the same files, the public
 * version, and dist-info/variant.json with what was measured at build time:
 *
 *     nvidia :: cuda_version_lower_bound :: 13.0   the CUDA of its libcudart
 *     nvidia :: sm_arch :: 90_real                 machine code; 90_virtual: PTX
 *     abi_dependency :: torch :: 2.11
 *
 * The label has the same values as the properties, so a label has one meaning. The draft has no
 * property for cxx11abi, debug information or a torch with another CUDA: such wheels have no
 * variant.
 */
#ifndef WS_PUBLISH_VARIANT_WHEEL_H
#define WS_PUBLISH_VARIANT_WHEEL_H

#include "publish/catalog.h"

/** The label, "cu13.0_torch2.11_sm90"; NULL: the wheel has no variant. */
const char *ws_variant_label(const struct ws_index_entry *entry, struct ws_arena *a);

/** The file name of the variant with this label. */
const char *ws_variant_file(
	const struct ws_index_entry *entry, const char *label, struct ws_arena *a);

/** Appends variant.json of one entry, NAME-VERSION-variants.json of several; all have labels. */
void ws_variant_json(const struct ws_index_entry *const *entries, size_t count, struct ws_arena *a,
	struct ws_buf *out);

/**
 * Repacks the wheel at @a path, which is @a entry, to @a to and appends its METADATA. Compressed
 * bytes of unchanged files are copied. The result is reproducible.
 */
bool ws_variant_make(const struct ws_index_entry *entry, const char *path, const char *to,
	struct ws_arena *a, struct ws_buf *metadata, struct ws_err *err);

/** The entry of the variant, for pages. The entry must have one. */
struct ws_index_entry ws_variant_entry(const struct ws_index_entry *entry, struct ws_arena *a);

/**
 * Whether two archives have the same names, modes and contents, in any order; compressed bytes
 * depend on the zlib. False if one cannot be read as strictly as a wheel.
 */
bool ws_index_same_wheel(const char *path, const char *other);

#endif
