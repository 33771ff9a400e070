#!/usr/bin/env python3
"""Makes git repositories and serves them over smart HTTP on loopback: git_server.py DIR.

Repositories that an earlier run left in DIR are served as they are. Prints "ready PORT TLS" when it
listens and ends when its stdin closes; TLS is a port with TLS for "localhost" and the
self-signed DIR/cert.pem. DIR/ids.txt gets lines
"<name> <40 digits>"; DIR/log one line a request, "METHOD path?query". Standard library and git.

    /plain/R.git      as it is            /moved/R.git      302 to /plain/R.git
    /login/R.git      401                 /away/R.git       302 to the same, as another host
    /silent/R.git     no answer
    /cut/R.git        the pack is cut off in the middle
    /stall/R.git      half of the pack, then silence
    /hangup/R.git     the connection is closed after each answer, without notice

Repositories: demo (submodules csrc/cut, wanted, with deep/er in it, and csrc/ck; attributes that
a work tree would obey; commits first, tagged v1, then middle, then tip; dangling is in no branch),
byid (the same, gives any reachable commit by its id), lfs, and hostile ones: see make_hostile.
"""
import http.server
import os
import shutil
import socketserver
import ssl
import subprocess
import sys
import threading
import time
import urllib.parse

ROOT = os.path.abspath(sys.argv[1])
ENV = {
    "PATH": os.environ["PATH"], "HOME": ROOT, "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_CONFIG_GLOBAL": "/dev/null", "GIT_PROJECT_ROOT": ROOT, "GIT_HTTP_EXPORT_ALL": "1",
    "GIT_AUTHOR_NAME": "a", "GIT_AUTHOR_EMAIL": "a@example.org",
    "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "a", "GIT_COMMITTER_EMAIL": "a@example.org",
    "GIT_COMMITTER_DATE": "1700000000 +0000",
}
IDS = {}


def git(repo, *words, data=None):
    done = subprocess.run(["git", "-C", os.path.join(ROOT, repo + ".git"), *words], input=data,
                          env=ENV, check=True, stdout=subprocess.PIPE)
    return done.stdout.decode("utf-8", "replace").strip()


def init(repo):
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main",
                    os.path.join(ROOT, repo + ".git")], env=ENV, check=True)


def tree(repo, entries):
    """A tree of {name: (mode, bytes or id)}, written as it is: names may be anything."""
    raw = b""
    for name, (mode, what) in sorted(
            entries.items(), key=lambda e: e[0] + ("/" if e[1][0] == "40000" else "")):
        if isinstance(what, bytes):
            what = git(repo, "hash-object", "-w", "--stdin", data=what)
        raw += mode.encode() + b" " + name.encode() + b"\0" + bytes.fromhex(what)
    return git(repo, "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=raw)


def commit(repo, entries, parent=None, ref="refs/heads/main", name=None):
    top = tree(repo, entries)
    words = ["commit-tree", top, "-m", "a commit"] + (["-p", parent] if parent else [])
    made = git(repo, *words)
    if ref:
        git(repo, "update-ref", ref, made)
    if name:
        IDS[name], IDS[name + "-tree"] = made, top
    return made


def make_demo():
    init("deep")
    deep = commit("deep", {"d.h": ("100644", b"#define DEEP 1\n")}, name="deep")
    init("cut")
    modules = b"[submodule \"deep\"]\n\tpath = deep/er\n\turl = ../deep.git\n"
    inner = tree("cut", {"er": ("160000", deep)})
    cut = commit("cut", {".gitmodules": ("100644", modules), "deep": ("40000", inner),
                         "include": ("40000", tree("cut", {
                             "cut.h": ("100644", b"#define CUT 1\n")}))}, name="cut")
    init("ck")
    ck = commit("ck", {"ck.h": ("100644", b"#define CK 1\n")}, name="ck")
    init("demo")
    modules = b"""# what we need
[submodule "csrc/cut"]
\tpath = csrc/cut
\turl = ../cut.git ; beside us
\tupdate = !touch /tmp/wheelsmith-must-not-exist
[submodule "csrc/ck"]
\tpath = "csrc/ck"
\turl = ../ck.git
\tbranch = main
"""
    attributes = b"* text eol=crlf\nversion.txt export-subst\n*.dat filter=lfs\na.c ident\n"
    csrc = tree("demo", {"b.cu": ("100644", b"__global__ void b() {}\n"),
                         "cut": ("160000", cut), "ck": ("160000", ck)})
    entries = {".gitmodules": ("100644", modules), ".gitattributes": ("100644", attributes),
               "a.c": ("100644", b"int a; // $Id$\n"), "tool.sh": ("100755", b"#!/bin/sh\n"),
               "l": ("120000", b"csrc/b.cu"), "csrc": ("40000", csrc),
               "version.txt": ("100644", b"$Format:%H$\n"), "x.dat": ("100644", b"data\n"),
               "big.bin": ("100644", os.urandom(300000))}
    first = commit("demo", entries, name="first", ref=None)
    git("demo", "tag", "-a", "v1", "-m", "one", first)
    entries["two.c"] = ("100644", b"int two;\n")
    middle = commit("demo", entries, parent=first, name="middle", ref=None)
    entries["three.c"] = ("100644", b"int three;\n")
    commit("demo", entries, parent=middle, name="tip")
    commit("demo", {"d.c": ("100644", b"x\n")}, name="dangling", ref=None)
    git("demo", "repack", "-adqk")
    shutil.copytree(os.path.join(ROOT, "demo.git"), os.path.join(ROOT, "byid.git"))
    git("byid", "config", "uploadpack.allowReachableSHA1InWant", "true")


LFS = b"version https://git-lfs.github.com/spec/v1\noid sha256:%s\nsize 12345\n" % (b"ab" * 32)


def make_hostile():
    def one(name, entries):
        init(name)
        commit(name, entries, name=name)

    one("lfs", {"weights.bin": ("100644", LFS), "k.cu": ("100644", LFS)})
    one("lfs-data", {"weights.bin": ("100644", LFS), "k.cu": ("100644", b"x\n")})
    one("link-up", {"l": ("120000", b"../../etc/passwd")})
    one("link-absolute", {"l": ("120000", b"/etc/passwd")})
    one("name-up", {"..": ("100644", b"x")})
    one("name-git", {".GIT": ("100644", b"x")})
    one("name-slash", {"a/../../b": ("100644", b"x")})
    one("name-newline", {"a\nb": ("100644", b"x")})
    one("mode", {"fifo": ("10644", b"x")})
    one("duplicate", {"a": ("100644", b"x")})
    raw = b"100644 a\0" + bytes.fromhex(git("duplicate", "hash-object", "-w", "--stdin", data=b"1"))
    raw += b"100644 a\0" + bytes.fromhex(git("duplicate", "hash-object", "-w", "--stdin", data=b"2"))
    top = git("duplicate", "hash-object", "-t", "tree", "-w", "--literally", "--stdin", data=raw)
    IDS["duplicate"] = git("duplicate", "commit-tree", top, "-m", "x")
    git("duplicate", "update-ref", "refs/heads/main", IDS["duplicate"])
    urls = {"file": "file:///etc", "ext": "ext::sh -c touch% /tmp/x", "path": "/etc", "ssh": "ssh://h/x",
            "scp": "git@h:x.git", "climb": "../../../../x.git", "option": "-u./x", "http": "http://example.org/x"}
    for kind, url in urls.items():
        modules = f"[submodule \"s\"]\n\tpath = s\n\turl = \"{url}\"\n".encode()
        one("url-" + kind, {".gitmodules": ("100644", modules), "s": ("160000", IDS["deep"])})
    one("modules-none", {"s": ("160000", IDS["deep"])})
    one("modules-broken", {".gitmodules": ("100644", b"[submodule \"s\"\n"),
                           "s": ("160000", IDS["deep"])})
    one("modules-twice", {".gitmodules": ("100644", b"".join(
        b"[submodule \"%s\"]\npath = s\nurl = ../deep.git\n" % n for n in (b"x", b"y"))),
        "s": ("160000", IDS["deep"])})


class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def plain(self, status, *headers):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def answer(self):
        url = urllib.parse.urlsplit(self.path)
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        with open(os.path.join(ROOT, "log"), "a") as log:
            log.write(f"{self.command} {self.path}\n")
        kind, _, path = url.path.lstrip("/").partition("/")
        if kind in ("moved", "away"):
            host = f"http://localhost:{self.server.server_address[1]}" if kind == "away" else ""
            return self.plain(302, ("Location", f"{host}/plain/{path}?{url.query}"))
        if kind == "login":
            return self.plain(401, ("WWW-Authenticate", 'Basic realm="x"'))
        if kind == "silent":
            time.sleep(60)
            return None
        env = dict(ENV, REQUEST_METHOD=self.command, PATH_INFO="/" + path, QUERY_STRING=url.query,
                   CONTENT_TYPE=self.headers.get("Content-Type", ""), CONTENT_LENGTH=str(len(body)),
                   REMOTE_ADDR="127.0.0.1", GIT_PROTOCOL=self.headers.get("Git-Protocol", ""))
        if self.headers.get("Content-Encoding"):
            env["HTTP_CONTENT_ENCODING"] = self.headers["Content-Encoding"]
        done = subprocess.run(["git", "http-backend"], input=body, env=env, stdout=subprocess.PIPE)
        head, _, data = done.stdout.partition(b"\r\n\r\n")
        lines = [line.split(": ", 1) for line in head.decode().split("\r\n") if line]
        status = next((v for k, v in lines if k == "Status"), "200 OK")
        self.send_response(int(status.split()[0]))
        for name, value in lines:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        fault = kind if path.endswith("git-upload-pack") else ""
        self.wfile.write(data[:len(data) // 2] if fault in ("cut", "stall") else data)
        if fault == "stall":
            self.wfile.flush()
            time.sleep(60)
        self.close_connection = fault in ("cut", "stall") or kind == "hangup"
        return None

    do_GET = do_POST = answer


class Server(socketserver.ThreadingMixIn, http.server.HTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        pass  # clients hang up


def main():
    if not os.path.exists(os.path.join(ROOT, "ids.txt")):
        make_demo()
        make_hostile()
        with open(os.path.join(ROOT, "ids.txt"), "w") as f:
            f.writelines(f"{name} {value}\n" for name, value in IDS.items())
    open(os.path.join(ROOT, "log"), "w").close()
    cert, key = os.path.join(ROOT, "cert.pem"), os.path.join(ROOT, "key.pem")
    if not os.path.exists(key):
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                        "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj",
                        "/CN=localhost", "-addext", "subjectAltName=DNS:localhost",
                        "-keyout", key, "-out", cert], check=True, stderr=subprocess.DEVNULL)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(cert, key)
    plain, safe = Server(("127.0.0.1", 0), Handler), Server(("127.0.0.1", 0), Handler)
    safe.socket = context.wrap_socket(safe.socket, server_side=True)
    for server in plain, safe:
        threading.Thread(target=server.serve_forever, daemon=True).start()
    print(f"ready {plain.server_address[1]} {safe.server_address[1]}", flush=True)
    sys.stdin.read()


main()
