/* arc4random, glibc 2.36. */
void arc4random_buf(void *to, unsigned long len) __attribute__((visibility("hidden")));
unsigned arc4random(void);

unsigned
arc4random(void)
{
	unsigned number;
	arc4random_buf(&number, sizeof(number));
	return number;
}
