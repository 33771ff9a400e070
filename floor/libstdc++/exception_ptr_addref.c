/* std::exception_ptr::_M_addref(), CXXABI_1.3.13: <bits/exception_ptr.h> of g++ 11. Not by way of the old copy
 * constructor: a module that inlines nothing has its own copy of that, which calls this. */
#include "../exception.h"

void _ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(char **self);

void
_ZNSt15__exception_ptr13exception_ptr9_M_addrefEv(char **self)
{
	if (*self) {
		__atomic_add_fetch((int *)(void *)(*self - EXCEPTION_HEAD), 1, __ATOMIC_ACQ_REL);
	}
}
