-- Readers with copies that are late by more than two weeks, the latest first.
WITH late AS (
    SELECT card, barcode, current_date - due_on AS days_late
    FROM loan
    WHERE returned_on IS NULL AND due_on < current_date - 14
)
SELECT reader.name, reader.email, count(*) AS copies, max(late.days_late) AS worst
FROM late
JOIN reader USING (card)
GROUP BY reader.name, reader.email
ORDER BY worst DESC;
