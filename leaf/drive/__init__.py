"""Google Drive: the connection, folders, contents, changes. The only room that imports Google's clients, each where it is used.

drive      class Drive: what tools and sessions call        model      the values handed out
oauth      consent at Google and its return                   vault      tokens encrypted at rest
client     one HTTP client a thread; retries; plain errors    connection the kept connection of a user, and its state
query      Drive's search language, addresses, kinds          listing    folders, search, trees
content    bytes: downloads, exports, revisions               changes    what changed since, by the Changes API
"""
