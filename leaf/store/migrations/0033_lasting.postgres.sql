-- Whether a blob is still named is asked by its hash, before it is swept.
CREATE INDEX converted_tables_by_bytes ON converted_tables (workspace_id, sha256);
