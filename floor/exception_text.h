/* exception_text.h - throws an exception with a plain text, through a pre-C++11 string and the constructor that takes it */
void _ZNSsC1EPKcRKSaIcE(void *self, const char *text, const void *allocator);
void _ZNSsD1Ev(void *self);

#define EXCEPTION_OF_TEXT(CONSTRUCTOR) \
	void CONSTRUCTOR##ERKSs(void *self, const void *string); \
	void CONSTRUCTOR##EPKc(void *self, const char *what); \
	void CONSTRUCTOR##EPKc(void *self, const char *what) \
	{ \
		char allocator = 0; \
		void *string; \
		_ZNSsC1EPKcRKSaIcE(&string, what, &allocator); \
		CONSTRUCTOR##ERKSs(self, &string); \
		_ZNSsD1Ev(&string); \
	}
