/* std::exception_ptr::_M_release(), CXXABI_1.3.13; see exception_ptr_addref.c. */
#include "../exception.h"

void __cxa_free_exception(void *thrown);
void _ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(char **self);

void
_ZNSt15__exception_ptr13exception_ptr10_M_releaseEv(char **self)
{
	char *thrown = *self;
	if (!thrown) {
		return;
	}
	char *head = thrown - EXCEPTION_HEAD;
	if (__atomic_sub_fetch((int *)(void *)head, 1, __ATOMIC_ACQ_REL) == 0) {
		void (*destroy)(void *) = *(void (**)(void *))(void *)(head + EXCEPTION_DESTROY);
		if (destroy) {
			destroy(thrown);
		}
		__cxa_free_exception(thrown);
	}
	*self = 0;
}
