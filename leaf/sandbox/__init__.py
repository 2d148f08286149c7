"""Run a function in a confined child process: the one place where untrusted parsing, SQL and
(later) Python execute."""
