"""What becomes of data in the long run: deleted for good, saved, brought back.

remover    chats, files, workspaces and accounts, down to the last byte
archive    the shape of a backup: parts and a manifest, in a folder or a ZIP
backup     rows of one moment and the bytes that they name, while Leaf runs
restore    a backup brought back, checked whole before
"""
