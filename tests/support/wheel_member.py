#!/usr/bin/env python3
"""Takes one member out of a wheel on the package index without downloading the wheel.

    wheel_member.py PACKAGE VERSION SUFFIX     writes the member whose name ends in SUFFIX to stdout

The index is PIP_INDEX_URL or pip's default. zipfile does the reading, over a file whose bytes are
ranges of the remote one: the oracle beside the program's own reader.
"""
import html.parser
import io
import os
import sys
import urllib.parse
import urllib.request
import zipfile

from pip._internal.models.index import PyPI

BLOCK = 1 << 20


class Links(html.parser.HTMLParser):
    def __init__(self):
        super().__init__()
        self.found = []

    def handle_starttag(self, tag, attrs):
        if tag == "a":
            self.found.append(dict(attrs).get("href", ""))


def find_wheel(package, version):
    page = os.environ.get("PIP_INDEX_URL", PyPI.simple_url).rstrip("/") + "/" + package + "/"
    links = Links()
    links.feed(urllib.request.urlopen(page).read().decode())
    start = "%s-%s-" % (package.replace("-", "_"), version)
    for link in links.found:
        url = urllib.parse.urljoin(page, link).split("#")[0]
        name = urllib.parse.unquote(url.rsplit("/", 1)[1])
        if name.startswith(start) and "x86_64" in name and name.endswith(".whl"):
            return url
    sys.exit("no wheel of %s %s on %s" % (package, version, page))


class Remote(io.RawIOBase):
    """Bytes of a URL by range, a block at a time."""

    def __init__(self, url):
        self.url, self.at, self.blocks = url, 0, {}
        head = urllib.request.urlopen(urllib.request.Request(url, method="HEAD"))
        self.size = int(head.headers["Content-Length"])

    def seekable(self):
        return True

    def readable(self):
        return True

    def tell(self):
        return self.at

    def seek(self, offset, whence=0):
        self.at = offset + (0, self.at, self.size)[whence]
        return self.at

    def block(self, number):
        if number not in self.blocks:
            last = min((number + 1) * BLOCK, self.size) - 1
            span = {"Range": "bytes=%d-%d" % (number * BLOCK, last)}
            answer = urllib.request.urlopen(urllib.request.Request(self.url, headers=span))
            if answer.status != 206:
                sys.exit("%s gives no ranges" % self.url)
            self.blocks[number] = answer.read()
        return self.blocks[number]

    def readinto(self, into):
        if self.at >= self.size:
            return 0
        piece = self.block(self.at // BLOCK)[self.at % BLOCK :][: len(into)]
        into[: len(piece)] = piece
        self.at += len(piece)
        return len(piece)


def main():
    package, version, suffix = sys.argv[1:]
    with zipfile.ZipFile(io.BufferedReader(Remote(find_wheel(package, version)))) as wheel:
        names = [name for name in wheel.namelist() if name.endswith(suffix)]
        if len(names) != 1:
            sys.exit("%s members end in %s" % (len(names), suffix))
        sys.stdout.buffer.write(wheel.read(names[0]))


if __name__ == "__main__":
    main()
