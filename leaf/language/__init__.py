"""What people read, in their language: what is written in English where it is said, as
`t("Search chats")`, stands in the other languages in `locales/<language>/leaf.po`.

text      `t` and `n_`, figures, and in which language a thread speaks
kept      sentences that are kept in English with an answer, said in that language
catalogs  reads those files
"""
