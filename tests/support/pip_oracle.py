#!/usr/bin/env python3
"""index-url, extra-index-url and cert as pip's own parser has them; see net_probe.c's "pip"."""

from pip._internal.commands import create_command
from pip._internal.models.index import PyPI

values = create_command("install").parser.get_default_values()
print("-" if values.index_url == PyPI.simple_url else values.index_url)
for url in values.extra_index_urls:
    if "://" in url:  # folders are left to pip
        print(url)
print(values.cert or "-")
