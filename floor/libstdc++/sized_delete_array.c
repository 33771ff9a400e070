/* operator delete[](void *, std::size_t), CXXABI_1.3.9: C++14. */
void _ZdaPv(void *memory);
void _ZdaPvm(void *memory, unsigned long size);

void
_ZdaPvm(void *memory, unsigned long size)
{
	(void)size;
	_ZdaPv(memory);
}
