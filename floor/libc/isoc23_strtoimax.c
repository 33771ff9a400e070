/* What <inttypes.h> of glibc 2.38 calls strtoimax: it reads "0b1" as well, which no older glibc does. */
long strtoimax(const char *text, char **end, int base);
long __isoc23_strtoimax(const char *text, char **end, int base);

long
__isoc23_strtoimax(const char *text, char **end, int base)
{
	return strtoimax(text, end, base);
}
