"""One Leaf for several processes: while the app holds the data, commands do their work through it,
over loopback.

contract   what crosses: the methods, by their types        address   where the app is, and the key: LEAF_HOME/app.json
codec      calls and values as JSON                         server    the routes that the app mounts
client     the app, as a command sees it
"""
