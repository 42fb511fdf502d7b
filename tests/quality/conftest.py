"""The corpus holds test files of its own, which are text here."""

collect_ignore = ["corpus"]
