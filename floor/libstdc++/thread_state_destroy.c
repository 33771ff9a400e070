/* std::thread::_State::~_State() as a base, GLIBCXX_3.4.22: it has no members. */
void _ZNSt6thread6_StateD2Ev(void *self);

void
_ZNSt6thread6_StateD2Ev(void *self)
{
	(void)self;
}
