/**
 * start.c - the program's start where glibc is older than 2.34, for ./dev package
 *
 * From 2.34 on glibc itself runs the constructors of a program; before, the program's start files brought a
 * function that did, which those of a newer system no longer have. Any glibc calls the one that it is given.
 * The linker sends the start files here (--wrap).
 */
#include <stddef.h>

typedef int main_function(int argc, char **argv, char **environment);
typedef void init_function(int argc, char **argv, char **environment);

extern init_function *__preinit_array_start[] __attribute__((visibility("hidden")));
extern init_function *__preinit_array_end[] __attribute__((visibility("hidden")));
extern init_function *__init_array_start[] __attribute__((visibility("hidden")));
extern init_function *__init_array_end[] __attribute__((visibility("hidden")));

int __real___libc_start_main(main_function *program, int argc, char **argv, init_function *init,
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);
int __wrap___libc_start_main(main_function *program, int argc, char **argv, init_function *init,
	void (*fini)(void), void (*loader_fini)(void), void *stack_end);

static void
start(int argc, char **argv, char **environment)
{
	for (init_function **call = __preinit_array_start; call < __preinit_array_end; call++) {
		(*call)(argc, argv, environment);
	}
	for (init_function **call = __init_array_start; call < __init_array_end; call++) {
		(*call)(argc, argv, environment);
	}
}

int
__wrap___libc_start_main(main_function *program, int argc, char **argv, init_function *init,
	void (*fini)(void), void (*loader_fini)(void), void *stack_end)
{
	(void)init;
	return __real___libc_start_main(program, argc, argv, start, fini, loader_fini, stack_end);
}
