#!/usr/bin/env python3
"""Serves a published index on loopback: index_server.py DIR LOG [html|json]. Prints "ready PORT"; ends when stdin closes.

With "json" (the default) a client that accepts PEP 691 gets index.json, with the right type; with "html" it gets
HTML, as from a plain web server. LOG gets a line for each answer: "200 /all/simple/ JSON". Links are followed, as nginx does."""
import functools
import http.server
import pathlib
import sys
import threading

JSON = "application/vnd.pypi.simple.v1+json"


class Handler(http.server.SimpleHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    negotiates, log = True, None

    def send_head(self):
        self.kind = "-"
        page = self.path.endswith("/")
        if page and self.negotiates and JSON in self.headers.get("Accept", "") and "/simple/" in self.path:
            self.path += "index.json"
            self.kind = "JSON"
        return super().send_head()

    def guess_type(self, path):
        return JSON if self.kind == "JSON" else super().guess_type(path)

    def log_request(self, code="-", size="-"):
        path = self.path.removesuffix("index.json") if self.kind == "JSON" else self.path
        with open(self.log, "a", encoding="utf-8") as log:
            log.write(f"{int(code)} {path} {self.kind}\n")

    def log_message(self, *_):
        pass


def main(folder, log, form="json"):
    Handler.negotiates, Handler.log = form == "json", log
    pathlib.Path(log).write_text("")
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=folder))
    threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready {server.server_port}", flush=True)
    sys.stdin.read()


if __name__ == "__main__":
    main(*sys.argv[1:])
