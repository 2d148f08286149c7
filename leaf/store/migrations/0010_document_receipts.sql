-- What the figures of a version of a document rest on. A table of its own: versions stay as they are.

CREATE TABLE document_receipts (
    document_id TEXT NOT NULL,
    number INTEGER NOT NULL, -- of the version
    found JSON NOT NULL,
    PRIMARY KEY (document_id, number)
);
