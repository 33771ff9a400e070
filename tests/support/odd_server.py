#!/usr/bin/env python3
"""A server of the Remote Execution API that has nothing but GetCapabilities: odd_server.py PORT no-cache|no-sha256|reader."""

import sys
from concurrent import futures

import grpc
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2 as re
from buildgrid._protos.build.bazel.remote.execution.v2 import remote_execution_pb2_grpc as re_grpc


class Capabilities(re_grpc.CapabilitiesServicer):
    def GetCapabilities(self, request, context):
        can = re.ServerCapabilities()
        can.low_api_version.major = can.high_api_version.major = 2
        if sys.argv[2] != "no-cache":
            can.cache_capabilities.digest_functions.append(1 if sys.argv[2] == "reader" else 2)
            can.cache_capabilities.max_batch_total_size_bytes = 65536
        return can


server = grpc.server(futures.ThreadPoolExecutor(2))
re_grpc.add_CapabilitiesServicer_to_server(Capabilities(), server)
server.add_insecure_port(f"127.0.0.1:{sys.argv[1]}")
server.start()
server.wait_for_termination()
