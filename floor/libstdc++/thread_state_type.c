/* typeinfo for std::thread::_State, GLIBCXX_3.4.22: of a class without bases. */
extern void *_ZTVN10__cxxabiv117__class_type_infoE[];

struct type {
	void *functions;
	const char *name;
};

extern const struct type _ZTINSt6thread6_StateE;
const struct type _ZTINSt6thread6_StateE = {
	_ZTVN10__cxxabiv117__class_type_infoE + 2, "NSt6thread6_StateE"};
