#!/usr/bin/env python3
"""A worker of a build farm, for tests: python3 reapi_worker.py PORT NAME CACHE [PROPERTY=VALUE...].

One action at a time, of the server on 127.0.0.1:PORT, instance main (Remote Workers API, v1test2). Inputs are hard links into CACHE; the
command gets only its own environment and runs with the rights of this user, without a sandbox. The messages are those of BuildGrid's
package. Ends at SIGTERM; killed, it leaves its command to the kernel (PR_SET_PDEATHSIG).
"""

import ctypes
import hashlib
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import threading
import time
import uuid

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc
from buildgrid._protos.google.devtools.remoteworkers.v1test2 import bots_pb2, bots_pb2_grpc, worker_pb2

BATCH = 2 << 20
INSTANCE = "main"
POLL_S = 8
BEAT_S = 2


def digest_of(data):
    return re.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


class Storage:
    """Files of the server, and those of them that are here."""

    def __init__(self, channel, folder):
        self.cas = re_grpc.ContentAddressableStorageStub(channel)
        self.stream = bytestream_pb2_grpc.ByteStreamStub(channel)
        self.folder = folder
        folder.mkdir(parents=True, exist_ok=True)

    def read(self, digest):
        if not digest.size_bytes:
            return b""
        name = f"{INSTANCE}/blobs/{digest.hash}/{digest.size_bytes}"
        data = b"".join(r.data for r in self.stream.Read(bytestream_pb2.ReadRequest(resource_name=name), timeout=300))
        if digest_of(data) != digest:
            raise OSError(f"other bytes than {digest.hash}")
        return data

    def path(self, digest, is_executable):
        return self.folder / (digest.hash + ("x" if is_executable else ""))

    def keep(self, digest, is_executable, data):
        path = self.path(digest, is_executable)
        new = path.with_suffix(".new")
        new.write_bytes(data)
        new.chmod(0o555 if is_executable else 0o444)
        new.rename(path)

    def fetch(self, wanted):
        """Fetches the missing files of a list of (digest, is_executable); small ones in batches."""
        missing = {(d.hash, x): d for d, x in wanted if not self.path(d, x).exists()}
        batch, size = [], 0
        for (_, x), digest in missing.items():
            if not 0 < digest.size_bytes < BATCH // 2:
                self.keep(digest, x, self.read(digest))
                continue
            if size + digest.size_bytes > BATCH or len(batch) == 500:
                self.fetch_batch(batch)
                batch, size = [], 0
            batch.append((digest, x))
            size += digest.size_bytes
        self.fetch_batch(batch)

    def fetch_batch(self, batch):
        if not batch:
            return
        digests = {d.hash: d for d, _ in batch}
        request = re.BatchReadBlobsRequest(instance_name=INSTANCE, digests=digests.values())
        came = {r.digest.hash: r.data for r in self.cas.BatchReadBlobs(request, timeout=300).responses}
        for digest, x in batch:
            if digest_of(came.get(digest.hash, b"")) != digest:
                raise OSError(f"no file {digest.hash}")
            self.keep(digest, x, came[digest.hash])

    def write(self, data):
        digest = digest_of(data)
        request = re.FindMissingBlobsRequest(instance_name=INSTANCE, blob_digests=[digest])
        if data and self.cas.FindMissingBlobs(request, timeout=60).missing_blob_digests:
            name = f"{INSTANCE}/uploads/{uuid.uuid4()}/blobs/{digest.hash}/{digest.size_bytes}"
            self.stream.Write(self.parts(name, data), timeout=300)
        return digest

    @staticmethod
    def parts(name, data):
        for at in range(0, len(data), 1 << 20):
            part = data[at : at + (1 << 20)]
            yield bytestream_pb2.WriteRequest(
                resource_name=name, write_offset=at, finish_write=at + len(part) == len(data), data=part
            )


class Worker:
    def __init__(self, port, name, folder, properties):
        options = [("grpc.max_receive_message_length", 16 << 20)]
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=options)
        self.bots = bots_pb2_grpc.BotsStub(channel)
        self.storage = Storage(channel, folder / "files")
        self.name, self.folder, self.properties = name, folder, properties
        self.directories = {}
        self.child = None

    # ---- one action ----

    def list_tree(self, digest, to, found):
        """Folders, files, links below a root, as (path, ...)."""
        if digest.hash not in self.directories:
            self.directories[digest.hash] = re.Directory.FromString(self.storage.read(digest))
        directory = self.directories[digest.hash]
        found[0].append(to)
        found[1].extend((to / f.name, f.digest, f.is_executable) for f in directory.files)
        found[2].extend((to / s.name, s.target) for s in directory.symlinks)
        for sub in directory.directories:
            self.list_tree(sub.digest, to / sub.name, found)

    def stage(self, digest, root):
        folders, files, links = found = [], [], []
        self.list_tree(digest, root, found)
        self.storage.fetch([(d, x) for _, d, x in files])
        for folder in folders:
            folder.mkdir(parents=True, exist_ok=True)
        for path, target in links:
            path.symlink_to(target)
        for path, file_digest, is_executable in files:
            os.link(self.storage.path(file_digest, is_executable), path)

    def run(self, command, place, timeout_s):
        """Exit status (negative: its signal), stdout, stderr."""
        with open(self.folder / "stdout", "w+b") as out, open(self.folder / "stderr", "w+b") as err:
            self.child = subprocess.Popen(
                list(command.arguments),
                cwd=place,
                env={v.name: v.value for v in command.environment_variables},
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
                preexec_fn=lambda: ctypes.CDLL(None).prctl(1, signal.SIGKILL),
            )
            try:
                status = self.child.wait(timeout_s or None)
            finally:
                self.kill_child()
            out.seek(0)
            err.seek(0)
            return status, out.read(), err.read()

    def kill_child(self):
        child, self.child = self.child, None
        if child:
            try:
                os.killpg(child.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            child.wait()

    def perform(self, action):
        root = self.folder / "root"
        shutil.rmtree(root, ignore_errors=True)
        result = re.ActionResult()
        meta = result.execution_metadata
        meta.worker = self.name
        meta.worker_start_timestamp.GetCurrentTime()
        command = re.Command.FromString(self.storage.read(action.command_digest))
        meta.input_fetch_start_timestamp.GetCurrentTime()
        self.stage(action.input_root_digest, root)
        meta.input_fetch_completed_timestamp.GetCurrentTime()
        place = root / command.working_directory
        place.mkdir(parents=True, exist_ok=True)
        outputs = list(command.output_paths) or list(command.output_files)
        for name in outputs:
            (place / name).parent.mkdir(parents=True, exist_ok=True)
        meta.execution_start_timestamp.GetCurrentTime()
        result.exit_code, out, err = self.run(command, place, action.timeout.seconds)
        meta.execution_completed_timestamp.GetCurrentTime()
        result.stdout_digest.CopyFrom(self.storage.write(out))
        result.stderr_digest.CopyFrom(self.storage.write(err))
        for name in outputs:
            path = place / name
            if path.is_symlink():
                result.output_symlinks.add(path=name, target=os.readlink(path))
            elif path.is_file():
                digest = self.storage.write(path.read_bytes())
                result.output_files.add(path=name, digest=digest, is_executable=os.access(path, os.X_OK))
        meta.worker_completed_timestamp.GetCurrentTime()
        return result

    # ---- the server ----

    def describe(self):
        device = worker_pb2.Device(handle="device")
        for key, value in self.properties:
            device.properties.add(key=key, value=value)
        worker = worker_pb2.Worker(devices=[device])
        worker.configs.add(key="capacity", value="1")
        return bots_pb2.BotSession(bot_id=self.name, status=bots_pb2.OK, worker=worker)

    def update(self, session, timeout):
        request = bots_pb2.UpdateBotSessionRequest(name=session.name, bot_session=session)
        return self.bots.UpdateBotSession(request, timeout=timeout)

    def beat(self, session, done):
        """Sends a heartbeat while an action runs, and ends a cancelled action."""
        while not done.wait(BEAT_S):
            try:
                answer = self.update(session, 10)
            except grpc.RpcError:
                continue
            session.version = answer.version
            if not answer.leases and self.child:
                os.killpg(self.child.pid, signal.SIGKILL)

    def work(self, lease):
        action = re.Action()
        try:
            lease.payload.Unpack(action)
            lease.result.Pack(self.perform(action))
            lease.status.code = 0
        except subprocess.TimeoutExpired:
            lease.status.code, lease.status.message = 4, "the action's timeout"
        except Exception as trouble:  # ours, not the action's: another worker may have it
            print(f"{self.name}: {trouble!r}", file=sys.stderr, flush=True)
            lease.status.code, lease.status.message = 14, repr(trouble)[:500]
        lease.state = bots_pb2.COMPLETED

    def serve(self):
        session = None
        while True:
            try:
                if session:
                    session = self.update(session, POLL_S)
                else:
                    request = bots_pb2.CreateBotSessionRequest(parent=INSTANCE, bot_session=self.describe())
                    session = self.bots.CreateBotSession(request, timeout=POLL_S)
            except grpc.RpcError as error:
                if error.code() != grpc.StatusCode.DEADLINE_EXCEEDED:
                    session = None
                    time.sleep(0.5)
                continue
            for lease in session.leases:
                if lease.state in (bots_pb2.PENDING, bots_pb2.ACTIVE):
                    lease.state = bots_pb2.ACTIVE
                    done, beating = threading.Event(), bots_pb2.BotSession()
                    beating.CopyFrom(session)
                    beat = threading.Thread(target=self.beat, args=(beating, done))
                    beat.start()
                    self.work(lease)
                    done.set()
                    beat.join()
                    session.version = beating.version


def main():
    port, name, folder = sys.argv[1:4]
    properties = [word.split("=", 1) for word in sys.argv[4:]]
    Worker(int(port), name, pathlib.Path(folder), properties).serve()


if __name__ == "__main__":
    main()
