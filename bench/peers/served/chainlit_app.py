"""Chainlit: an answer of the model, token by token."""

import os

import anthropic
import chainlit as cl

client = anthropic.AsyncAnthropic(base_url=os.environ["PEER_MODEL_URL"], api_key="key")


@cl.on_message  # type: ignore[untyped-decorator]  # of a package that only its own environment has
async def answer(message: cl.Message) -> None:
    said = cl.Message(content="")
    asked: list[anthropic.types.MessageParam] = [{"role": "user", "content": message.content}]
    async with client.messages.stream(model="stamps", max_tokens=10_000, messages=asked) as stream:
        async for text in stream.text_stream:
            await said.stream_token(text)
    await said.update()
