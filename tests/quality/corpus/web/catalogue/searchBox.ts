import { debounce } from "../../third_party/debounce/debounce.js";
import { formatTitle } from "./format";

export interface Suggestion {
  title: string;
  author: string;
  copiesFree: number;
}

type Fetcher = (prefix: string, signal: AbortSignal) => Promise<Suggestion[]>;

const SHORTEST_PREFIX = 3;
const TYPING_PAUSE_MS = 250;

/** Suggests titles while a reader types; asks the server only after a pause, and forgets stale answers. */
export class SearchBox {
  private running: AbortController | undefined;

  constructor(
    private readonly fetchSuggestions: Fetcher,
    private readonly show: (lines: string[]) => void,
  ) {}

  readonly onInput = debounce((text: string) => this.suggest(text), TYPING_PAUSE_MS);

  /** Asks for suggestions, cancelling the request before. */
  async suggest(text: string): Promise<void> {
    this.running?.abort();
    if (text.trim().length < SHORTEST_PREFIX) return this.show([]);
    const mine = (this.running = new AbortController());
    const found = await this.fetchSuggestions(text, mine.signal);
    if (!mine.signal.aborted) this.show(found.map((s) => formatTitle(s.title, s.author)));
  }
}
