"""What one user may do in one workspace: `leaf.session(scope)`, and nothing here without one.

session      class Session: the door, and its parts
house        the packages below, which all parts share
chats        chats, their branches, their people, exports
messages     asking, watching, stopping; asking is a question as it is kept
files        the library; preview is a look into a file, for a person
attached     the files of a chat
transcripts  what is said in recordings
documents    what is written in chats
results      rows, again and elsewhere; charts
edits        steps of answers that a person edits and runs
boards       pinned results; pinning makes what a pin shows
drive        Google Drive
python       what code drew and wrote
jobs         adding many files, in the background
tools        one tool, outside a run
team         workspaces and who belongs to them
usage        what was used, and budgets
"""
