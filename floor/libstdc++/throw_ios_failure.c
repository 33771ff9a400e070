/* std::__throw_ios_failure(const char *, int), GLIBCXX_3.4.26: without the number of the error. */
void _ZSt19__throw_ios_failurePKc(const char *what) __attribute__((noreturn));
void _ZSt19__throw_ios_failurePKci(const char *what, int error);

void
_ZSt19__throw_ios_failurePKci(const char *what, int error)
{
	(void)error;
	_ZSt19__throw_ios_failurePKc(what);
}
