/* The name under which <inttypes.h> of glibc 2.38 calls strtoimax. It also accepts "0b1"; older glibc does not. */
long strtoimax(const char *text, char **end, int base);
long __isoc23_strtoimax(const char *text, char **end, int base);

long
__isoc23_strtoimax(const char *text, char **end, int base)
{
	return strtoimax(text, end, base);
}
