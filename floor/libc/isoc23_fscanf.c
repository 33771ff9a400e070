/* The name under which <stdio.h> of glibc 2.38 calls fscanf. */
#include <stdarg.h>

int vfscanf(void *file, const char *format, va_list words);
int __isoc23_fscanf(void *file, const char *format, ...);

int
__isoc23_fscanf(void *file, const char *format, ...)
{
	va_list words;
	va_start(words, format);
	int count = vfscanf(file, format, words);
	va_end(words);
	return count;
}
