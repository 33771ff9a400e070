"""Sends completions to a server and tells tokens per second and latencies. The token is as the server's: in
SERVER_TOKEN_FILE or SERVER_TOKEN. Exit status 1: a request failed; 2: /health did not answer with a report."""

import argparse
import http.client
import json
import os
import sys
import threading
import time
import urllib.error
import urllib.request


class NoRedirects(urllib.request.HTTPRedirectHandler):
    """The token is for the server that was named: a redirect is a failure, as every other status."""

    def redirect_request(self, *_words):
        return None


OPENER = urllib.request.build_opener(NoRedirects)


def printable(value):
    """An answer of the server without its control characters."""
    return str(value).encode("unicode_escape").decode()


def positive(text):
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"'{text}' is not 1 or more")
    return number


def percentile(values, share):
    """The nearest rank; values are sorted."""
    return values[min(len(values) - 1, max(0, -(-len(values) * share // 100) - 1))]


def read_token():
    path = os.environ.get("SERVER_TOKEN_FILE")
    if path:
        with open(path) as file:
            return file.read().strip()
    return os.environ.get("SERVER_TOKEN", "")


class Load:
    def __init__(self, arguments):
        self.arguments, self.lock = arguments, threading.Lock()
        self.left, self.tokens, self.latencies, self.failures = arguments.requests, 0, [], {}
        self.token = read_token()

    def _ask(self, number):
        words = self.arguments
        prompt = (f"{number} " + "x" * words.prompt)[: words.prompt]
        request = urllib.request.Request(
            words.url.rstrip("/") + "/v1/completions",
            data=json.dumps({"prompt": prompt, "max_tokens": words.tokens}).encode(),
            headers={"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"},
        )
        with OPENER.open(request, timeout=words.timeout) as answer:
            tokens = int(json.load(answer)["usage"]["completion_tokens"])
        if not 0 <= tokens <= words.tokens:
            raise ValueError
        return tokens

    def run(self):
        while True:
            with self.lock:
                if not self.left:
                    return
                number, self.left = self.left, self.left - 1
            begun = time.monotonic()
            try:
                tokens = self._ask(number)
            except urllib.error.HTTPError as error:
                self._fail(f"status {error.code}")
                continue
            except Exception as error:
                self._fail(type(error).__name__)
                continue
            with self.lock:
                self.latencies.append(time.monotonic() - begun)
                self.tokens += tokens

    def _fail(self, why):
        with self.lock:
            self.failures[why] = self.failures.get(why, 0) + 1


def ask_health(url):
    with OPENER.open(url.rstrip("/") + "/health", timeout=30) as answer:
        health = json.load(answer)
    if not isinstance(health, dict):
        raise ValueError("/health is not a JSON object")
    return health


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("url", help="http://127.0.0.1:8000")
    parser.add_argument("--requests", type=positive, default=64)
    parser.add_argument("--concurrency", type=positive, default=8)
    parser.add_argument("--prompt", type=positive, default=128, help="bytes of each prompt")
    parser.add_argument("--tokens", type=positive, default=64, help="tokens of each answer")
    parser.add_argument("--timeout", type=positive, default=300, help="seconds for one request")
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    try:
        health, load = ask_health(arguments.url), Load(arguments)
    except (OSError, http.client.HTTPException, ValueError, RecursionError) as error:
        print(f"error: '{arguments.url}' does not serve: {printable(error)}", file=sys.stderr)
        return 2
    threads = [threading.Thread(target=load.run) for _ in range(arguments.concurrency)]
    begun = time.monotonic()
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    seconds = time.monotonic() - begun
    taken = sorted(load.latencies)
    result = {
        "attn": health.get("attn"),
        "batch": health.get("batch"),
        "requests": len(taken),
        "failures": load.failures,
        "tokens_per_s": round(load.tokens / seconds, 1),
        "latency_s": {f"p{p}": round(percentile(taken, p), 4) for p in (50, 90, 99)} if taken else None,
    }
    if arguments.json:
        print(json.dumps(result))
    else:
        print(f"attn {printable(result['attn'])}, batch {printable(result['batch'])}")
        print(f"{len(taken)} answers, {sum(load.failures.values())} failures {load.failures or ''}")
        print(f"{result['tokens_per_s']} tokens/s")
        if taken:
            print("latency", ", ".join(f"{n} {s * 1000:.0f} ms" for n, s in result["latency_s"].items()))
    return 0 if taken and not load.failures else 1


if __name__ == "__main__":
    sys.exit(main())
