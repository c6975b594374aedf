import { LRUCache } from "lru-cache";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import type { ProvidedRegistry } from "./provider-messages.ts";

/** The credentials that one plugin gave, kept for as long as the plugin said. */
interface CredentialsCache {
  /** Returns the first entry that is there and has not expired. */
  find(keys: readonly string[]): readonly ProvidedRegistry[] | undefined;
  set(key: string, registries: readonly ProvidedRegistry[], lifeMs: number): void;
  readonly size: number;
}

interface Entry {
  readonly registries: readonly ProvidedRegistry[];
  /**
   * The expiry by the wall clock, which may jump, and by the monotonic clock, which may stand still while the machine
   * sleeps.
   */
  readonly expiresAt: number;
  readonly expiresMonotonic: number;
}

const PURGE_PERIOD_MS = 15 * MINUTE;
/** Beyond this number the oldest entry is dropped, and the plugin is asked again for it. */
const MAX_ENTRIES = 4_096;

export function createCredentialsCache(clock: Clock): CredentialsCache {
  const entries = new LRUCache<string, Entry>({ max: MAX_ENTRIES });
  let purgedAt = clock.monotonic();
  const isOver = ({ expiresAt, expiresMonotonic }: Entry) =>
    clock.now() >= expiresAt || clock.monotonic() >= expiresMonotonic;
  const purge = () => {
    if (clock.monotonic() - purgedAt < PURGE_PERIOD_MS) return;
    purgedAt = clock.monotonic();
    for (const [key, entry] of [...entries]) if (isOver(entry)) entries.delete(key);
  };
  return {
    find(keys) {
      purge();
      const entry = keys.map((key) => entries.peek(key)).find((one) => one !== undefined && !isOver(one));
      return entry?.registries;
    },
    set(key, registries, lifeMs) {
      const [expiresAt, expiresMonotonic] = [clock.now() + lifeMs, clock.monotonic() + lifeMs];
      entries.set(key, { registries, expiresAt, expiresMonotonic });
    },
    get size() {
      return entries.size;
    },
  };
}
