/**
 * axis.h - the values of a matrix's axes, one at a time
 *
 * Types for the tables of fields.h; each fills the struct of model/matrix.h that it is named after.
 */
#ifndef WS_CONFIG_AXIS_H
#define WS_CONFIG_AXIS_H

#include "base/table.h"

extern const struct ws_type ws_type_wanted;       /**< "NAME==V" */
extern const struct ws_type ws_type_torch_value;  /**< "2.5.1", "2.5.1+cu121", "installed" */
extern const struct ws_type ws_type_cuda_value;   /**< "12.4", "auto" */
extern const struct ws_type ws_type_python_value; /**< "3.11", "3.13t", "host", a path */
extern const struct ws_type ws_type_arch_value;   /**< "8.0;9.0+PTX", "hopper", "host" */
extern const struct ws_type ws_type_abi_value;    /**< int: 0, 1, or -1 for "auto" */

#endif
