/* std::logic_error(const char *), GLIBCXX_3.4.21; as a base. */
#include "../exception_text.h"

EXCEPTION_OF_TEXT(_ZNSt11logic_errorC2)
