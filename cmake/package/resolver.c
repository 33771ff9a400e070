/**
 * resolver.c - names of the resolver before glibc 2.34, for ./dev package
 *
 * Until glibc 2.34 the functions were called __res_query and so on; <resolv.h> renamed them with macros. libkrb5
 * of a newer system needs the names without underscores, so the program exports them.
 */
typedef unsigned char octet;

int older_nsearch(void *state, const char *name, int class, int type, octet *answer, int size);
int older_query(const char *name, int class, int type, octet *answer, int size);
int older_expand(const octet *message, const octet *end, const octet *from, char *to, int size);

/* The first version of each machine's glibc. */
#ifdef __aarch64__
#define FIRST "GLIBC_2.17"
#else
#define FIRST "GLIBC_2.2.5"
#endif
__asm__(".symver older_nsearch, __res_nsearch@" FIRST);
__asm__(".symver older_query, __res_query@" FIRST);
__asm__(".symver older_expand, __dn_expand@" FIRST);

int res_nsearch(void *state, const char *name, int class, int type, octet *answer, int size);
int res_query(const char *name, int class, int type, octet *answer, int size);
int dn_expand(const octet *message, const octet *end, const octet *from, char *to, int size);

int
res_nsearch(void *state, const char *name, int class, int type, octet *answer, int size)
{
	return older_nsearch(state, name, class, type, answer, size);
}

int
res_query(const char *name, int class, int type, octet *answer, int size)
{
	return older_query(name, class, type, answer, size);
}

int
dn_expand(const octet *message, const octet *end, const octet *from, char *to, int size)
{
	return older_expand(message, end, from, to, size);
}
