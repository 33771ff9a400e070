/* std::out_of_range(const char *), GLIBCXX_3.4.21. */
#include "../exception_text.h"

EXCEPTION_OF_TEXT(_ZNSt12out_of_rangeC1)
