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

typedef WS_VEC(struct ws_fatbin_image) image_list;

static uint64_t
number(struct ws_str bytes, size_t offset, unsigned width)
{
	uint64_t value = 0;
	for (unsigned i = width; i-- > 0;) {
		value = value << 8 | (unsigned char)bytes.s[offset + i];
	}
	return value;
}

/* Takes the first @len bytes, which are there, off @s. */
static void
skip(struct ws_str *s, uint64_t len)
{
	s->s += len;
	s->n -= len;
}

/* One image off the front of a container's payload. False when it is none. */
static bool
read_image(struct ws_str *payload, struct ws_fatbin_image *image)
{
	if (payload->n < IMAGE_HEADER) {
		return false;
	}
	uint64_t header = number(*payload, 0x04, 4);
	uint64_t size = number(*payload, 0x08, 8);
	uint64_t packed = number(*payload, 0x10, 4);
	uint64_t flags = number(*payload, 0x28, 8);
	uint64_t raw = number(*payload, 0x38, 8);
	if (header < IMAGE_HEADER || header > payload->n || size > payload->n - header
		|| packed > size) {
		return false;
	}
	*image = (struct ws_fatbin_image){
		.kind = (enum ws_fatbin_kind)number(*payload, 0x00, 2),
		.sm = (unsigned)number(*payload, 0x1c, 4),
		.suffix = flags & FLAG_ARCH_SPECIFIC ? 'a'
			: flags & FLAG_FAMILY            ? 'f'
											 : 0,
		.minor = (unsigned)number(*payload, 0x18, 2),
		.major = (unsigned)number(*payload, 0x1a, 2),
		.packing = flags & FLAG_ZSTD ? WS_FATBIN_ZSTD
			: flags & FLAG_LZ4       ? WS_FATBIN_LZ4
			: packed                 ? WS_FATBIN_PACKED
									 : WS_FATBIN_PLAIN,
		.stored_bytes = packed ? packed : size,
		.raw_bytes = raw ? raw : size,
	};
	skip(payload, header + size);
	return true;
}

/* One container off the front of the section; its images are added to @images. */
static bool
read_container(struct ws_str *section, struct ws_arena *a, size_t container, image_list *images)
{
	if (section->n < CONTAINER_HEADER || number(*section, 0, 4) != CONTAINER_MAGIC) {
		return false;
	}
	uint64_t header = number(*section, 6, 2);
	uint64_t size = number(*section, 8, 8);
	if (header < CONTAINER_HEADER || header > section->n || size > section->n - header) {
		return false;
	}
	struct ws_str payload = {section->s + header, size};
	skip(section, header + size);
	while (payload.n > 0) {
		struct ws_fatbin_image image;
		if (!read_image(&payload, &image)) {
			return false;
		}
		image.container = container;
		*ws_vec_push(images, a) = image;
	}
	return true;
}

bool
ws_fatbin_read(
	const void *bytes, size_t len, struct ws_arena *a, struct ws_fatbin *fatbin, struct ws_err *err)
{
	struct ws_str section = {bytes, len};
	image_list images = {0};
	size_t containers = 0;
	while (section.n > 0) {
		if (section.s[0] == 0) {
			skip(&section, 1); /* up to the alignment of the next container */
			continue;
		}
		size_t before = images.len, offset = len - section.n;
		if (!read_container(&section, a, containers, &images)) {
			return ws_err_set(err, WS_ERR_FETCH,
				"the GPU code (%s) cannot be read: no container at offset %zu of %zu",
				WS_FATBIN_SECTION, offset, len);
		}
		containers += images.len > before;
	}
	*fatbin = (struct ws_fatbin){images.at, images.len, containers};
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
