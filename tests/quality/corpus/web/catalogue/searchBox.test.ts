import { expect, test } from "vitest";
import { SearchBox } from "./searchBox";

test("SearchBox forgets a stale answer when the reader types on", async () => {
  const shown: string[][] = [];
  const box = new SearchBox(
    async (prefix) => [{ title: prefix, author: "Anon", copiesFree: 1 }],
    (lines) => shown.push(lines),
  );
  await Promise.all([box.suggest("dune"), box.suggest("dunes")]);
  expect(shown).toEqual([["dunes / Anon"]]);
});

test("SearchBox asks nothing for a prefix that is too short", async () => {
  const box = new SearchBox(async () => { throw new Error("asked"); }, () => undefined);
  await box.suggest("du");
});
