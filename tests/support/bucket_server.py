"""bucket_server.py DIR [FAULT...] - objects over HTTP as an S3 store keeps them, for what Swift does not do: If-None-Match
(AWS, MinIO and Ceph have it) and answers that are lost. It checks no signatures: Swift does, in publish_stored_real.bats.

Prints "ready PORT"; ends when its input does. Requests go to DIR.log, a line each: METHOD KEY STATUS ("waiting": it is not answered yet). FAULTS:

    refuses             If-None-Match is answered 501, as Swift does
    lost                the answer to CompleteMultipartUpload is lost, once; the upload is completed
    lost-put            the answer to the PUT that claims a snapshot is lost, once; the object is there
    unfinished          CompleteMultipartUpload fails with 404, and there is no object
    slow=SECONDS        each page that is put takes so long
    unreadable          an object whose claim's answer was lost (lost-put) cannot be read: 403
    pages=FILE          before the first page is put, FILE is awaited: a publisher that is slow among the pages
    over=END=FILE[=KEY] after an object is put whose key ends with END, FILE is put there, or at KEY, once, by somebody else
    first=FILE          before the PUT that claims a snapshot is answered, FILE is put there, by somebody who was faster
"""

import hashlib
import os
import sys
import threading
import time
import urllib.parse
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

ROOT, FAULTS = sys.argv[1], set(sys.argv[2:])
LOCK, PARTS, LOST = threading.Lock(), {}, set()
ERROR = "<?xml version='1.0'?><Error><Code>%s</Code><Message>%s</Message></Error>"


def take_fault(name):
    with LOCK:
        found = name in FAULTS
        FAULTS.discard(name)
        return found


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, format, *args):
        pass

    def note(self, status):
        with LOCK, open(ROOT + ".log", "a") as log:
            log.write(f"{self.command} {self.key} {status}\n")

    def answer(self, status, body=b"", **headers):
        self.note(status)
        self.send_response(status)
        for name, value in {"Content-Length": len(body), **headers}.items():
            self.send_header(name, str(value))
        self.end_headers()
        self.wfile.write(body)

    def refuse(self, status, code):
        self.answer(status, (ERROR % (code, code.lower())).encode())

    def begin(self):
        url = urllib.parse.urlsplit(self.path)
        self.key = urllib.parse.unquote(url.path)
        self.place = os.path.join(ROOT, urllib.parse.quote(self.key, safe=""))
        self.query = dict(urllib.parse.parse_qsl(url.query, keep_blank_values=True))
        self.body = self.rfile.read(int(self.headers.get("Content-Length", 0)))

    def store(self, place, body):
        with open(place, "wb") as file:
            file.write(body)

    def do_GET(self):
        self.begin()
        if not os.path.exists(self.place):
            return self.refuse(404, "NoSuchKey")
        if "unreadable" in FAULTS and self.key in LOST:
            return self.refuse(403, "AccessDenied")
        with open(self.place, "rb") as file:
            return self.answer(200, file.read())

    def do_DELETE(self):
        self.begin()
        if "uploadId" in self.query:
            PARTS.pop(self.query["uploadId"], None)
        elif os.path.exists(self.place):
            os.remove(self.place)
        return self.answer(204)

    def do_PUT(self):
        self.begin()
        if "uploadId" in self.query:
            PARTS[self.query["uploadId"]][int(self.query["partNumber"])] = self.body
            return self.answer(200, ETag='"%s"' % hashlib.md5(self.body).hexdigest())
        if self.headers.get("If-None-Match") == "*":
            if "refuses" in FAULTS:
                return self.refuse(501, "NotImplemented")
            for fault in [f for f in FAULTS if f.startswith("first=") and "/@" in self.key]:
                if take_fault(fault):
                    with open(fault[len("first=") :], "rb") as file:
                        self.store(self.place, file.read())
            with LOCK:
                there = os.path.exists(self.place)
                if not there:
                    self.store(self.place, self.body)
            if there:
                return self.refuse(412, "PreconditionFailed")
            if "/@" in self.key and take_fault("lost-put"):
                LOST.add(self.key)
                self.close_connection = True
                return None
        else:
            for fault in [f for f in FAULTS if f.startswith("pages=") and "/simple/" in self.key]:
                if take_fault(fault):
                    self.note("waiting")
                    while not os.path.exists(fault[len("pages=") :]):
                        time.sleep(0.05)
            for fault in [f for f in FAULTS if f.startswith("slow=") and "/simple/" in self.key]:
                time.sleep(float(fault[len("slow=") :]))
            self.store(self.place, self.body)
        for fault in [f for f in FAULTS if f.startswith("over=") and self.key.endswith(f.split("=")[1])]:
            if take_fault(fault):
                _, _, name, *key = fault.split("=")
                with open(name, "rb") as file:
                    self.store(os.path.join(ROOT, urllib.parse.quote(key[0], safe="")) if key else self.place, file.read())
        return self.answer(200, ETag='"%s"' % hashlib.md5(self.body).hexdigest())

    def do_POST(self):
        self.begin()
        if "uploads" in self.query:
            name = str(len(PARTS) + 1)
            PARTS[name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, text.encode())
        parts = PARTS.get(self.query["uploadId"])
        if parts and self.headers.get("If-None-Match") == "*":
            if "refuses" in FAULTS:
                return self.refuse(501, "NotImplemented")
            if os.path.exists(self.place):
                return self.refuse(412, "PreconditionFailed")
        PARTS.pop(self.query["uploadId"], None)
        if parts is None or "unfinished" in FAULTS:
            return self.refuse(404, "NoSuchUpload")
        self.store(self.place, b"".join(parts[i] for i in sorted(parts)))
        if take_fault("lost"):
            self.close_connection = True
            return None
        return self.answer(200, b"<CompleteMultipartUploadResult/>")


os.makedirs(ROOT, exist_ok=True)
server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("ready", server.server_address[1], flush=True)
threading.Thread(target=server.serve_forever, daemon=True).start()
sys.stdin.read()
