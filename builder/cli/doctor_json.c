/* doctor_json.c - the same as JSON, schema wheelsmith.doctor/1. */
#include "base/json_write.h"
#include "cli/doctor.h"
#include "net/url.h"

static void
write_complaints(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "problems");
	for (size_t i = 0; i < d->complaints.len; i++) {
		const struct ws_complaint *complaint = &d->complaints.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "part", ws_doctor_part_names[complaint->part]);
		ws_json_add_bool(w, "blocks", complaint->blocks);
		ws_json_add_text(w, "text", complaint->text);
		ws_json_add_text(w, "cure", complaint->cure);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_host(const struct ws_doctor *d, struct ws_json_writer *w)
{
	const struct ws_host *host = &d->s->host;
	ws_json_open_object(w, "host");
	ws_json_add_text(w, "distribution", host->pretty_name);
	ws_json_add_text(w, "glibc", d->glibc);
	ws_json_add_u64(w, "cores", host->cores);
	ws_json_add_u64(w, "memory_bytes", host->memory_bytes);
	ws_json_add_u64(w, "available_bytes", d->available_bytes);
	ws_json_add_text(w, "memory_group", host->memory_group);
	ws_json_open_list(w, "holders");
	for (size_t i = 0; i < d->holder_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "pid", (uint64_t)d->holders[i].pid);
		ws_json_add_text(w, "name", d->holders[i].name);
		ws_json_add_u64(w, "rss_bytes", d->holders[i].rss_bytes);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_close(w);
}

static void
write_store(const struct ws_doctor *d, struct ws_json_writer *w)
{
	const struct ws_doctor_store *store = &d->store;
	ws_json_open_object(w, "store");
	ws_json_add_text(w, "path", store->path);
	ws_json_add_bool(w, "is_there", store->is_there);
	ws_json_add_u64(w, "free_bytes", store->free_bytes);
	ws_json_add_u64(w, "files", store->file_count);
	ws_json_add_u64(w, "bytes", store->file_bytes);
	ws_json_add_u64(w, "trees", store->tree_count);
	ws_json_add_bool(w, "counted_all", store->counted_all);
	ws_json_close(w);
}

static void
write_compilers(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "compilers");
	for (size_t i = 0; i < d->compilers.len; i++) {
		const struct ws_hostcc *cc = &d->compilers.at[i].cc;
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "kind", cc->kind == WS_HOSTCC_GCC ? "gcc" : "clang");
		ws_json_add_text(w, "version", cc->version);
		ws_json_add_text(w, "path", cc->path);
		ws_json_add_text(w, "cuda", d->compilers.at[i].cuda);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_add_text(w, "cuda_without_compiler", d->cuda_without);
}

static void
write_cuda(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "cuda");
	for (size_t i = 0; i < d->cuda.len; i++) {
		const struct ws_cuda_kit *kit = &d->cuda.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "version", kit->version.text);
		ws_json_add_text(w, "release", kit->release);
		ws_json_add_text(w, "path", kit->path);
		ws_json_add_texts(w, "missing", kit->missing, kit->missing_count);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "archive_kits");
	for (size_t i = 0; i < d->kits.len; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "cuda", d->kits.at[i].cuda);
		ws_json_add_bool(w, "in_store", d->kits.at[i].in_store);
		ws_json_close(w);
	}
	ws_json_close(w);
}

static void
write_pythons(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "pythons");
	for (size_t i = 0; i < d->pythons.len; i++) {
		const struct ws_doctor_python *python = &d->pythons.at[i];
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "version", python->kit.version);
		ws_json_add_bool(w, "free_threaded", python->kit.tag.free_threaded);
		ws_json_add_text(w, "path", python->kit.interpreter);
		ws_json_add_bool(w, "has_headers", python->has_headers);
		ws_json_add_text(w, "wrong", python->wrong);
		ws_json_add_text(w, "cure", python->cure);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_object(w, "torch");
	ws_json_add_text(w, "python", d->torch_python);
	ws_json_add_text(w, "version", d->has_torch ? d->torch.version.text : NULL);
	ws_json_add_text(w, "why_none", d->why_no_torch);
	if (d->has_torch) {
		ws_json_add_text(w, "cuda", d->torch.cuda);
		ws_json_add_i64(w, "cxx11abi", d->torch.cxx11abi);
		ws_json_add_text(w, "path", d->torch.path);
	}
	ws_json_close(w);
}

static void
write_gpus(const struct ws_doctor *d, struct ws_json_writer *w)
{
	const struct ws_gpus *gpus = &d->gpus;
	ws_json_open_list(w, "gpus");
	for (size_t i = 0; i < gpus->count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "index", gpus->at[i].index);
		ws_json_add_text(w, "name", gpus->at[i].name);
		ws_json_add_text(w, "arch", ws_arch_text(&gpus->at[i].arch, d->a));
		ws_json_add_u64(w, "memory_bytes", gpus->at[i].memory_bytes);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_open_list(w, "gpu_users");
	for (size_t i = 0; i < gpus->user_count; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_u64(w, "pid", gpus->users[i].pid);
		ws_json_add_text(w, "name", gpus->users[i].name);
		ws_json_add_u64(w, "memory_bytes", gpus->users[i].memory_bytes);
		ws_json_close(w);
	}
	ws_json_close(w);
	ws_json_add_text(w, "driver", gpus->driver);
	ws_json_add_text(w, "why_no_gpu", gpus->why_none);
}

static void
write_indexes(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "indexes");
	for (size_t i = 0; d->knows_indexes && i < d->indexes.count; i++) {
		const struct ws_index_choice *choice = &d->indexes.choices[i];
		for (size_t j = 0; j < choice->count; j++) {
			ws_json_open_object(w, NULL);
			ws_json_add_text(w, "role", choice->role);
			ws_json_add_text(w, "url", ws_url_shown(choice->urls[j], d->a));
			ws_json_add_text(w, "from", choice->from);
			ws_json_close(w);
		}
	}
	ws_json_close(w);
	ws_json_add_text(
		w, "debian_mirror", d->debian_mirror ? ws_url_shown(d->debian_mirror, d->a) : NULL);
	ws_json_add_text(w, "debian_mirror_from", d->debian_from);
	ws_json_add_text(w, "ca", d->indexes.ca_path);
	ws_json_add_text(w, "ca_from", d->indexes.ca_from);
	ws_json_add_text(w, "libgit2", d->git_version);
	ws_json_add_bool(w, "libgit2_is_old", d->git_is_old);
}

static void
write_environment(const struct ws_doctor *d, struct ws_json_writer *w)
{
	ws_json_open_list(w, "ignored_variables");
	for (size_t i = 0; i < d->ignored.len; i++) {
		ws_json_open_object(w, NULL);
		ws_json_add_text(w, "name", d->ignored.at[i].name);
		ws_json_add_text(w, "instead", d->ignored.at[i].instead);
		ws_json_close(w);
	}
	ws_json_close(w);
}

void
ws_doctor_print_json(const struct ws_doctor *d)
{
	WS_AUTO_BUF struct ws_buf text = {0};
	struct ws_json_writer *w = ws_json_begin();
	ws_json_open_object(w, NULL);
	ws_json_add_text(w, "schema", "wheelsmith.doctor/1");
	ws_json_add_text(w, "wheelsmith", WS_VERSION);
	ws_json_add_bool(w, "can_build", ws_doctor_count(d, true) == 0);
	write_complaints(d, w);
	write_host(d, w);
	write_store(d, w);
	write_compilers(d, w);
	write_cuda(d, w);
	write_pythons(d, w);
	write_gpus(d, w);
	write_indexes(d, w);
	write_environment(d, w);
	ws_json_close(w);
	ws_json_finish(w, WS_JSON_PRETTY, &text);
	ws_out_result(&d->s->out, "%s", ws_buf_text(&text));
}
