import { createHmac, randomBytes, timingSafeEqual } from "node:crypto";

export interface Session {
  personId: number;
  createdAt: number;
  lastSeenAt: number;
}

const DAY = 24 * 60 * 60 * 1000;
const LIFETIME = 7 * DAY;
const IDLE_LIMIT = 3 * DAY;

/** Keeps people signed in. The browser holds a signed random key and nothing else. */
export class SessionStore {
  private readonly sessions = new Map<string, Session>();

  constructor(
    private readonly secret: Buffer,
    private readonly now: () => number = Date.now,
  ) {}

  /** Signs a person in and returns the value of the cookie. */
  signIn(personId: number): string {
    const key = randomBytes(24).toString("base64url");
    this.sessions.set(key, { personId, createdAt: this.now(), lastSeenAt: this.now() });
    return `${key}.${this.signature(key)}`;
  }

  /** The session of a cookie, or undefined when it is forged, signed out or too old. */
  find(cookie: string): Session | undefined {
    const key = this.verifiedKey(cookie);
    const session = key === undefined ? undefined : this.sessions.get(key);
    if (key === undefined || session === undefined) return undefined;
    if (this.hasExpired(session)) {
      this.sessions.delete(key);
      return undefined;
    }
    session.lastSeenAt = this.now();
    return session;
  }

  /** Signs one device out. */
  signOut(cookie: string): void {
    const key = this.verifiedKey(cookie);
    if (key !== undefined) this.sessions.delete(key);
  }

  /** Signs a person out everywhere, as after a change of password. */
  signOutEverywhere(personId: number): void {
    for (const [key, session] of this.sessions) {
      if (session.personId === personId) this.sessions.delete(key);
    }
  }

  private hasExpired(session: Session): boolean {
    const now = this.now();
    return now - session.createdAt > LIFETIME || now - session.lastSeenAt > IDLE_LIMIT;
  }

  private verifiedKey(cookie: string): string | undefined {
    const [key, signature] = cookie.split(".");
    if (!key || !signature) return undefined;
    const expected = Buffer.from(this.signature(key));
    const given = Buffer.from(signature);
    return given.length === expected.length && timingSafeEqual(given, expected) ? key : undefined;
  }

  private signature(key: string): string {
    return createHmac("sha256", this.secret).update(key).digest("base64url");
  }
}
