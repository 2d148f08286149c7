"""Receipts: each figure in an answer's text, traced by code to what the tools of the chat found."""
