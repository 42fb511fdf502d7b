export interface Alert {
  greenhouse: string;
  condition: string;
  severity: "notice" | "danger";
  at: number;
}

const REPEAT_AFTER = 4 * 60 * 60 * 1000;

/** Decides which alerts reach a grower's phone: one per change of state, repeated after four hours. */
export class AlertFilter {
  private readonly lastSent = new Map<string, Alert>();

  shouldSend(alert: Alert): boolean {
    const key = `${alert.greenhouse}/${alert.condition}`;
    const previous = this.lastSent.get(key);
    const changed = previous === undefined || previous.severity !== alert.severity;
    if (!changed && alert.at - previous.at < REPEAT_AFTER) return false;
    this.lastSent.set(key, alert);
    return true;
  }

  /** The condition is over: the next alert about it is news again. */
  recovered(greenhouse: string, condition: string): void {
    this.lastSent.delete(`${greenhouse}/${condition}`);
  }
}
