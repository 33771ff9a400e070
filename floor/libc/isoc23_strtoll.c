/* What <stdlib.h> of glibc 2.38 calls strtoll: it reads "0b1" as well, which no older glibc does. */
long long strtoll(const char *text, char **end, int base);
long long __isoc23_strtoll(const char *text, char **end, int base);

long long
__isoc23_strtoll(const char *text, char **end, int base)
{
	return strtoll(text, end, base);
}
