"""Plain Streamlit: an answer of the model by `st.write_stream`, to what is typed, or at once where
the address asks for it."""

import os
from collections.abc import Iterator

import anthropic
import streamlit as st


def answer(question: str) -> Iterator[str]:
    client = anthropic.Anthropic(base_url=os.environ["PEER_MODEL_URL"], api_key="key")
    asked: list[anthropic.types.MessageParam] = [{"role": "user", "content": question}]
    with client.messages.stream(model="stamps", max_tokens=10_000, messages=asked) as stream:
        yield from stream.text_stream


typed = st.chat_input("Ask")
if question := typed or st.query_params.get("ask"):
    with st.chat_message("assistant"):
        st.write_stream(answer(question))
