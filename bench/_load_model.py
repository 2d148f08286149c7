"""A Messages API server for many people at once, from one thread: a question is answered by a query
of the asker's own table first, then by words that say when they were sent."""

from __future__ import annotations

import asyncio
import json
import sys
import time
from contextlib import suppress
from typing import Any

from bench._streams_server import chunked, event

WORDS, WORDS_A_SECOND = 60, 15
QUERY = "SELECT region, sum(revenue) AS total FROM sales GROUP BY region ORDER BY region"
USAGE = {"input_tokens": 500, "output_tokens": 50}


async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """One request of one connection."""
    with suppress(OSError, asyncio.IncompleteReadError):
        head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
        length = next(
            (
                int(line.partition(":")[2])
                for line in head.split("\r\n")
                if line.startswith("content-length")
            ),
            0,
        )
        body = json.loads(await reader.readexactly(length) or b"{}")
        if head.startswith("get") or "count_tokens" in head.partition("\r\n")[0]:
            plain = {"data": [], "has_more": False, "first_id": None, "last_id": None}
            await _send_whole(writer, {**plain, "input_tokens": 500})
        else:
            await _stream(writer, body)
    writer.close()


async def _send_whole(writer: asyncio.StreamWriter, value: dict[str, Any]) -> None:
    body = json.dumps(value).encode()
    writer.write(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n")
    writer.write(f"content-length: {len(body)}\r\n\r\n".encode() + body)
    await writer.drain()


async def _stream(writer: asyncio.StreamWriter, body: dict[str, Any]) -> None:
    writer.write(
        b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\n"
        b"connection: close\r\ntransfer-encoding: chunked\r\n\r\n"
    )
    message: dict[str, Any] = {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "content": [],
        "model": "stamps",
        "usage": USAGE,
        "stop_reason": None,
        "stop_sequence": None,
    }
    await _event(writer, "message_start", message=message)
    asks = bool(body.get("tools")) and not _is_answered(body)
    await (_call if asks else _words)(writer)
    reason = "tool_use" if asks else "end_turn"
    delta = {"stop_reason": reason, "stop_sequence": None}
    await _event(writer, "message_delta", delta=delta, usage={"output_tokens": 50})
    await _event(writer, "message_stop")
    writer.write(b"0\r\n\r\n")
    await writer.drain()


def _is_answered(body: dict[str, Any]) -> bool:
    """Whether the newest message brings the result of a tool."""
    content = body["messages"][-1]["content"]
    return isinstance(content, list) and any(part["type"] == "tool_result" for part in content)


async def _call(writer: asyncio.StreamWriter) -> None:
    use = {"type": "tool_use", "id": f"toolu_{time.time_ns()}", "name": "query_tables", "input": {}}
    await _event(writer, "content_block_start", index=0, content_block=use)
    piece = {"type": "input_json_delta", "partial_json": json.dumps({"sql": QUERY})}
    await _event(writer, "content_block_delta", index=0, delta=piece)
    await _event(writer, "content_block_stop", index=0)


async def _words(writer: asyncio.StreamWriter) -> None:
    await _event(writer, "content_block_start", index=0, content_block={"type": "text", "text": ""})
    began = time.monotonic()
    for number in range(WORDS):
        await asyncio.sleep(max(0.0, began + number / WORDS_A_SECOND - time.monotonic()))
        word = {"type": "text_delta", "text": f"t{time.time_ns() // 1_000_000} "}
        await _event(writer, "content_block_delta", index=0, delta=word)
    await _event(writer, "content_block_stop", index=0)


async def _event(writer: asyncio.StreamWriter, kind: str, **fields: Any) -> None:
    writer.write(chunked(event(kind, **fields)))
    await writer.drain()


async def main() -> None:
    server = await asyncio.start_server(answer, "127.0.0.1", 0, backlog=256)
    print(server.sockets[0].getsockname()[1], flush=True)
    sys.stdin.close()
    await server.serve_forever()


if __name__ == "__main__":
    asyncio.run(main())
