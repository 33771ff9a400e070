/* std::string::reserve() without a number, GLIBCXX_3.4.29: C++20. */
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm(
	void *self, unsigned long size);
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEv(void *self);

void
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEv(void *self)
{
	_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE7reserveEm(self, 0);
}
