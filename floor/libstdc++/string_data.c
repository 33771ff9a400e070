/* std::string::data() that is not const, GLIBCXX_3.4.26: C++17. */
char *_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv(char **self);

char *
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE4dataEv(char **self)
{
	return *self;
}
