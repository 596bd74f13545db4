"""All tables, chapter by chapter."""

import rows_stream

ROWS = [row for module in (rows_stream,) for row in module.rows()]
assert len({row.id for row in ROWS}) == len(ROWS), "two rows have one id"
