"""Documents that are written in chats: their versions, changes by edit blocks, differences, and
what they are downloaded as.

documents   class Documents, what tools and sessions ask      naming   from a title to a file, and clean text
edits       edit blocks, pure                                   diff     what differs between two texts, pure
export      to DOCX, PDF, XLSX, by `child` in the sandbox       prompts  how each type of document is written
"""
