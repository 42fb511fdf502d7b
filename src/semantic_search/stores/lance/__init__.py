"""The LanceDB store: tables in a directory or at a URI. Needs the extra `lancedb`."""
