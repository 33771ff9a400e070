/**
 * same_wheel.h - whether two archives are one wheel, packed twice
 *
 * Packed bytes depend on the zlib that packed them; names, modes and contents do not.
 */
#ifndef WS_PUBLISH_SAME_WHEEL_H
#define WS_PUBLISH_SAME_WHEEL_H

#include <stdbool.h>

/** Both hold the same files, in any order. False also where one cannot be read as strictly as a
 * wheel is. */
bool ws_index_same_wheel(const char *path, const char *other);

#endif
