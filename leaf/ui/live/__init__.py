"""An answer on its way to the screen while it is written.

`page` is what a page calls: what is finished it draws itself, what grows is left to the component,
and so is the connection. `tickets` let a browser in, `route` is the websocket, `hub` knows the
encoders and has the one thread that serves them all; an `encoder` turns the chunks of an answer
into a numbered `document`, once for all who watch it, with `text` and `html` for its words.
`polled` is for browsers that reach Leaf by no connection but Streamlit's.
"""
