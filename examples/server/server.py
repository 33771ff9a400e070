"""A completion server that is small enough to read: GET /health, POST /v1/completions with a bearer token.

Its token is in the file that SERVER_TOKEN_FILE names, or in SERVER_TOKEN; it is in no log. SIGTERM lets
requests that were accepted finish, and ends with status 0. Where nothing can be computed any more it ends with 1.
"""

import argparse
import contextlib
import hmac
import io
import json
import os
import queue
import signal
import socket
import socketserver
import sys
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

BODY_MOST = 64 << 10
TOKEN_LEAST = 16
CONNECTIONS = 256


def say(text):
    """One line of the log, in one write: threads write at the same moment."""
    sys.stderr.write(text + "\n")
    sys.stderr.flush()


class Refusal(Exception):
    """An answer that is not a completion."""

    def __init__(self, status, problem, **headers):
        super().__init__(problem)
        self.status, self.problem, self.headers = status, problem, headers


class Work:
    """One completion, from the handler that waits to the worker that computes."""

    def __init__(self, prompt, most):
        self.prompt, self.most = prompt, most
        self.done, self.answer, self.error = threading.Event(), None, None


class Engine:
    """One thread computes; what waits meanwhile is computed together, `batch` at most.

    An error is its batch's, unless nothing can be computed after it: a GPU whose code failed an assertion computes
    nothing more in this process. Then `broken` is set, `on_broken` is called once, and what waits gets that error.
    """

    def __init__(self, model, prefill, decode, batch, waiting, on_broken):
        self.model, self.prefill, self.decode, self.batch = model, prefill, decode, batch
        self.queue, self.broken, self.on_broken = queue.Queue(maxsize=waiting), None, on_broken
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        while True:
            works = [self.queue.get()]
            while len(works) < self.batch and not self.queue.empty():
                works.append(self.queue.get_nowait())
            try:
                self._compute(works)
            except Exception as error:
                say(f"completion failed: {type(error).__name__}: {error}")
                for work in works:
                    work.error = error
                self._try_again()
            for work in works:
                work.done.set()

    def _compute(self, works):
        if self.broken:
            raise self.broken
        prompts, most = [w.prompt for w in works], [w.most for w in works]
        for work, answer in zip(works, self.model.complete(prompts, most, self.prefill, self.decode)):
            work.answer = answer

    def _try_again(self):
        """The smallest completion, which is none of the batch's fault."""
        if self.broken:
            return
        try:
            self.model.complete([[0]], [2], self.prefill, self.decode)
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            say(f"nothing can be computed any more: {why}")
            self.broken = error
            self.on_broken()

    def complete(self, prompt, most):
        work = Work(prompt, most)
        try:
            self.queue.put_nowait(work)
        except queue.Full:
            raise Refusal(503, "too many requests are waiting", **{"Retry-After": "1"}) from None
        work.done.wait()
        if work.error is not None:
            raise Refusal(500, "the completion failed")
        return work.answer


def read_token(environment):
    """The bytes that a request must bring; what is wrong ends the program."""
    path = environment.get("SERVER_TOKEN_FILE")
    if path:
        try:
            with open(path, "rb") as file:
                token = file.read(4096).strip()
        except OSError as error:
            raise SystemExit(f"SERVER_TOKEN_FILE '{path}': {error.strerror}") from None
    else:
        token = environment.get("SERVER_TOKEN", "").encode().strip()
    if len(token) < TOKEN_LEAST:
        raise SystemExit(
            f"set SERVER_TOKEN_FILE or SERVER_TOKEN to a token of at least {TOKEN_LEAST} characters"
        )
    return token


def read_request(body, context):
    """(prompt tokens, how many tokens to add) of a body; Refusal where it is not a request."""
    try:
        asked = json.loads(body)
    except (ValueError, RecursionError):
        raise Refusal(400, "the body is not JSON") from None
    if not isinstance(asked, dict) or not isinstance(asked.get("prompt"), str) or not asked["prompt"]:
        raise Refusal(400, '"prompt" must be a text that is not empty')
    most = asked.get("max_tokens", 16)
    if not isinstance(most, int) or isinstance(most, bool) or most < 1:
        raise Refusal(400, '"max_tokens" must be a number from 1 on')
    unknown = sorted(set(asked) - {"prompt", "max_tokens"})
    if unknown:
        raise Refusal(400, f"this server does not know {', '.join(unknown)[:100]}")
    prompt = list(asked["prompt"].encode("utf-8", "replace"))
    if len(prompt) + most > context:
        raise Refusal(
            400, f"{len(prompt)} bytes of prompt and {most} more are over the context of {context}"
        )
    return prompt, most


class Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128

    def __init__(self, address, token):
        super().__init__(address, Handler)
        self.token, self.engine, self.health = token, None, {"attn": None, "ready": False}
        self.draining, self.busy, self.lock = False, 0, threading.Condition()
        self.slots = threading.BoundedSemaphore(CONNECTIONS)
        self.arriving = {}  # connections whose request is not whole yet, the one that waits longest first

    def server_bind(self):
        """Binds like HTTPServer, but without a DNS lookup: the host name is not used."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = self.server_address[:2]

    def process_request(self, request, client_address):
        if self.slots.acquire(blocking=False) or self._take_slot():
            super().process_request(request, client_address)
        else:
            self.shutdown_request(request)

    def _take_slot(self):
        """From the connection whose request takes longest: many that send half of one must not end /health."""
        with self.lock:
            oldest = next(iter(self.arriving), None)
            self.arriving.pop(oldest, None)
        if oldest is None:
            return False
        with contextlib.suppress(OSError):  # it has gone by itself
            oldest.shutdown(socket.SHUT_RDWR)
        return self.slots.acquire(timeout=1)

    def waits_for(self, request):
        with self.lock:
            self.arriving[request] = True

    def has(self, request):
        with self.lock:
            self.arriving.pop(request, None)

    def process_request_thread(self, request, client_address):
        try:
            super().process_request_thread(request, client_address)
        finally:
            self.has(request)
            self.slots.release()

    def handle_error(self, request, client_address):
        """A client that went away is not news; what else goes wrong is, without what it sent."""
        error = sys.exc_info()[1]
        if not isinstance(error, (ConnectionError, TimeoutError)):
            say(f"{type(error).__name__} in a request")

    def report(self):
        serving = self.engine is not None and not self.engine.broken and not self.draining
        return {**self.health, "serving": serving, "draining": self.draining}

    def enter(self):
        with self.lock:
            if self.draining or self.engine is None:
                why = "the server is stopping" if self.draining else "the model is not loaded yet"
                raise Refusal(503, why, **{"Retry-After": "1"})
            self.busy += 1

    def leave(self):
        with self.lock:
            self.busy -= 1
            self.lock.notify_all()

    def stop(self, grace):
        """drain() in a thread of its own."""
        threading.Thread(target=self.drain, args=(grace,), daemon=True).start()

    def drain(self, grace):
        """Accepts no more completions, waits for those that were, and ends serve_forever()."""
        with self.lock:
            self.draining = True
            left = self.busy
            self.lock.wait_for(lambda: self.busy == 0, timeout=grace)
            say(f"stopping: {left} requests were open, {self.busy} are")
        self.shutdown()


class Arriving(io.RawIOBase):
    """Reads a request until the time `until`. The socket's timeout counts for each read, so a slow sender would never exceed it."""

    def __init__(self, connection):
        self.connection, self.until = connection, 0

    def readable(self):
        return True

    def readinto(self, buffer):
        left = self.until - time.monotonic()
        if left <= 0:
            raise TimeoutError
        self.connection.settimeout(left)
        return self.connection.recv_into(buffer)


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version, sys_version = "wheelsmith-example", ""
    timeout = 30  # seconds for a request to arrive, and for its answer to be taken

    def setup(self):
        super().setup()
        self.arriving = Arriving(self.connection)
        self.rfile = io.BufferedReader(self.arriving)

    def handle_one_request(self):
        self.arriving.until = time.monotonic() + self.timeout
        self.server.waits_for(self.connection)
        super().handle_one_request()

    def _send(self, status, value, headers=None):
        self.server.has(self.connection)
        self.connection.settimeout(self.timeout)
        body = json.dumps(value).encode() + b"\n"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        for name, text in (headers or {}).items():
            self.send_header(name, text)
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def _refuse(self, refusal):
        """Stops reading this connection: the next bytes may be the rest of a body."""
        self.close_connection = True
        self._send(
            refusal.status, {"error": refusal.problem}, {**refusal.headers, "Connection": "close"}
        )

    def _check_token(self):
        given = self.headers.get("Authorization", "").encode("latin-1", "replace")
        scheme, _, token = given.partition(b" ")
        same = hmac.compare_digest(token.strip(), self.server.token)
        if scheme.lower() != b"bearer" or not same:
            raise Refusal(401, "a bearer token is needed", **{"WWW-Authenticate": "Bearer"})

    def _body(self):
        if len(self.headers.get_all("Content-Length", [])) > 1:
            raise Refusal(400, "there is more than one Content-Length")
        text = self.headers.get("Content-Length", "")
        if not text.isascii() or not text.isdigit() or "Transfer-Encoding" in self.headers:
            raise Refusal(411, "Content-Length is needed")
        if len(text) > 9 or int(text) > BODY_MOST:
            raise Refusal(413, f"a body has at most {BODY_MOST} bytes")
        body = self.rfile.read(int(text))
        if len(body) < int(text):
            raise Refusal(400, "the body is cut")
        return body

    def do_GET(self):
        if "Content-Length" in self.headers or "Transfer-Encoding" in self.headers:
            self.close_connection = True  # nobody reads this body, and it is not the next request
        path, _, query = self.path.partition("?")
        if path != "/health":
            return self._refuse(Refusal(404, "there is /health and /v1/completions"))
        report = self.server.report()
        return self._send(200 if report["serving"] or query == "live" else 503, report)

    do_HEAD = do_GET

    def do_POST(self):
        try:
            if self.path.partition("?")[0] != "/v1/completions":
                raise Refusal(404, "there is /health and /v1/completions")
            self._check_token()
            body = self._body()
            self.server.has(self.connection)
            self.server.enter()
            try:
                self._send(200, self._complete(body))
            finally:
                self.server.leave()
        except Refusal as refusal:
            self._refuse(refusal)

    def _complete(self, body):
        engine = self.server.engine
        prompt, most = read_request(body, engine.model.context)
        begun = time.monotonic()
        answer = engine.complete(prompt, most)
        return {
            "text": bytes(answer).decode("utf-8", "replace"),
            "finish_reason": "length",
            "usage": {"prompt_tokens": len(prompt), "completion_tokens": len(answer)},
            "seconds": round(time.monotonic() - begun, 4),
        }

    def log_message(self, format, *args):
        """The method, the path without its query, the status: nothing that a client may keep secret."""

    def log_request(self, code="-", size="-"):
        method = self.command if self.command in ("GET", "HEAD", "POST") else "-"
        path = (getattr(self, "path", None) or "-").partition("?")[0][:100]
        say(f"{method} {path!r} {int(code)}")


def load(server, arguments):
    """Imports torch and makes the model, while /health already answers."""
    import torch

    import attend
    import model

    report = attend.report()
    device = torch.device(arguments.device or ("cuda" if torch.cuda.is_available() else "cpu"))
    made = model.make(device, torch.float16 if device.type == "cuda" else torch.float32)
    prefill, decode = attend.functions(report)
    made.complete([[0]], [2], prefill, decode)  # what does not run shows now
    report["model"] = {"context": made.context, "device": str(device)}
    server.health = report
    server.engine = Engine(
        made, prefill, decode, arguments.batch, arguments.waiting, lambda: server.stop(arguments.grace)
    )
    say(f"serving: attn {report['attn']}, {report['problem'] or 'ready'}")


def parse():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--host", default="0.0.0.0")
    parser.add_argument("--port", type=int, default=8000, help="0: any; it is printed")
    parser.add_argument("--device", help="cuda, cuda:1, cpu; default: cuda where there is one")
    parser.add_argument("--batch", type=int, default=16, help="completions that are computed together")
    parser.add_argument("--waiting", type=int, default=64, help="completions that may wait; more get 503")
    parser.add_argument("--grace", type=float, default=25, help="seconds that SIGTERM leaves to them")
    return parser.parse_args()


def main():
    arguments = parse()
    server = Server((arguments.host, arguments.port), read_token(os.environ))
    os.environ.pop("SERVER_TOKEN", None)  # what attention is tried in needs none

    def load_or_end():
        try:
            load(server, arguments)
        except BaseException as error:
            say(f"cannot serve: {type(error).__name__}: {error}")
            os._exit(1)

    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda _number, _frame: server.stop(arguments.grace))
    print(f"port {server.server_address[1]}", flush=True)
    threading.Thread(target=load_or_end, daemon=True).start()
    server.serve_forever(poll_interval=0.1)
    server.server_close()
    return 1 if server.busy or (server.engine and server.engine.broken) else 0


if __name__ == "__main__":
    # Not sys.exit(): where a thread still computes, Python's end aborts the process.
    os._exit(main())
