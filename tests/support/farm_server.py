#!/usr/bin/env python3
"""A build farm in one process, for tests and benches: farm_server.py PORT [OPTION...].

Capabilities, storage, streams, action cache and execution, any instance, all in memory. An action takes --seconds and leaves what
wheelsmith-exec leaves: a report, an empty log, a file for each output. With --run FOLDER it is carried out on this host instead, by the
program that came with it. Equal actions are one; they go on when their client is gone. Options say how the farm misbehaves.
SIGUSR1: files and results are forgotten, as a full disk or a clean-up does. SIGTERM: writes --stats and ends.
"""

import argparse
import asyncio
import collections
import contextlib
import hashlib
import json
import os
import pathlib
import random
import shutil
import signal
import time
import uuid

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.longrunning import operations_pb2, operations_pb2_grpc
from google.protobuf import empty_pb2

QUEUED, EXECUTING, COMPLETED = 2, 3, 4
OK, NOT_FOUND, EXHAUSTED, FAILED_PRECONDITION, UNAVAILABLE, DEADLINE = 0, 5, 8, 9, 14, 4
PART = 256 << 10


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("port", type=int)
    parser.add_argument("--slots", type=int, default=2048)
    parser.add_argument("--seconds", type=float, default=0.0, help="how long an action takes")
    parser.add_argument("--bytes", type=int, default=100, help="of each output")
    parser.add_argument("--reads", type=int, default=0, help='files "tree/hN.h" that a report names')
    parser.add_argument("--run", type=pathlib.Path, metavar="FOLDER", help="carry actions out, below FOLDER")
    parser.add_argument("--stats", type=pathlib.Path, metavar="FILE", help="JSON: what ran, and how busy the slots were")
    parser.add_argument("--batch", type=int, default=4 << 20, help="bytes of a batch at most")
    parser.add_argument("--streams", type=int, default=0, help="of a connection, at once")
    parser.add_argument("--calls", type=int, default=0, help="at once; one more is RESOURCE_EXHAUSTED")
    parser.add_argument("--goaway", type=float, default=0, metavar="S", help="a connection is to be left after S seconds")
    parser.add_argument("--fail", type=float, default=0, help="part of the calls that are UNAVAILABLE, some of Execute half-way")
    parser.add_argument("--busy", action="store_true", help="no queue: RESOURCE_EXHAUSTED in the Operation while all slots are taken")
    parser.add_argument("--deadline", action="store_true", help="the timeout of Actions that are kept is over at once")
    parser.add_argument("--lie", choices=("other", "short", "long"), help="files that are read have other bytes")
    parser.add_argument("--keeps", choices=("nothing", "other", "missing", "failed"), help="the action cache: another's result, "
                        "results whose files are gone, failures; nothing: it is empty")
    return parser.parse_args()


def digest_of(data):
    return re.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


class Job:
    """An action that is under way."""

    def __init__(self, digest):
        self.name, self.digest = str(uuid.uuid4()), digest
        self.started, self.task = asyncio.Event(), None

    def operation(self, stage):
        operation = operations_pb2.Operation(name=self.name)
        operation.metadata.Pack(re.ExecuteOperationMetadata(stage=stage, action_digest=self.digest))
        return operation


class Farm:
    def __init__(self, options):
        self.options = options
        self.blobs, self.results = {hashlib.sha256(b"").hexdigest(): b""}, {}
        self.jobs, self.names = {}, {}
        self.slots = asyncio.Semaphore(options.slots)
        self.cancelled = 0
        self.spans, self.calls = [], 0  # (began, ended) of what ran
        self.runs = collections.Counter()  # of Actions that may be kept

    def forget(self):
        self.blobs, self.results = {hashlib.sha256(b"").hexdigest(): b""}, {}

    def put(self, data):
        digest = digest_of(data)
        self.blobs[digest.hash] = data
        return digest

    def has(self, digest):
        return digest.hash in self.blobs

    def read(self, digest):
        """Its bytes as a client gets them; None: it is not there."""
        data = self.blobs.get(digest.hash)
        lie = self.options.lie
        if not lie or not data:
            return data
        return data[:-1] if lie == "short" else data + b"x" if lie == "long" else bytes([data[0] ^ 1]) + data[1:]

    async def spoil(self, context):
        self.calls += 1
        if self.options.fail and random.random() < self.options.fail:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "try again")

    # ---- actions ----

    def start(self, digest):
        job = Job(digest)
        self.jobs[digest.hash] = self.names[job.name] = job
        job.task = asyncio.ensure_future(self.perform(job))
        return job

    def lacks(self, digest):
        """Whether something is gone of what an action needs."""
        if not self.has(digest):
            return True
        action = re.Action.FromString(self.blobs[digest.hash])
        return not self.has(action.command_digest) or not self.has(action.input_root_digest) or (
            self.options.run and self.tree_lacks(action.input_root_digest))

    def tree_lacks(self, digest):
        if not self.has(digest):
            return True
        directory = re.Directory.FromString(self.blobs[digest.hash])
        return not all(self.has(f.digest) for f in directory.files) or any(self.tree_lacks(d.digest) for d in directory.directories)

    async def perform(self, job):
        """An ExecuteResponse."""
        response = re.ExecuteResponse()
        try:
            if self.options.busy and self.slots.locked():
                response.status.code, response.status.message = EXHAUSTED, "all workers are taken"
                return response
            async with self.slots:
                began = time.monotonic()
                job.started.set()
                action = None if self.lacks(job.digest) else re.Action.FromString(self.blobs[job.digest.hash])
                if not action:
                    response.status.code, response.status.message = FAILED_PRECONDITION, "a file is missing"
                elif self.options.deadline and not action.do_not_cache:
                    response.status.code, response.status.message = DEADLINE, "the action's timeout"
                else:
                    self.runs[job.digest.hash] += not action.do_not_cache
                    response.result.CopyFrom(await (self.carry_out(action) if self.options.run else self.pretend(action)))
                    response.result.execution_metadata.worker = "w1"
                    if response.result.exit_code == 0 or self.options.keeps == "failed":
                        self.results[job.digest.hash] = response.result
                self.spans.append((began, time.monotonic()))
            return response
        finally:
            job.started.set()
            self.jobs.pop(job.digest.hash, None)
            self.names.pop(job.name, None)

    async def pretend(self, action):
        command = re.Command.FromString(self.blobs[action.command_digest.hash])
        await asyncio.sleep(self.options.seconds)
        made = {"log": self.put(b"")}
        records = ["wheelsmith.report/1 0", f"order {self.order_of(action)}", "signal 0",
                   f"wall_ms {self.options.seconds * 1e3:.0f}", "cpu_ms 1", "rss_bytes 1048576"]
        for path in command.output_paths:
            if path.startswith("job/"):
                data = (action.input_root_digest.hash + path).encode().ljust(self.options.bytes, b".")[: self.options.bytes]
                made[path] = self.put(data)
                records.append(f"made {made[path].hash} {path[4:]}")
        records += [f"file tree/h{number}.h" for number in range(self.options.reads)]
        made["report"] = self.put("".join(record + "\0" for record in records).encode())
        return re.ActionResult(output_files=[re.OutputFile(path=path, digest=made[path]) for path in command.output_paths])

    def order_of(self, action):
        root = re.Directory.FromString(self.blobs[action.input_root_digest.hash])
        folder = re.Directory.FromString(self.blobs[root.directories[0].digest.hash])
        return next(file.digest.hash for file in folder.files if file.name == "order")

    def stage(self, digest, place):
        place.mkdir(parents=True, exist_ok=True)
        directory = re.Directory.FromString(self.blobs[digest.hash])
        for link in directory.symlinks:
            (place / link.name).symlink_to(link.target)
        for file in directory.files:
            kept = self.options.run / "files" / (file.digest.hash + ("x" if file.is_executable else ""))
            if not kept.exists():
                new = kept.with_suffix(f".{uuid.uuid4()}")
                new.write_bytes(self.blobs[file.digest.hash])
                new.chmod(0o555 if file.is_executable else 0o444)
                with contextlib.suppress(FileExistsError):  # not renamed: what another thread links to must not go
                    os.link(new, kept)
                new.unlink()
            os.link(kept, place / file.name)
        for below in directory.directories:
            self.stage(below.digest, place / below.name)

    async def carry_out(self, action):
        command = re.Command.FromString(self.blobs[action.command_digest.hash])
        root = self.options.run / str(uuid.uuid4())
        (self.options.run / "files").mkdir(parents=True, exist_ok=True)
        child = None
        try:
            await asyncio.to_thread(self.stage, action.input_root_digest, root)
            place = root / command.working_directory
            for path in command.output_paths:
                (place / path).parent.mkdir(parents=True, exist_ok=True)
            child = await asyncio.create_subprocess_exec(
                *command.arguments, cwd=place, env={}, start_new_session=True, stdin=asyncio.subprocess.DEVNULL,
                stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE)
            out, errors = await child.communicate()
            result = re.ActionResult(exit_code=child.returncode, stdout_digest=self.put(out), stderr_digest=self.put(errors))
            for path in command.output_paths:
                if (place / path).is_file():
                    result.output_files.add(path=path, digest=self.put((place / path).read_bytes()))
            return result
        finally:
            if child and child.returncode is None:
                os.killpg(child.pid, signal.SIGKILL)
            await asyncio.to_thread(shutil.rmtree, root, True)

    def kept(self, digest):
        """The entry of the action cache, or None."""
        keeps, result = self.options.keeps, self.results.get(digest.hash)
        if keeps == "nothing" or not self.results:
            return None
        if keeps == "other":
            return next((other for key, other in self.results.items() if key != digest.hash), None)
        if keeps == "failed":
            return re.ActionResult(exit_code=1, output_files=result.output_files if result else ())
        if keeps == "missing" and result:
            result = re.ActionResult.FromString(result.SerializeToString())
            for file in result.output_files:
                file.digest.hash = hashlib.sha256(file.digest.hash.encode()).hexdigest()
        return result

    def report(self):
        """How busy the slots were between the moment when all were first taken and the last start."""
        if not self.options.stats:
            return
        said = {"ran": len(self.spans), "calls": self.calls, "most_often": max(self.runs.values(), default=0), "cancelled": self.cancelled}
        if self.spans:
            began, last = min(b for b, _ in self.spans), max(b for b, _ in self.spans)
            said |= {"seconds": max(e for _, e in self.spans) - began, "starts_s": last - began}
            said["most"], full = self.fullest()
            said["full_s"] = last - full
            busy = sum(max(0.0, min(e, last) - max(b, full)) for b, e in self.spans)
            said["busy"] = busy / (self.options.slots * (last - full)) if last > full else 0.0
        self.options.stats.write_text(json.dumps(said) + "\n")

    def fullest(self):
        """Most slots taken at once, and when so many were first."""
        taken, most, when = 0, 0, 0.0
        for at, change in sorted([(b, 1) for b, _ in self.spans] + [(e, -1) for _, e in self.spans]):
            taken += change
            if taken > most:
                most, when = taken, at
        return most, when


# ---- services ----


class Capabilities(re_grpc.CapabilitiesServicer):
    def __init__(self, farm):
        self.farm = farm

    async def GetCapabilities(self, request, context):
        await self.farm.spoil(context)
        can = re.ServerCapabilities()
        can.low_api_version.major = can.high_api_version.major = 2
        can.high_api_version.minor = 1
        can.cache_capabilities.digest_functions.append(1)
        can.cache_capabilities.action_cache_update_capabilities.update_enabled = True
        can.cache_capabilities.max_batch_total_size_bytes = self.farm.options.batch
        can.execution_capabilities.digest_function = 1
        can.execution_capabilities.exec_enabled = True
        return can


class Storage(re_grpc.ContentAddressableStorageServicer):
    def __init__(self, farm):
        self.farm = farm

    async def FindMissingBlobs(self, request, context):
        await self.farm.spoil(context)
        return re.FindMissingBlobsResponse(missing_blob_digests=[d for d in request.blob_digests if not self.farm.has(d)])

    async def allow(self, size, context):
        await self.farm.spoil(context)
        if size > self.farm.options.batch:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "the batch is too large")

    async def BatchUpdateBlobs(self, request, context):
        await self.allow(sum(len(r.data) for r in request.requests), context)
        reply = re.BatchUpdateBlobsResponse()
        for one in request.requests:
            answer = reply.responses.add(digest=one.digest)
            if digest_of(one.data) == one.digest:
                self.farm.blobs[one.digest.hash] = one.data
            else:
                answer.status.code = 3
        return reply

    async def BatchReadBlobs(self, request, context):
        await self.allow(sum(d.size_bytes for d in request.digests), context)
        reply = re.BatchReadBlobsResponse()
        for digest in request.digests:
            data = self.farm.read(digest)
            answer = reply.responses.add(digest=digest, data=data or b"")
            answer.status.code = OK if data is not None else NOT_FOUND
        return reply


class Streams(bytestream_pb2_grpc.ByteStreamServicer):
    def __init__(self, farm):
        self.farm = farm

    async def Read(self, request, context):
        await self.farm.spoil(context)
        name, size = request.resource_name.split("/")[-2:]
        data = self.farm.read(re.Digest(hash=name, size_bytes=int(size)))
        if data is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such file")
        for at in range(0, len(data), PART):
            yield bytestream_pb2.ReadResponse(data=data[at : at + PART])

    async def Write(self, requests, context):
        await self.farm.spoil(context)
        name, parts = None, []
        async for request in requests:
            name = name or request.resource_name
            parts.append(request.data)
        data = b"".join(parts)
        if digest_of(data).hash != name.split("/")[-2]:
            await context.abort(grpc.StatusCode.INVALID_ARGUMENT, "other bytes than its digest says")
        self.farm.put(data)
        return bytestream_pb2.WriteResponse(committed_size=len(data))


class Cache(re_grpc.ActionCacheServicer):
    def __init__(self, farm):
        self.farm = farm

    async def GetActionResult(self, request, context):
        await self.farm.spoil(context)
        result = self.farm.results.get(request.action_digest.hash)
        if result is None:
            await context.abort(grpc.StatusCode.NOT_FOUND, "no such result")
        return result

    async def UpdateActionResult(self, request, context):
        await self.farm.spoil(context)
        self.farm.results[request.action_digest.hash] = request.action_result
        return request.action_result


class Execution(re_grpc.ExecutionServicer):
    def __init__(self, farm):
        self.farm = farm

    async def Execute(self, request, context):
        await self.farm.spoil(context)
        digest = request.action_digest
        kept = None if request.skip_cache_lookup else self.farm.kept(digest)
        if kept is not None:
            yield self.end(Job(digest), re.ExecuteResponse(result=kept, cached_result=True))
            return
        job = self.farm.jobs.get(digest.hash) or self.farm.start(digest)
        if not job.started.is_set():
            await asyncio.sleep(0)
            if not job.started.is_set():
                print("queued", flush=True)
                yield job.operation(QUEUED)
                await job.started.wait()
        yield job.operation(EXECUTING)
        if random.random() < self.farm.options.fail:
            await context.abort(grpc.StatusCode.UNAVAILABLE, "half-way")
        try:
            yield self.end(job, await asyncio.shield(job.task))
        except asyncio.CancelledError:
            if not job.task.cancelled():
                raise
            await context.abort(grpc.StatusCode.CANCELLED, "it was cancelled")

    @staticmethod
    def end(job, response):
        operation = job.operation(COMPLETED)
        operation.done = True
        operation.response.Pack(response)
        return operation


class Operations(operations_pb2_grpc.OperationsServicer):
    def __init__(self, farm):
        self.farm = farm

    async def CancelOperation(self, request, context):
        job = self.farm.names.get(request.name)
        self.farm.cancelled += 1
        if job:
            job.task.cancel()
        return empty_pb2.Empty()


async def serve(asked):
    farm = Farm(asked)
    settings = [("grpc.max_receive_message_length", 16 << 20), ("grpc.max_concurrent_streams", asked.streams or 1 << 20)]
    if asked.goaway:
        settings += [("grpc.max_connection_age_ms", int(asked.goaway * 1e3)), ("grpc.max_connection_age_grace_ms", 3600000)]
    server = grpc.aio.server(options=settings, maximum_concurrent_rpcs=asked.calls or None)
    re_grpc.add_CapabilitiesServicer_to_server(Capabilities(farm), server)
    re_grpc.add_ContentAddressableStorageServicer_to_server(Storage(farm), server)
    bytestream_pb2_grpc.add_ByteStreamServicer_to_server(Streams(farm), server)
    re_grpc.add_ActionCacheServicer_to_server(Cache(farm), server)
    re_grpc.add_ExecutionServicer_to_server(Execution(farm), server)
    operations_pb2_grpc.add_OperationsServicer_to_server(Operations(farm), server)
    server.add_insecure_port(f"127.0.0.1:{asked.port}")
    over = asyncio.Event()
    loop = asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    loop.add_signal_handler(signal.SIGUSR1, farm.forget)
    await server.start()
    print("ready", flush=True)
    await over.wait()
    farm.report()
    await server.stop(0)
    for job in list(farm.jobs.values()):
        job.task.cancel()
    await asyncio.gather(*(job.task for job in list(farm.jobs.values())), return_exceptions=True)


if __name__ == "__main__":
    asyncio.run(serve(options()))
