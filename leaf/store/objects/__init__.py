"""Where blobs stand: a folder, the PostgreSQL database or a bucket. `store/blobs.py` is the one class
that the house uses.

base      what a store of blobs can do            folder    files under a folder, which the cache is too
database  in PostgreSQL, piece by piece           bucket    S3, Google and Azure, by obstore
cache     what was fetched, bounded and pinned    opening   which of them the settings name
behind    what only the data folder has yet       pace      how fast a store gives bytes
"""
