import { expect, test } from "vitest";
import { formatDebt, formatDue } from "./format";

test("formatDebt shows euro and says nothing for zero", () => {
  expect(formatDebt(0)).toBe("nothing");
  expect(formatDebt(250)).toContain("2,50");
});

test("formatDue counts days left and days late", () => {
  const today = new Date("2025-05-05");
  expect(formatDue(new Date("2025-05-08"), today)).toBe("3 days left");
  expect(formatDue(new Date("2025-05-03"), today)).toBe("2 days late");
});
