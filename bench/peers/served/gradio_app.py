"""Gradio: an answer of the model in a ChatInterface, which takes the whole text so far each
time."""

import os
from collections.abc import AsyncIterator

import anthropic
import gradio as gr

client = anthropic.AsyncAnthropic(base_url=os.environ["PEER_MODEL_URL"], api_key="key")


async def answer(message: str, history: object) -> AsyncIterator[str]:
    said = ""
    asked: list[anthropic.types.MessageParam] = [{"role": "user", "content": message}]
    async with client.messages.stream(model="stamps", max_tokens=10_000, messages=asked) as stream:
        async for text in stream.text_stream:
            said += text
            yield said


if __name__ == "__main__":
    app = gr.ChatInterface(answer, api_name="answer", concurrency_limit=None)
    app.launch(server_name="127.0.0.1", server_port=int(os.environ["PEER_PORT"]), quiet=True)
