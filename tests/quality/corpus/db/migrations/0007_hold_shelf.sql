-- A hold remembers when its copy was laid on the shelf, so that it can expire.
ALTER TABLE hold ADD COLUMN shelved_on date;

CREATE INDEX hold_waiting ON hold (barcode, placed_on) WHERE shelved_on IS NULL;

UPDATE hold SET shelved_on = placed_on WHERE state = 'ready';

ALTER TABLE hold DROP COLUMN state;
