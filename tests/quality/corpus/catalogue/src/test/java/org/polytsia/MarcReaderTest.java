package org.polytsia;

import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import java.io.ByteArrayInputStream;
import java.io.IOException;
import org.junit.jupiter.api.Test;

class MarcReaderTest {
    @Test
    void anEmptyFileHasNoRecord() throws IOException {
        assertNull(new MarcReader(new ByteArrayInputStream(new byte[0])).nextRecord());
    }

    @Test
    void aRecordCutShortInItsLeaderIsAnError() {
        var reader = new MarcReader(new ByteArrayInputStream("00120nam".getBytes()));
        assertThrows(IOException.class, reader::nextRecord);
    }
}
