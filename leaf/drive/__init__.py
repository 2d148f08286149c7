"""Google Drive: the connection, folders, contents, changes. The only package that imports Google's
clients, each where it is used.

drive      class Drive: what tools and sessions call        model      the values handed out
oauth      consent at Google and its return
client     one HTTP client a thread; retries; plain errors    connection the kept connection of a user, and its state
query      Drive's search language, addresses, kinds          listing    folders, search, trees
content    bytes: downloads, exports, revisions               changes    what changed since, by the Changes API
fetching   revisions into the library, each once             adding     several files side by side
"""
