/* std::range_error(const char *), GLIBCXX_3.4.21; as a base. */
#include "../exception_text.h"

EXCEPTION_OF_TEXT(_ZNSt11range_errorC2)
