/* std::thread::_M_start_thread() with a _State, GLIBCXX_3.4.22. @state is what std::unique_ptr holds; its third virtual
 * function runs, its second destroys and frees. */
struct state {
	struct {
		void (*destroy)(struct state *self);
		void (*destroy_and_free)(struct state *self);
		void (*run)(struct state *self);
	} const *functions;
};

int pthread_create(unsigned long *thread, const void *options, void *(*start)(void *), void *with);
void _ZSt20__throw_system_errori(int error) __attribute__((noreturn));
void _ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
	unsigned long *self, struct state **state, void (*depend)(void));

static void *
start(void *with)
{
	struct state *state = with;
	state->functions->run(state);
	state->functions->destroy_and_free(state);
	return 0;
}

void
_ZNSt6thread15_M_start_threadESt10unique_ptrINS_6_StateESt14default_deleteIS1_EEPFvvE(
	unsigned long *self, struct state **state, void (*depend)(void))
{
	(void)depend;
	int error = pthread_create(self, 0, start, *state);
	if (error) {
		_ZSt20__throw_system_errori(error);
	}
	*state = 0;
}
