#!/usr/bin/env python3
"""A server on loopback that has nothing, takes whatever is sent, and whose answer to that does not end. Prints its port."""
import http.server
import sys


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(404)

    def do_PUT(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.end_headers()
        while True:
            self.wfile.write(b"x" * 65536)

    do_POST = do_PUT


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
sys.stderr = open("/dev/null", "w")
server.serve_forever()
