/* The name under which <stdlib.h> of glibc 2.38 calls strtoll. It also accepts "0b1"; older glibc does not. */
long long strtoll(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);

long long
__isoc23_strtoll(const char *text, char **end, int base)
{
	return strtoll(text, end, base);
}
