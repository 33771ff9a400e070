"""bucket_server.py DIR [FAULT...] - objects over HTTP like an S3 store, with faults that a real store (publish_stored_real.bats) does not
produce on demand: lost answers, moments in which a second publisher is faster. It checks no signatures.

Prints "ready PORT"; ends when its input does. Requests go to DIR.log, a line each: METHOD KEY STATUS ("waiting": it is not answered yet). FAULTS:

    refuses             conditional requests are answered 501, as by Swift
    ignores             conditions are ignored
    quotes              If-Match is compared with the ETag without its quotes, as in Ceph 16
    busy=END            a conditional put of a key that ends with END is answered 409, once, as AWS does while a second put is under way
    lost                the answer to CompleteMultipartUpload is lost, once; the upload is completed
    lost-put=END        the answer to a conditional put of a key that ends with END is lost, once; the object is there
    unfinished          CompleteMultipartUpload fails with 404, and the object does not exist
    slow=SECONDS        each page that is put takes so long
    unreadable          an object whose answer was lost (lost-put) cannot be read: 403
    pages=FILE          before the first page is put, FILE is awaited: a publisher that is slow among the pages
    over=END=FILE[=KEY] after an object is put whose key ends with END, FILE is put there, or at KEY, once, by somebody else
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


def etag(body):
    return '"%s"' % hashlib.md5(body).hexdigest()


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
            body = file.read()
        return self.answer(200, body, ETag=etag(body))

    def do_DELETE(self):
        self.begin()
        if "uploadId" in self.query:
            PARTS.pop(self.query["uploadId"], None)
        elif os.path.exists(self.place):
            os.remove(self.place)
        return self.answer(204)

    def once(self, name):
        """A fault NAME=END[=...] whose END is that of this key."""
        for fault in [f for f in FAULTS if f.startswith(name + "=") and self.key.endswith(f.split("=")[1])]:
            if take_fault(fault):
                return fault.split("=")[1:]
        return None

    def holds(self, condition):
        """Puts the object where the condition holds, in one step."""
        with LOCK:
            there = None
            if os.path.exists(self.place):
                with open(self.place, "rb") as file:
                    there = etag(file.read())
            wanted = self.headers.get("If-Match")
            if wanted and there and "quotes" in FAULTS:
                there = there.strip('"')
            fine = "ignores" in FAULTS or (there == wanted if wanted else there is None)
            if fine:
                self.store(self.place, self.body)
        return fine

    def do_PUT(self):
        self.begin()
        if "uploadId" in self.query:
            PARTS[self.query["uploadId"]][int(self.query["partNumber"])] = self.body
            return self.answer(200, ETag=etag(self.body))
        condition = self.headers.get("If-None-Match") or self.headers.get("If-Match")
        for fault in [f for f in FAULTS if f.startswith("pages=") and "/simple/" in self.key]:
            if take_fault(fault):
                self.note("waiting")
                while not os.path.exists(fault[len("pages=") :]):
                    time.sleep(0.05)
        for fault in [f for f in FAULTS if f.startswith("slow=") and "/simple/" in self.key]:
            time.sleep(float(fault[len("slow=") :]))
        if condition and "refuses" in FAULTS:
            return self.refuse(501, "NotImplemented")
        if condition and self.once("busy"):
            return self.refuse(409, "ConditionalRequestConflict")
        if condition and not self.holds(condition):
            return self.refuse(412, "PreconditionFailed")
        if condition and self.once("lost-put"):
            LOST.add(self.key)
            self.close_connection = True
            return None
        if not condition:
            self.store(self.place, self.body)
        over = self.once("over")
        if over:
            with open(over[1], "rb") as file:
                key = over[2] if len(over) > 2 else self.key
                self.store(os.path.join(ROOT, urllib.parse.quote(key, safe="")), file.read())
        return self.answer(200, ETag=etag(self.body))

    def do_POST(self):
        self.begin()
        if "uploads" in self.query:
            name = str(len(PARTS) + 1)
            PARTS[name] = {}
            text = f"<InitiateMultipartUploadResult><UploadId>{name}</UploadId></InitiateMultipartUploadResult>"
            return self.answer(200, text.encode())
        parts = PARTS.get(self.query["uploadId"])
        if parts and self.headers.get("If-None-Match") == "*":
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
