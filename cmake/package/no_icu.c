/**
 * no_icu.c - what Debian's static libxml2 asks of ICU, for ./dev package
 *
 * It asks for character sets that it does not know itself; glibc's iconv is asked before, and ICU is 33 MB of
 * C++. A libxml2 without ICU leaves this unused.
 */
#ifdef WS_SHIM_ICU
#include <unicode/ucnv.h>

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
