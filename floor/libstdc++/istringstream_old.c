/* std::istringstream() without a mode (mode "in") for pre-C++11 strings, GLIBCXX_3.4.26 */
void _ZNSt19basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(void *self, int mode);
void _ZNSt19basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self);

void
_ZNSt19basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self)
{
	_ZNSt19basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(self, 8);
}
