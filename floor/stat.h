/* stat.h - the number of struct stat's layout that glibc before 2.33 wants to be told: _STAT_VER of <bits/stat.h> */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif
