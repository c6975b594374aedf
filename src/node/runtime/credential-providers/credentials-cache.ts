import { LRUCache } from "lru-cache";
import { type Clock, MINUTE } from "../../../base/clock.ts";
import type { ProvidedRegistry } from "./provider-messages.ts";

/** What one plugin gave, for as long as it said. */
interface CredentialsCache {
  /** The first that is there and holds. */
  find(keys: readonly string[]): readonly ProvidedRegistry[] | undefined;
  set(key: string, registries: readonly ProvidedRegistry[], lifeMs: number): void;
  readonly size: number;
}

interface Entry {
  readonly registries: readonly ProvidedRegistry[];
  /** By the wall clock, which may jump, and by the one that may stand still while the machine sleeps. */
  readonly expiresAt: number;
  readonly expiresMonotonic: number;
}

const PURGE_PERIOD_MS = 15 * MINUTE;
/** Past it the oldest goes, and the plugin is asked again. */
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
