/**
 * older_glibc.c - what Debian's static libraries ask of a newer glibc and of ICU, for ./dev package
 *
 * libarchive.a takes its random numbers from arc4random_buf, which glibc has from 2.36 on. libxml2.a asks ICU
 * for character sets that it does not know itself; glibc's iconv is asked before, and ICU is 33 MB of C++.
 * With these the program runs on glibc 2.34. A libxml2 without ICU leaves the second half unused.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <sys/random.h>
#ifdef WS_SHIM_ICU
#include <unicode/ucnv.h>
#endif

void arc4random_buf(void *to, size_t len);

void
arc4random_buf(void *to, size_t len)
{
	for (char *at = to; len > 0;) {
		ssize_t got = getrandom(at, len, 0);
		if (got < 0 && errno != EINTR) {
			abort(); /* as the real one: no random numbers are worse than no program */
		}
		at += got > 0 ? got : 0;
		len -= got > 0 ? (size_t)got : 0;
	}
}

#ifdef WS_SHIM_ICU

/* No character set: libxml2 then says that the encoding is not supported, and calls none of the others. */
UConverter *
ucnv_open(const char *name, UErrorCode *error)
{
	(void)name;
	*error = U_FILE_ACCESS_ERROR;
	return NULL;
}

void
ucnv_close(UConverter *converter)
{
	(void)converter;
}

void
ucnv_convertEx(UConverter *to, UConverter *from, char **target, const char *target_limit,
	const char **source, const char *source_limit, UChar *pivot_start, UChar **pivot_source,
	UChar **pivot_target, const UChar *pivot_limit, UBool reset, UBool flush, UErrorCode *error)
{
	(void)to, (void)from, (void)target, (void)target_limit, (void)source, (void)source_limit;
	(void)pivot_start, (void)pivot_source, (void)pivot_target, (void)pivot_limit, (void)reset;
	(void)flush;
	*error = U_FILE_ACCESS_ERROR;
}

void
ucnv_setFromUCallBack(UConverter *converter, UConverterFromUCallback action, const void *context,
	UConverterFromUCallback *old_action, const void **old_context, UErrorCode *error)
{
	(void)converter, (void)action, (void)context, (void)old_action, (void)old_context;
	*error = U_FILE_ACCESS_ERROR;
}

void
ucnv_setToUCallBack(UConverter *converter, UConverterToUCallback action, const void *context,
	UConverterToUCallback *old_action, const void **old_context, UErrorCode *error)
{
	(void)converter, (void)action, (void)context, (void)old_action, (void)old_context;
	*error = U_FILE_ACCESS_ERROR;
}

void
UCNV_FROM_U_CALLBACK_STOP(const void *context, UConverterFromUnicodeArgs *args, const UChar *units,
	int32_t length, UChar32 point, UConverterCallbackReason reason, UErrorCode *error)
{
	(void)context, (void)args, (void)units, (void)length, (void)point, (void)reason, (void)error;
}

void
UCNV_TO_U_CALLBACK_STOP(const void *context, UConverterToUnicodeArgs *args, const char *units,
	int32_t length, UConverterCallbackReason reason, UErrorCode *error)
{
	(void)context, (void)args, (void)units, (void)length, (void)reason, (void)error;
}

#endif
