/* std::underflow_error(const char *), GLIBCXX_3.4.21. */
#include "../exception_text.h"

EXCEPTION_OF_TEXT(_ZNSt15underflow_errorC1)
