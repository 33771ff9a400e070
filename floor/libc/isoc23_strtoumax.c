/* The name under which <inttypes.h> of glibc 2.38 calls strtoumax. It also accepts "0b1"; older glibc does not. */
unsigned long strtoumax(const char *text, char **end, int base);
unsigned long __isoc23_strtoumax(const char *text, char **end, int base);

unsigned long
__isoc23_strtoumax(const char *text, char **end, int base)
{
	return strtoumax(text, end, base);
}
