#!/usr/bin/env python3
"""A file and index server on loopback whose faults can be chosen per request.

    fault_server.py DIR LOG [CERT KEY]

Serves the files below DIR (index.html for a folder) with ranges, ETag and Last-Modified on two
ports, and with CERT and KEY (PEM) on a third with TLS. When it listens it prints one line, "ready
PORT OTHER TLS" (TLS is 0 without a certificate). A line on its stdin resets its counters
and empties LOG; then it prints "ready ..." again. It ends when its stdin closes. Standard
library only.

A path that starts with /~FAULT,FAULT.../ is served as the rest of the path, with these faults.
":N" after a fault: only for the first N requests for that whole path.

    norange          ranges are ignored (200)            nosuffix     "bytes=-N" is ignored (200)
    range=start      Content-Range is one byte off       range=total  ... has a wrong length
    range=short      half of the range, rightly labelled  range=star   ... has no length
    status=CODE[:N]  that status and a short page        retry=S      with Retry-After: S
    silent[:N]       no answer at all                    late=MS      the answer comes late
    hangup[:N]       the connection ends without an answer
    stall=K[:N]      K bytes of the body, then silence   cut=K[:N]    K bytes, then the end
    slow=B           B bytes a second                    wrong[:N]    every byte of the body is changed
    etag=change      another ETag each time              etag=weak    W/"..."
    etag=none        neither ETag nor Last-Modified      etag=once    another one from the 2nd request on
    noif             If-Range is ignored
    redirect=N       N redirects, then the file          other        redirect to the other port
    as=CODE          with that status, not 302
    loop             redirects too often                 downgrade    redirect to plain http
    ftp              redirect to ftp://                  auth=U:P     401 without this login
    gzip             Content-Encoding: gzip, always      label=E      Content-Encoding: E, bytes unchanged
    chunked          no length, chunked                  close        no length, ends by closing
    html             index pages as HTML only            json         ... as JSON only
    pad=K            K more bytes of white space at the end of an index page
    file             the others are for files alone, not for index pages
    type=T           that Content-Type ('/' as %2F; "type=" sends none)

POST and PUT accept anything. Their faults, beside status, silent, auth and redirect:

    deaf             the body is never read              early=CODE   that status before the body, and the end
    lost[:N]         the request is read, no answer is sent
    put              the others are for POST and PUT alone

An index: any path /PLACE/simple/NAME/ lists the files of DIR/PLACE/files whose name starts with NAME (normalised), as JSON (PEP 691) or HTML (PEP 503) after the Accept header; links are relative,
so they keep the faults of the page: /~slow=9/simple/demo/ links to /~slow=9/files/demo-1.0.whl. A file is yanked where FILE.yanked lies beside it (JSON alone says so).
404 for a NAME without files. Redirects lead to the rest of the path, which may start with faults
of its own: /~redirect=1/~slow=9/x. CONNECT is answered 407.

LOG gets one JSON line a request, before its body is sent: port ("main", "other", "tls"), method,
path, range, if_range, auth, accept, encoding (Accept-Encoding), agent, status, bytes; of what was sent: length, body
(its sha256), fields (of a form, without the file).
"""

import base64
import gzip
import hashlib
import html
import http.server
import json
import os
import pathlib
import re
import socketserver
import ssl
import sys
import threading
import time
import urllib.parse

FOLDER, LOG = sys.argv[1], sys.argv[2]
LOCK = threading.Lock()
SEEN = {}  # requests so far, by path


def normal(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def parse_faults(path):
    """'/~a=1:2,b/x' -> ({'a': ('1', 2), 'b': ('', None)}, '/x')"""
    if not path.startswith("/~"):
        return {}, path
    spec, _, rest = path[2:].partition("/")
    faults = {}
    for part in spec.split(","):
        name, _, value = part.partition("=")
        count = None
        found = re.fullmatch(r"(.*?):(\d+)", value if value else name)
        if found and name != "auth":
            count = int(found.group(2))
            name, value = (name, found.group(1)) if value else (found.group(1), "")
        faults[name] = (urllib.parse.unquote(value), count)
    return faults, "/" + rest


def index_files(name):
    place, name = name.rsplit("/", 1)
    folder = os.path.join(FOLDER, place.strip("/"), "files")
    for file in sorted(os.listdir(folder) if os.path.isdir(folder) else []):
        if normal(file.split("-")[0]) == name and not file.endswith(".yanked"):
            with open(os.path.join(folder, file), "rb") as stream:
                data = stream.read()
            yield file, len(data), hashlib.sha256(data).hexdigest()


def is_yanked(name, file):
    return os.path.exists(os.path.join(FOLDER, name.rsplit("/", 1)[0].strip("/"), "files", file + ".yanked"))


def index_json(name):
    files = [
        {"filename": f, "url": "../../files/" + urllib.parse.quote(f), "size": size,
         "hashes": {"sha256": digest}, "yanked": is_yanked(name, f), "requires-python": ">=3.8"}
        for f, size, digest in index_files(name)
    ]
    return json.dumps({"meta": {"api-version": "1.1"}, "name": name.rsplit("/", 1)[1], "files": files}).encode()


def index_html(name):
    rows = "".join(
        '<a href="../../files/%s#sha256=%s" data-requires-python="&gt;=3.8">%s</a><br/>\n'
        % (urllib.parse.quote(f), digest, html.escape(f))
        for f, _, digest in index_files(name)
    )
    return ("<!DOCTYPE html><html><body><h1>Links</h1>\n%s</body></html>\n" % rows).encode()


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    sent = {}  # what the log says of a body

    def fault(self, name):
        """The fault's value ('' when it has none) if it is to happen now, else None."""
        value, count = self.faults.get(name, (None, None))
        return None if count is not None and self.nth > count else value

    def do_CONNECT(self):
        self.faults, self.nth = {}, 1
        self.answer(407, b"who are you?\n", {"Proxy-Authenticate": 'Basic realm="proxy"'})

    def do_GET(self):
        path = self.path.partition("?")[0]
        if path.startswith("http://"):  # we are taken for a proxy
            path = "/" + path.split("/", 3)[3]
        self.faults, rest = parse_faults(path)
        if "put" in self.faults or ("file" in self.faults and "/simple/" in rest):
            self.faults = {}
        with LOCK:
            self.nth = SEEN[path] = SEEN.get(path, 0) + 1
        try:
            self.serve(path, rest)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    def do_POST(self):
        path = self.path.partition("?")[0]
        self.faults, rest = parse_faults(path)
        with LOCK:
            self.nth = SEEN["POST " + path] = SEEN.get("POST " + path, 0) + 1
        try:
            self.take(path, rest)
        except (BrokenPipeError, ConnectionResetError, ssl.SSLError):
            self.close_connection = True

    do_PUT = do_POST

    def handle_expect_100(self):
        return True  # whether the body is wanted, do_POST says

    def take(self, path, rest):
        if self.fault("deaf") is not None:
            time.sleep(60)
        if self.fault("early") is not None:
            self.close_connection = True
            return self.answer(int(self.fault("early")), b"no, thank you\n", {"Connection": "close"})
        if self.headers.get("Expect"):
            self.send_response_only(100)
            self.end_headers()
        data = self.rfile.read(int(self.headers.get("Content-Length", "0")))
        self.sent = {"length": len(data), "body": hashlib.sha256(data).hexdigest()}
        login = self.fault("auth")
        known = login is None or self.headers.get("Authorization") == "Basic " + base64.b64encode(login.encode()).decode()
        if not known or any(self.fault(name) is not None for name in ("silent", "status", "redirect", "ftp", "loop")):
            return self.serve(path, rest)
        if self.fault("lost") is not None:
            self.log("-", 0)
            self.close_connection = True
            return None
        return self.answer(200, b"taken\n", {})

    def serve(self, path, rest):
        if self.fault("silent") is not None:
            self.log("-", 0)
            return self.hold()
        if self.fault("hangup") is not None:
            self.log("-", 0)
            self.close_connection = True
            return None
        if self.fault("late") is not None:
            time.sleep(int(self.fault("late")) / 1000)
        login = self.fault("auth")
        if login is not None and self.headers.get("Authorization") != "Basic " + \
                base64.b64encode(login.encode()).decode():
            return self.answer(401, b"who are you?\n", {"WWW-Authenticate": 'Basic realm="test"'})
        if self.redirect(path, rest):
            return None
        if self.fault("status") is not None:
            extra = {"Retry-After": self.fault("retry")} if "retry" in self.faults else {}
            return self.answer(int(self.fault("status")), b"sorry\n", extra)
        rest = urllib.parse.unquote(rest)
        page = re.fullmatch(r"(.*)/simple/([^/]+)/", rest)
        return self.index(page.group(1) + "/" + page.group(2)) if page else self.file(rest)

    def redirect(self, path, rest):
        main, other = PORTS["main"], PORTS["other"]
        target = None
        if self.fault("loop") is not None:
            target = self.path
        elif self.fault("ftp") is not None:
            target = "ftp://127.0.0.1/x"
        elif self.fault("other") is not None:
            target = "http://127.0.0.1:%d%s" % (other, rest)
        elif self.fault("downgrade") is not None:
            target = "http://127.0.0.1:%d%s" % (main, rest)
        elif self.fault("redirect") is not None:
            left = int(self.fault("redirect")) - 1
            target = re.sub(r"redirect=\d+", "redirect=%d" % left, path) if left > 0 else rest
        if target:
            self.answer(int(self.fault("as") or 302), b"over there\n", {"Location": target})
        return target is not None

    def index(self, name):
        if not any(True for _ in index_files(name)):
            return self.answer(404, b"no such package\n", {})
        pad = b" " * int(self.fault("pad") or 0)
        wants_json = "application/vnd.pypi.simple.v1+json" in self.headers.get("Accept", "")
        if "html" in self.faults or not (wants_json or "json" in self.faults):
            return self.answer(
                200, index_html(name) + pad, {"Content-Type": "text/html; charset=utf-8"})
        return self.answer(
            200, index_json(name) + pad, {"Content-Type": "application/vnd.pypi.simple.v1+json"})

    def file(self, rest):
        path = os.path.normpath(os.path.join(FOLDER, rest.lstrip("/")))
        path += "/index.html" if rest.endswith("/") else ""
        if not path.startswith(os.path.normpath(FOLDER) + "/") or not os.path.isfile(path):
            return self.answer(404, b"no such file\n", {})
        with open(path, "rb") as stream:
            data = stream.read()
        extra = {"Accept-Ranges": "bytes", "Content-Type": "application/octet-stream"}
        extra.update(self.validators(path, data))
        if self.fault("wrong") is not None:
            data = bytes(b ^ 1 for b in data)
        span = self.asked_range(len(data), extra)
        if span is None:
            return self.answer(200, data, extra)
        first, last = span
        if first >= len(data) or first > last:
            return self.answer(416, b"", {"Content-Range": "bytes */%d" % len(data)})
        return self.part(data, first, last, extra)

    def validators(self, path, data):
        kind = self.fault("etag")
        tag = hashlib.sha256(data).hexdigest()[:16]
        if kind == "none":
            return {}
        if kind == "change" or (kind == "once" and self.nth > 1):
            tag += str(self.nth if kind == "change" else 2)
        modified = self.date_time_string(int(os.stat(path).st_mtime))
        return {"ETag": ("W/" if kind == "weak" else "") + '"%s"' % tag, "Last-Modified": modified}

    def asked_range(self, size, extra):
        found = re.fullmatch(r"bytes=(\d*)-(\d*)", self.headers.get("Range", ""))
        if not found or self.fault("norange") is not None or found.group(0) == "bytes=-":
            return None
        condition = self.headers.get("If-Range")
        if "noif" not in self.faults and condition and condition not in (extra.get("ETag"), extra.get("Last-Modified")):
            return None
        if not found.group(1):
            return None if "nosuffix" in self.faults \
                else (max(0, size - int(found.group(2))), size - 1)
        last = int(found.group(2)) if found.group(2) else size - 1
        return int(found.group(1)), min(last, size - 1)

    def part(self, data, first, last, extra):
        kind, size = self.fault("range"), len(data)
        if kind == "short":
            last = first + (last - first) // 2
        shown = first + 1 if kind == "start" else first
        total = {"total": str(size + 1), "star": "*"}.get(kind, str(size))
        extra["Content-Range"] = "bytes %d-%d/%s" % (shown, last + (shown - first), total)
        self.answer(206, data[first:last + 1], extra)

    def answer(self, status, body, extra):
        headers = dict(extra)
        if "type" in self.faults and status == 200:
            headers["Content-Type"] = self.faults["type"][0]
            if not headers["Content-Type"]:
                del headers["Content-Type"]
        if self.fault("label") is not None:
            headers["Content-Encoding"] = self.fault("label")
        if self.fault("gzip") is not None and status in (200, 206):
            body = gzip.compress(body)
            headers["Content-Encoding"] = "gzip"
        chunked = self.fault("chunked") is not None
        closes = self.fault("close") is not None
        if chunked:
            headers["Transfer-Encoding"] = "chunked"
        elif closes:
            headers["Connection"] = "close"
            self.close_connection = True
        else:
            headers["Content-Length"] = str(len(body))
        self.log(status, len(body))
        head = "HTTP/1.1 %d %s\r\n" % (status, self.responses.get(status, ("?",))[0])
        head += "".join("%s: %s\r\n" % pair for pair in headers.items()) + "\r\n"
        self.wfile.write(head.encode())
        if chunked:
            body = b"%x\r\n%s\r\n0\r\n\r\n" % (len(body), body) if body else b"0\r\n\r\n"
        self.send(body)

    def send(self, body):
        stall, cut, slow = self.fault("stall"), self.fault("cut"), self.fault("slow")
        if stall is not None:
            self.wfile.write(body[:int(stall)])
            return self.hold()
        if cut is not None:
            self.wfile.write(body[:int(cut)])
            self.close_connection = True
            return None
        step = max(1, int(slow) // 20) if slow else max(1, len(body))
        for at in range(0, len(body), step):
            self.wfile.write(body[at:at + step])
            if slow:
                time.sleep(0.05)
        return None

    def hold(self):
        """Says nothing until the client hangs up."""
        self.connection.settimeout(60)
        try:
            while self.connection.recv(4096):
                pass
        except OSError:
            pass
        self.close_connection = True

    def log(self, status, count):
        line = json.dumps({
            "port": self.server.name, "method": self.command, "path": self.path,
            "range": self.headers.get("Range"), "if_range": self.headers.get("If-Range"),
            "auth": self.headers.get("Authorization"), "accept": self.headers.get("Accept"),
            "encoding": self.headers.get("Accept-Encoding"),
            "agent": self.headers.get("User-Agent"), "status": status, "bytes": count} | self.sent)
        with LOCK, open(LOG, "a", encoding="utf-8") as out:
            out.write(line + "\n")

    def log_message(self, *_):
        pass


class Server(socketserver.ThreadingTCPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, name):
        super().__init__(("127.0.0.1", 0), Handler)
        self.name = name

    def handle_error(self, *_):
        pass  # a client that hangs up, or does not trust our certificate


def main():
    servers = [Server("main"), Server("other")]
    if len(sys.argv) > 4:
        tls = Server("tls")
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(sys.argv[3], sys.argv[4])
        tls.socket = context.wrap_socket(tls.socket, server_side=True)
        servers.append(tls)
    for server in servers:
        PORTS[server.name] = server.server_address[1]
        threading.Thread(target=server.serve_forever, daemon=True).start()
    while True:
        with LOCK:
            SEEN.clear()
            open(LOG, "w", encoding="utf-8").close()
        print("ready", PORTS["main"], PORTS["other"], PORTS.get("tls", 0), flush=True)
        if not sys.stdin.readline():
            os._exit(0)


PORTS = {}
main()
