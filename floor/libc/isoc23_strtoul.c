/* The name under which <stdlib.h> of glibc 2.38 calls strtoul. It also accepts "0b1"; older glibc does not. */
unsigned long strtoul(const char *text, char **end, int base);
unsigned long __isoc23_strtoul(const char *text, char **end, int base);

unsigned long
__isoc23_strtoul(const char *text, char **end, int base)
{
	return strtoul(text, end, base);
}
