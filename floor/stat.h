/* stat.h - the version number of struct stat that glibc before 2.33 takes as an argument: _STAT_VER of <bits/stat.h> */
#ifdef __x86_64__
#define STAT_VERSION 1
#else
#define STAT_VERSION 0
#endif
