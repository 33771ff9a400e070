/* _dl_find_object, glibc 2.35: the unwinder of libgcc_eh.a (gcc 12 and newer). -1, "not found", sends it to
 * dl_iterate_phdr, as before. */
int _dl_find_object(void *address, void *result);

int
_dl_find_object(void *address, void *result)
{
	(void)address;
	(void)result;
	return -1;
}
