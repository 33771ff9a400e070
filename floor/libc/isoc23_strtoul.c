/* What <stdlib.h> of glibc 2.38 calls strtoul: it reads "0b1" as well, which no older glibc does. */
unsigned long strtoul(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);

unsigned long
__isoc23_strtoul(const char *text, char **end, int base)
{
	return strtoul(text, end, base);
}
