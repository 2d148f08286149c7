"""A Messages API server for many answers at once: a word is an event of its own, at a steady rate,
from one thread."""

from __future__ import annotations

import asyncio
import json
import sys
from typing import Any

WORDS_A_SECOND = 25
SECONDS = 40.0


def event(kind: str, **fields: Any) -> bytes:
    return f"event: {kind}\ndata: {json.dumps({'type': kind, **fields})}\n\n".encode()


def chunked(data: bytes) -> bytes:
    return f"{len(data):x}\r\n".encode() + data + b"\r\n"


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request, one answer."""
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    length = next(
        (
            int(line.partition(":")[2])
            for line in head.split("\r\n")
            if line.startswith("content-length")
        ),
        0,
    )
    await reader.readexactly(length)
    if head.startswith("get"):
        body = json.dumps(
            {"data": [], "has_more": False, "first_id": None, "last_id": None}
        ).encode()
        writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n")
        writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)
    else:
        writer.write(
            b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: "
            b"close\r\ntransfer-encoding: chunked\r\n\r\n"
        )
        await stream(writer)
        writer.write(b"0\r\n\r\n")
    await writer.drain()
    writer.close()


async def stream(writer: asyncio.StreamWriter) -> None:
    usage = {"input_tokens": 10, "output_tokens": 1}
    message = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "steady",
        "usage": usage,
    }
    start = event("message_start", message={**message, "stop_reason": None, "stop_sequence": None})
    writer.write(
        chunked(
            start
            + event("content_block_start", index=0, content_block={"type": "text", "text": ""})
        )
    )
    loop = asyncio.get_running_loop()
    began, count = loop.time(), int(WORDS_A_SECOND * SECONDS)
    for number in range(count):
        await asyncio.sleep(max(0.0, began + number / WORDS_A_SECOND - loop.time()))
        end = "\n\n" if number % 40 == 39 else " "
        writer.write(
            chunked(
                event(
                    "content_block_delta",
                    index=0,
                    delta={"type": "text_delta", "text": f"word{number}{end}"},
                )
            )
        )
    stop = event(
        "message_delta",
        delta={"stop_reason": "end_turn", "stop_sequence": None},
        usage={"output_tokens": count},
    )
    writer.write(chunked(event("content_block_stop", index=0) + stop + event("message_stop")))


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    async with server:
        await server.serve_forever()


if __name__ == "__main__":
    sys.exit(asyncio.run(main()))
