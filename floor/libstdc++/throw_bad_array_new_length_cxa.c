/* __cxa_throw_bad_array_new_length(), CXXABI_1.3.8: `new` of too many elements. Throws std::bad_alloc, its base class. */
void _ZSt17__throw_bad_allocv(void) __attribute__((noreturn));
void __cxa_throw_bad_array_new_length(void);

void
__cxa_throw_bad_array_new_length(void)
{
	_ZSt17__throw_bad_allocv();
}
