/* What <stdlib.h> of glibc 2.38 calls strtoull: it reads "0b1" as well, which no older glibc does. */
unsigned long long strtoull(const char *text, char **end, int base);
unsigned long long __isoc23_strtoull(const char *text, char **end, int base);

unsigned long long
__isoc23_strtoull(const char *text, char **end, int base)
{
	return strtoull(text, end, base);
}
