/* The name under which <stdlib.h> of glibc 2.38 calls strtol. It also accepts "0b1"; older glibc does not. */
long strtol(const char *text, char **end, int base);
long __isoc23_strtol(const char *text, char **end, int base);

long
__isoc23_strtol(const char *text, char **end, int base)
{
	return strtol(text, end, base);
}
