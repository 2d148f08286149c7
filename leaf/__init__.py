"""Leaf, a data analyst in the browser. The packages, from the page down to the disk; each may use
only the packages below it.

pages      what is seen on each page, from top to bottom
ui         all that draws (with pages, the only packages that import streamlit): shell, state, live view, drawing of parts
cli        the command line, one file for each family of commands
replay     computes a bundle again in a folder of its own, and says what agrees
doctor     check(settings): what is configured, what works on this machine
wiring     build(settings) -> Leaf, the one place that constructs things
remote     while the app holds the data: the key file, the routes, and the app as a command sees it
app        class Leaf: start and stop, who signs in, sessions, the operator's view
sessions   what one user may do in one workspace: what the pages and the command line call
keeping    deleting for good, backups and bringing them back
runs       one run per assistant message: start, watch from 0, stop
jobs       files on their way into the library: batches that go on after a restart
exports    chats as bundles and notebooks
identity   who signed in: the claims of a login provider, checked
agent      the loop, chunks and parts, history -> request, the models
provenance where an answer's figures come from: its basis, coverage, receipts, citations
tools      what the agent can do, one file per family
files      the library: rows and blobs, reading windows, full-text search
drive      Google Drive: connection, folders, contents, changes
tables     any tabular file -> Parquet once; profiles; queries; results; charts
budgets    what may be used in a day and a month, what was, and what is left
documents  what is written in chats: versions, edit blocks, downloads
readers    what reads files, of tables, documents and media; runs inside the sandbox, stands alone
sandbox    runs a function in a confined child process
transcription from sound to words: faster-whisper or a transcription server
shapes     chunks, parts and results as JSON, a type for each
store      SQL on DuckDB or PostgreSQL, blobs in a folder, in PostgreSQL or in a bucket
settings   what can be configured        errors   what can go wrong
retries    trying again what may succeed in a moment
language   texts and figures in the language of whoever reads them
"""

__version__ = "0.1.0"
