package org.polytsia;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.Map;

/** Reads bibliographic records in exchange format: a leader, a directory of fields, the fields. */
public final class MarcReader {
    private static final int LEADER_LENGTH = 24;
    private static final int ENTRY_LENGTH = 12;

    private final InputStream source;

    public MarcReader(InputStream source) {
        this.source = source;
    }

    /** The next record by tag, or null at the end of the file. */
    public Map<String, String> nextRecord() throws IOException {
        byte[] leader = source.readNBytes(LEADER_LENGTH);
        if (leader.length == 0) {
            return null;
        }
        if (leader.length < LEADER_LENGTH) {
            throw new IOException("PL-401: record cut short in its leader");
        }
        int length = number(leader, 0, 5);
        int base = number(leader, 12, 5);
        byte[] rest = source.readNBytes(length - LEADER_LENGTH);
        return fields(rest, base - LEADER_LENGTH);
    }

    private static Map<String, String> fields(byte[] rest, int base) {
        Map<String, String> found = new LinkedHashMap<>();
        for (int at = 0; at + ENTRY_LENGTH < base; at += ENTRY_LENGTH) {
            String tag = new String(rest, at, 3, StandardCharsets.US_ASCII);
            int size = number(rest, at + 3, 4);
            int start = base + number(rest, at + 7, 5);
            found.put(tag, new String(rest, start, size - 1, StandardCharsets.UTF_8));
        }
        return found;
    }

    private static int number(byte[] bytes, int from, int digits) {
        return Integer.parseInt(new String(bytes, from, digits, StandardCharsets.US_ASCII));
    }
}
