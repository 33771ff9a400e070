/* std::length_error(const char *), GLIBCXX_3.4.21. */
#include "../exception_text.h"

EXCEPTION_OF_TEXT(_ZNSt12length_errorC1)
