/** A title and its author on one line, the article moved to the end: "Hobbit, The / Tolkien". */
export function formatTitle(title: string, author: string): string {
  const moved = title.replace(/^(The|A|An|Der|Die|Das)\s+(.*)$/, "$2, $1");
  return author ? `${moved} / ${author}` : moved;
}

/** Where a copy stands: branch, shelf and call number. */
export function formatShelfMark(branch: string, shelf: number, callNumber: string): string {
  return `${branch} ${String(shelf).padStart(3, "0")} ${callNumber.toUpperCase()}`;
}
