/* operator delete(void *, std::size_t), CXXABI_1.3.9: C++14. */
void _ZdlPv(void *memory);
void _ZdlPvm(void *memory, unsigned long size);

void
_ZdlPvm(void *memory, unsigned long size)
{
	(void)size;
	_ZdlPv(memory);
}
