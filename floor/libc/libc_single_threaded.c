/* __libc_single_threaded, glibc 2.32: headers of g++ 11 and newer ask before they count with atomics. 0, "there may
 * be threads", is right everywhere. */
char __libc_single_threaded;
