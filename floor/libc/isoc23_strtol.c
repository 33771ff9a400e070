/* What <stdlib.h> of glibc 2.38 calls strtol: it reads "0b1" as well, which no older glibc does. */
long strtol(const char *text, char **end, int base);
long __isoc23_strtol(const char *text, char **end, int base);

long
__isoc23_strtol(const char *text, char **end, int base)
{
	return strtol(text, end, base);
}
