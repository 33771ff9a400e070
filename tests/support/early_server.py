#!/usr/bin/env python3
"""Answers an upload before its body is there, over TLS, as RFC 9113 8.1 has it: HTTP/2 then resets the stream.

early_server.py CERTIFICATE KEY STATUS LOG: prints "ready PORT"; LOG gets a line for each PUT, "h2" or "http/1.1".
Every other request gets 404.
"""
import socket
import ssl
import sys
import threading

import h2.config
import h2.connection
import h2.events

CERTIFICATE, KEY, STATUS, LOG = sys.argv[1:]
BODY = b"decided early\n"


def note(protocol):
    with open(LOG, "a") as log:
        print(protocol, file=log)


def over_h2(client):
    h = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding=None))
    h.initiate_connection()
    client.sendall(h.data_to_send())
    while data := client.recv(65536):
        for event in h.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                put = (b":method", b"PUT") in event.headers
                h.send_headers(event.stream_id, [(":status", STATUS if put else "404"), ("content-length", str(len(BODY)))])
                h.send_data(event.stream_id, BODY, end_stream=True)
                if put:
                    note("h2")
                    h.reset_stream(event.stream_id, 0)
        client.sendall(h.data_to_send())


def over_h1(client):
    head = b""
    while b"\r\n\r\n" not in head:
        head += client.recv(65536)
    put = head.startswith(b"PUT")
    if put:
        note("http/1.1")
    client.sendall(b"HTTP/1.1 %s Early\r\nContent-Length: %d\r\nConnection: close\r\n\r\n%s"
                   % (STATUS.encode() if put else b"404", len(BODY), BODY))
    while client.recv(65536):  # a reset would take the answer with it
        pass


def serve(client):
    try:
        client = tls.wrap_socket(client, server_side=True)
        (over_h2 if client.selected_alpn_protocol() == "h2" else over_h1)(client)
    except (OSError, h2.exceptions.ProtocolError):
        pass


tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
tls.load_cert_chain(CERTIFICATE, KEY)
tls.set_alpn_protocols(["h2", "http/1.1"])
listener = socket.create_server(("127.0.0.1", 0))
print("ready", listener.getsockname()[1], flush=True)
while True:
    threading.Thread(target=serve, args=(listener.accept()[0],), daemon=True).start()
