/* std::__throw_bad_array_new_length(), GLIBCXX_3.4.29: <bits/new_allocator.h> of g++ 11. Before CXXABI_1.3.8,
 * which has no such exception, std::bad_alloc: it derives from that. */
void *__cxa_allocate_exception(unsigned long size);
void __cxa_throw(void *thrown, void *type, void (*destroy)(void *)) __attribute__((noreturn));
extern char _ZTISt20bad_array_new_length[] __attribute__((weak));
extern void *_ZTVSt20bad_array_new_length[] __attribute__((weak));
void _ZNSt20bad_array_new_lengthD1Ev(void *thrown) __attribute__((weak));
void _ZSt17__throw_bad_allocv(void) __attribute__((noreturn));
void _ZSt28__throw_bad_array_new_lengthv(void);

void
_ZSt28__throw_bad_array_new_lengthv(void)
{
	if (!_ZNSt20bad_array_new_lengthD1Ev) {
		_ZSt17__throw_bad_allocv();
	}
	void **thrown = __cxa_allocate_exception(sizeof(void *));
	*thrown = _ZTVSt20bad_array_new_length + 2;
	__cxa_throw(thrown, _ZTISt20bad_array_new_length, _ZNSt20bad_array_new_lengthD1Ev);
}
