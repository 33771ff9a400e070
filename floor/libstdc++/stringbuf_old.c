/* std::stringbuf() without a mode, GLIBCXX_3.4.26, of strings before C++11: in | out. */
void _ZNSt15basic_stringbufIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(void *self, int mode);
void _ZNSt15basic_stringbufIcSt11char_traitsIcESaIcEEC1Ev(void *self);

void
_ZNSt15basic_stringbufIcSt11char_traitsIcESaIcEEC1Ev(void *self)
{
	_ZNSt15basic_stringbufIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(self, 24);
}
