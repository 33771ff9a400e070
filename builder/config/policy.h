/**
 * policy.h - "prefer-prebuilt" and the other policies, in matrices and in the user's configuration
 */
#ifndef WS_CONFIG_POLICY_H
#define WS_CONFIG_POLICY_H

#include "base/table.h"

/** Fills an enum ws_policy of model/matrix.h. */
extern const struct ws_type ws_type_policy;

#endif
