"""Leaf beside other apps for chats: who brings a word to the screen how soon, and what that and
waiting costs.

`environments.py` makes an environment for each of the others, `served/` holds each as small an app
as it can be, `apps.py` says how it is started and asked, `viewers.py` looks at its answers as a
browser does, and `leaf.py` is Leaf's side, by `bench.page`.
"""
