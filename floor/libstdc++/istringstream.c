/* std::istringstream() without a mode (mode "in"), GLIBCXX_3.4.26 */
void _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(
	void *self, int mode);
void _ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self);

void
_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1Ev(void *self)
{
	_ZNSt7__cxx1119basic_istringstreamIcSt11char_traitsIcESaIcEEC1ESt13_Ios_Openmode(self, 8);
}
