/* What <inttypes.h> of glibc 2.38 calls strtoumax: it reads "0b1" as well, which no older glibc does. */
unsigned long strtoumax(const char *text, char **end, int base);
unsigned long __isoc23_strtoumax(const char *text, char **end, int base);

unsigned long
__isoc23_strtoumax(const char *text, char **end, int base)
{
	return strtoumax(text, end, base);
}
