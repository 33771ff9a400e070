"""bad_proxy.py TO FAULT - a TCP proxy on loopback before the port TO, with a fault; prints its own port

stall: it never answers. cut=N: a connection ends after N bytes of answers. flip=N: byte N of the answers is
changed. drip=N: answers come N bytes at a time, ten times a second. delay=N: answers come N ms later. noise=N: with
the seed N, bytes of answers are changed, missing or doubled. connect: no fault; it connects to the address of each
HTTP CONNECT and prints a line on stderr.
"""
import asyncio
import random
import sys

to, (fault, _, number) = int(sys.argv[1]), sys.argv[2].partition("=")
at = int(number or 0)


dice = random.Random(at)


def disturb(data):
    for _ in range(dice.randrange(4)):
        where = dice.randrange(len(data))
        how = dice.randrange(3)
        if how == 0:
            data = data[:where] + bytes([dice.randrange(256)]) + data[where + 1 :]
        elif how == 1:
            data = data[:where] + data[where + 1 + dice.randrange(8) :] or b"\0"
        else:
            data = data[:where] + data[max(0, where - 16) :]
    return data


async def forward(reader, writer):
    while data := await reader.read(65536):
        writer.write(data)
        await writer.drain()


async def answer(reader, writer):
    seen = 0
    while data := await reader.read(at if fault == "drip" else 65536):
        if fault == "flip" and seen <= at < seen + len(data):
            data = data[: at - seen] + bytes([data[at - seen] ^ 0xFF]) + data[at - seen + 1 :]
        seen += len(data)
        if fault == "stall":
            continue
        if fault == "noise":
            data = disturb(data)
        if fault == "delay":
            asyncio.get_running_loop().call_later(at / 1000, writer.write, data)
            continue
        if fault == "cut" and seen > at:
            writer.write(data[: len(data) - (seen - at)])
            break
        writer.write(data)
        await writer.drain()
        await asyncio.sleep(0.1 if fault == "drip" else 0)


async def serve(reader, writer):
    port = to
    if fault == "connect":
        asked = (await reader.readuntil(b"\r\n\r\n")).decode().split()
        print(*asked[:2], file=sys.stderr, flush=True)
        port = int(asked[1].rpartition(":")[2])
        writer.write(b"HTTP/1.1 200 Connected\r\n\r\n")
    there, back = await asyncio.open_connection("127.0.0.1", port)
    both = [asyncio.create_task(forward(reader, back)), asyncio.create_task(answer(there, writer))]
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    for task in both:
        task.cancel()
    for one in (back, writer):
        one.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    print(server.sockets[0].getsockname()[1], flush=True)
    await server.serve_forever()


asyncio.run(main())
