/* std::string::_M_replace_cold(), GLIBCXX_3.4.31: the rare part of _M_replace in g++ 13, when the new text is a part of
 * the string itself. It moves the tail first, then copies the text from its new place. */
void *memcpy(void *to, const void *from, unsigned long size);
void *memmove(void *to, const void *from, unsigned long size);
void _ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(void *self,
	char *at, unsigned long old, const char *text, unsigned long len, unsigned long after);

void
_ZNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEE15_M_replace_coldEPcmPKcmm(void *self,
	char *at, unsigned long old, const char *text, unsigned long len, unsigned long after)
{
	(void)self;
	if (len && len <= old) {
		memmove(at, text, len);
	}
	if (after && len != old) {
		memmove(at + len, at + old, after);
	}
	if (len <= old) {
		return;
	}
	if (text + len <= at + old) {
		memmove(at, text, len);
	} else if (text >= at + old) {
		memcpy(at, text + (len - old), len);
	} else {
		unsigned long left = (unsigned long)(at + old - text);
		memmove(at, text, left);
		memcpy(at + left, at + len, len - left);
	}
}
