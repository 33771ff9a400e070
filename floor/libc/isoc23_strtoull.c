/* The name under which <stdlib.h> of glibc 2.38 calls strtoull. It also accepts "0b1"; older glibc does not. */
unsigned long long strtoull(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

unsigned long long
__isoc23_strtoull(const char *text, char **end, int base)
{
	return strtoull(text, end, base);
}
