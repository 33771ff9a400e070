"""A proxy on loopback that counts what goes through it, so that bytes are those of the wire: TLS, index
pages and all. Knows CONNECT only."""
import select
import socket
import socketserver
import threading


class Tunnel(socketserver.StreamRequestHandler):
    def handle(self):
        method, target, _ = self.rfile.readline().decode("latin-1").split()
        while self.rfile.readline().strip():
            pass
        if method != "CONNECT":
            self.wfile.write(b"HTTP/1.1 405 only CONNECT\r\n\r\n")
            return
        host, _, port = target.rpartition(":")
        with socket.create_connection((host.strip("[]"), int(port)), timeout=60) as far:
            self.wfile.write(b"HTTP/1.1 200 go\r\n\r\n")
            self.pass_on(far)

    def pass_on(self, far):
        near = self.connection
        while True:
            for ready in select.select([near, far], [], [], 60)[0]:
                data = ready.recv(1 << 18)
                with self.server.lock:
                    self.server.wire_bytes += len(data)
                if not data:
                    return
                (far if ready is near else near).sendall(data)


class Proxy(socketserver.ThreadingTCPServer):
    """`with Proxy() as proxy: run(..., env=proxy.env()); proxy.wire_bytes`"""

    daemon_threads = True

    def __init__(self):
        super().__init__(("127.0.0.1", 0), Tunnel)
        self.wire_bytes, self.lock = 0, threading.Lock()
        threading.Thread(target=self.serve_forever, daemon=True).start()

    def env(self, environ):
        url = f"http://127.0.0.1:{self.server_address[1]}"
        kept = {name: value for name, value in environ.items() if name.lower() != "no_proxy"}
        return dict(kept, https_proxy=url, http_proxy=url)

    def __exit__(self, *exc):
        self.shutdown()
        super().__exit__(*exc)
