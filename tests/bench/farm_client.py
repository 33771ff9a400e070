#!/usr/bin/env python3
"""The requests of farm_driver.c, sent by Python's gRPC: farm_client.py PORT COUNT HELPER [SLOTS]. Run by farms.py.

Each action has the input root of ours and is brought home as ours is: missing files are asked for and sent, the action is executed, its
outputs are read. Prints the seconds of all.
"""
import hashlib
import sys
import time
from concurrent import futures

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc
from buildgrid._protos.google.bytestream import bytestream_pb2, bytestream_pb2_grpc

INSTANCE = "main"


def digest_of(data):
    return re.Digest(hash=hashlib.sha256(data).hexdigest(), size_bytes=len(data))


class Client:
    def __init__(self, port, helper):
        channel = grpc.insecure_channel(f"127.0.0.1:{port}", options=[("grpc.max_receive_message_length", 16 << 20)])
        self.cas = re_grpc.ContentAddressableStorageStub(channel)
        self.execution = re_grpc.ExecutionStub(channel)
        self.stream = bytestream_pb2_grpc.ByteStreamStub(channel)
        with open(helper, "rb") as file:
            self.helper = file.read()
        with open("/bin/sh", "rb") as file:
            self.shell = digest_of(file.read()).hash
        self.write(self.helper)

    def write(self, data):
        digest = digest_of(data)
        name = f"{INSTANCE}/uploads/00000000-0000-4000-8000-000000000000/blobs/{digest.hash}/{digest.size_bytes}"
        parts = [data[at : at + (1 << 20)] for at in range(0, len(data), 1 << 20)]
        self.stream.Write(
            bytestream_pb2.WriteRequest(resource_name=name, write_offset=at << 20, data=part, finish_write=at + 1 == len(parts))
            for at, part in enumerate(parts))

    def folder(self, blobs, files, directories=()):
        folder = re.Directory()
        for name, data, executable in sorted(files):
            folder.files.add(name=name, digest=digest_of(data), is_executable=executable)
            blobs.append(data)
        for name, data in sorted(directories):
            folder.directories.add(name=name, digest=digest_of(data))
        blobs.append(folder.SerializeToString())
        return blobs[-1]

    def run(self, number):
        words = ["wheelsmith.order/1 x", "program /bin/sh", "argv sh", "argv -c", "argv cp in.cpp out.o; echo out.o: in.cpp > unit.d",
                 "env LANG=C", f"host {self.shell} /bin/sh", "input in.cpp", "output out.o"]
        order, blobs = "".join(word + "\0" for word in words).encode(), []
        job = self.folder(blobs, [("in.cpp", f"python {number}".encode(), False)])
        work = self.folder(blobs, [("order", order, False), ("wheelsmith-exec", self.helper, True)], [("job", job)])
        blobs.remove(self.helper)
        root = self.folder(blobs, [], [("w", work)])
        paths = ["job/out.o", "log", "report"]
        command = re.Command(arguments=["./wheelsmith-exec"], working_directory="w", output_paths=paths, output_files=paths)
        blobs.append(command.SerializeToString())
        action = re.Action(command_digest=digest_of(blobs[-1]), input_root_digest=digest_of(root))
        blobs.append(action.SerializeToString())
        all_blobs = {digest_of(data).hash: data for data in blobs}
        request = re.FindMissingBlobsRequest(instance_name=INSTANCE, blob_digests=[digest_of(data) for data in all_blobs.values()])
        missing = self.cas.FindMissingBlobs(request).missing_blob_digests
        update = re.BatchUpdateBlobsRequest(instance_name=INSTANCE)
        for digest in missing:
            update.requests.add(digest=digest, data=all_blobs[digest.hash])
        self.cas.BatchUpdateBlobs(update)
        for operation in self.execution.Execute(re.ExecuteRequest(instance_name=INSTANCE, action_digest=digest_of(blobs[-1]))):
            pass
        response = re.ExecuteResponse()
        operation.response.Unpack(response)
        assert response.result.exit_code == 0 and len(response.result.output_files) == 3, response
        wanted = [file.digest for file in response.result.output_files if file.digest.size_bytes]
        for blob in self.cas.BatchReadBlobs(re.BatchReadBlobsRequest(instance_name=INSTANCE, digests=wanted)).responses:
            assert digest_of(blob.data) == blob.digest


def main():
    client, count = Client(sys.argv[1], sys.argv[3]), int(sys.argv[2])
    began = time.monotonic()
    with futures.ThreadPoolExecutor(int(sys.argv[4]) if len(sys.argv) > 4 else 1) as pool:
        list(pool.map(client.run, range(count)))
    print(f"seconds: {time.monotonic() - began:.2f}")


if __name__ == "__main__":
    main()
