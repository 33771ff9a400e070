/**
 * torch_scene.h - torch kits in a scene, for tests of kit/torch/torch.c and its neighbours
 */
#ifndef WS_TESTS_UNIT_TORCH_SCENE_H
#define WS_TESTS_UNIT_TORCH_SCENE_H

#include "kit/torch/torch.h"
#include "kit_scene.h"

/** 2.5.1, 2.9.1 and 2.14.1, which differ in CUDA, ABI and language. */
struct ws_facts ws_torch_scene_facts(struct ws_arena *a);

/** Where the server has the files of its index: for make_torch.py. */
const char *ws_torch_scene_files(struct ws_scene *s);

/** Opens a kit by those facts; fails with s->err. */
bool ws_torch_scene_open(struct ws_scene *s, const char *version, const char *python,
	const struct ws_pin_torch *pin, struct ws_torch_kit *kit);

/** A fresh client, as the next run of the program is: it remembers no page. */
void ws_torch_scene_forget(struct ws_scene *s);

#endif
