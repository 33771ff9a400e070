/* exception.h - the header in front of a thrown object: 128 bytes with 64-bit pointers. The reference count comes first,
 * at byte 16 the __cxa_exception, whose second word points to the destructor (Itanium C++ ABI: Exception Handling, 2.2) */
#define EXCEPTION_HEAD 128
#define EXCEPTION_DESTROY 24
