const EURO = new Intl.NumberFormat("de-AT", { style: "currency", currency: "EUR" });

/** Money that a reader owes, in euro; "nothing" for zero. */
export function formatDebt(cents: number): string {
  return cents === 0 ? "nothing" : EURO.format(cents / 100);
}

/** How long a copy may stay: "due today", "3 days left", "2 days late". */
export function formatDue(due: Date, today: Date): string {
  const days = Math.round((due.getTime() - today.getTime()) / 86_400_000);
  if (days === 0) return "due today";
  return days > 0 ? `${days} days left` : `${-days} days late`;
}
