/* fatbin.c - offsets and flags as measured on nvcc 11.8 to 13.5. Finding the section is elf.c's. */
#include "elf/fatbin.h"

#define CONTAINER_MAGIC 0xba55ed50u
#define CONTAINER_HEADER 16
#define IMAGE_HEADER 64

/* Flags of an image. 0x11 is always set; what 0x1000000 says on sm_100a is not known. */
#define FLAG_LZ4 0x2000u
#define FLAG_ZSTD 0x8000u
#define FLAG_ARCH_SPECIFIC 0x100000u
#define FLAG_FAMILY 0x200000u

/* A stretch that is read from its front. */
struct stretch {
	const unsigned char *bytes;
	size_t len;
};

struct images {
	WS_VEC(struct ws_fatbin_image) list;
};

static uint64_t
number(const struct stretch *s, size_t offset, unsigned width)
{
	uint64_t value = 0;
	for (unsigned i = width; i-- > 0;) {
		value = value << 8 | s->bytes[offset + i];
	}
	return value;
}

/* Moves the first @len bytes, which are there, to the result. */
static struct stretch
cut(struct stretch *s, size_t len)
{
	struct stretch front = {s->bytes, len};
	s->bytes += len;
	s->len -= len;
	return front;
}

static enum ws_fatbin_packing
packing_of(uint64_t flags, uint64_t packed_bytes)
{
	if (flags & FLAG_ZSTD) {
		return WS_FATBIN_ZSTD;
	}
	if (flags & FLAG_LZ4) {
		return WS_FATBIN_LZ4;
	}
	return packed_bytes ? WS_FATBIN_PACKED : WS_FATBIN_PLAIN;
}

/* One image off the front of a container's payload. False when it is none. */
static bool
read_image(struct stretch *payload, struct ws_fatbin_image *image)
{
	if (payload->len < IMAGE_HEADER) {
		return false;
	}
	uint64_t header = number(payload, 0x04, 4);
	uint64_t size = number(payload, 0x08, 8);
	uint64_t packed = number(payload, 0x10, 4);
	uint64_t flags = number(payload, 0x28, 8);
	uint64_t raw = number(payload, 0x38, 8);
	if (header < IMAGE_HEADER || header > payload->len || size > payload->len - header
		|| packed > size) {
		return false;
	}
	*image = (struct ws_fatbin_image){
		.kind = (enum ws_fatbin_kind)number(payload, 0x00, 2),
		.sm = (unsigned)number(payload, 0x1c, 4),
		.suffix = flags & FLAG_ARCH_SPECIFIC ? 'a'
			: flags & FLAG_FAMILY            ? 'f'
											 : 0,
		.minor = (unsigned)number(payload, 0x18, 2),
		.major = (unsigned)number(payload, 0x1a, 2),
		.packing = packing_of(flags, packed),
		.stored_bytes = packed ? packed : size,
		.raw_bytes = raw ? raw : size,
	};
	cut(payload, (size_t)(header + size));
	return true;
}

/* One container off the front of the section; its images are added to @images. */
static bool
read_container(struct stretch *section, struct ws_arena *a, size_t container, struct images *images)
{
	if (section->len < CONTAINER_HEADER || number(section, 0, 4) != CONTAINER_MAGIC) {
		return false;
	}
	uint64_t header = number(section, 6, 2);
	uint64_t size = number(section, 8, 8);
	if (header < CONTAINER_HEADER || header > section->len || size > section->len - header) {
		return false;
	}
	cut(section, (size_t)header);
	struct stretch payload = cut(section, (size_t)size);
	while (payload.len > 0) {
		struct ws_fatbin_image image;
		if (!read_image(&payload, &image)) {
			return false;
		}
		image.container = container;
		*ws_vec_push(&images->list, a) = image;
	}
	return true;
}

bool
ws_fatbin_read(
	const void *bytes, size_t len, struct ws_arena *a, struct ws_fatbin *fatbin, struct ws_err *err)
{
	struct stretch section = {bytes, len};
	struct images images = {0};
	size_t containers = 0;
	for (;;) {
		/* The linker fills up to the next container's alignment with zeros. */
		while (section.len > 0 && section.bytes[0] == 0) {
			cut(&section, 1);
		}
		if (section.len == 0) {
			break;
		}
		size_t before = images.list.len;
		size_t offset = len - section.len;
		if (!read_container(&section, a, containers, &images)) {
			return ws_err_set(err, WS_ERR_FETCH,
				"the GPU code (%s) cannot be read: no container at offset %zu of %zu",
				WS_FATBIN_SECTION, offset, len);
		}
		containers += images.list.len > before;
	}
	*fatbin = (struct ws_fatbin){
		.images = images.list.at,
		.image_count = images.list.len,
		.container_count = containers,
	};
	return true;
}

/* By architecture, then by container. */
static int
by_arch(const void *x, const void *y)
{
	const struct ws_fatbin_image *p = *(const struct ws_fatbin_image *const *)x;
	const struct ws_fatbin_image *q = *(const struct ws_fatbin_image *const *)y;
	if (p->sm != q->sm) {
		return p->sm < q->sm ? -1 : 1;
	}
	if (p->suffix != q->suffix) {
		return p->suffix < q->suffix ? -1 : 1;
	}
	return p->container < q->container ? -1 : p->container > q->container;
}

const struct ws_fatbin_arch *
ws_fatbin_archs(const struct ws_fatbin *fatbin, struct ws_arena *a, size_t *count)
{
	const struct ws_fatbin_image **sorted =
		WS_NEW_N(a, const struct ws_fatbin_image *, fatbin->image_count);
	size_t used = 0;
	for (size_t i = 0; i < fatbin->image_count; i++) {
		if (fatbin->images[i].kind == WS_FATBIN_PTX || fatbin->images[i].kind == WS_FATBIN_CUBIN) {
			sorted[used++] = &fatbin->images[i];
		}
	}
	qsort(sorted, used, sizeof(sorted[0]), by_arch);
	WS_VEC(struct ws_fatbin_arch) archs = {0};
	struct ws_fatbin_arch *last = NULL;
	for (size_t i = 0; i < used; i++) {
		bool same = last && last->sm == sorted[i]->sm && last->suffix == sorted[i]->suffix;
		if (!same) {
			last = ws_vec_push(&archs, a);
			*last = (struct ws_fatbin_arch){.sm = sorted[i]->sm, .suffix = sorted[i]->suffix};
		}
		last->code |= sorted[i]->kind == WS_FATBIN_CUBIN;
		last->ptx |= sorted[i]->kind == WS_FATBIN_PTX;
		last->containers += !same || sorted[i]->container != sorted[i - 1]->container;
	}
	*count = archs.len;
	return archs.at;
}
