package org.polytsia;

import java.text.Normalizer;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** Joins records of the same edition that came from different suppliers. */
public final class DuplicateMerger {

    /** Records grouped by edition; of each group the fullest description is kept. */
    public List<Map<String, String>> merge(List<Map<String, String>> records) {
        Map<String, Map<String, String>> kept = new LinkedHashMap<>();
        for (Map<String, String> record : records) {
            kept.merge(editionKey(record), record, (a, b) -> a.size() >= b.size() ? a : b);
        }
        return new ArrayList<>(kept.values());
    }

    /** ISBN where there is one, else title, author and year without accents, case and punctuation. */
    static String editionKey(Map<String, String> record) {
        String isbn = record.getOrDefault("020", "").replaceAll("[^0-9X]", "");
        if (!isbn.isEmpty()) {
            return isbn;
        }
        String text = record.get("245") + "|" + record.get("100") + "|" + record.get("260");
        return Normalizer.normalize(text, Normalizer.Form.NFD)
                .replaceAll("\\p{M}", "")
                .toLowerCase(Locale.ROOT)
                .replaceAll("[^\\p{L}\\p{N}|]", "");
    }
}
