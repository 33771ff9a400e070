/* exception.h - what lies in front of a thrown object: 128 bytes with 64-bit pointers, the count of references first,
 * then at 16 the __cxa_exception, whose second word destroys the object (Itanium C++ ABI: Exception Handling, 2.2) */
#define EXCEPTION_HEAD 128
#define EXCEPTION_DESTROY 24
