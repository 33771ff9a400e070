/* std::stringbuf() without a mode, GLIBCXX_3.4.26; as a base: in | out. */
void _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode(
	void *self, int mode);
void _ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2Ev(void *self);

void
_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2Ev(void *self)
{
	_ZNSt7__cxx1115basic_stringbufIcSt11char_traitsIcESaIcEEC2ESt13_Ios_Openmode(self, 24);
}
