/* __cxa_call_terminate(), CXXABI_1.3.15: g++ 14, where noexcept is broken. */
void *__cxa_begin_catch(void *thrown);
void _ZSt9terminatev(void) __attribute__((noreturn));
void __cxa_call_terminate(void *thrown);

void
__cxa_call_terminate(void *thrown)
{
	if (thrown) {
		__cxa_begin_catch(thrown);
	}
	_ZSt9terminatev();
}
