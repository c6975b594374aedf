import { isRecord } from "../api/object.ts";
import { checkDnsLabel, checkDnsSubdomain } from "../api/validation/names.ts";
import { type Clock, SECOND } from "../base/clock.ts";
import { tryParseJson } from "../base/parse-json.ts";

/** A terminal that somebody has confirmed: in which container which command runs. */
export interface ExecPermit {
  readonly namespace: string;
  readonly name: string;
  readonly container: string;
  readonly command: readonly string[];
}

/** Permits for terminals: each is for one connection, which begins soon. */
interface ExecPermits {
  /** The permit's name, which nobody can guess; it is what the connection shows, because a WebSocket has no headers. */
  grant(permit: ExecPermit): string;
  /** The permit, once; undefined for another name and when its time is over. */
  take(name: string): ExecPermit | undefined;
}

const LIFE_MS = 10 * SECOND;
/** The oldest goes when there are more. */
const MAX_PERMITS = 16;
const MAX_WORDS = 64;
const MAX_WORD_LENGTH = 4_096;

export function createExecPermits(clock: Pick<Clock, "monotonic">, randomName: () => string): ExecPermits {
  const permits = new Map<string, { readonly permit: ExecPermit; readonly until: number }>();
  return {
    grant(permit) {
      const [oldest] = permits.keys();
      if (permits.size >= MAX_PERMITS && oldest !== undefined) permits.delete(oldest);
      const name = randomName();
      permits.set(name, { permit, until: clock.monotonic() + LIFE_MS });
      return name;
    },
    take(name) {
      const found = permits.get(name);
      permits.delete(name);
      return found === undefined || found.until < clock.monotonic() ? undefined : found.permit;
    },
  };
}

/** Reads what a page asks for; undefined where it is no pod, container and command. */
export function parseExecPermit(text: string): ExecPermit | undefined {
  const value = tryParseJson(text);
  if (!isRecord(value)) return undefined;
  const { namespace, name, container, command } = value;
  if (typeof namespace !== "string" || typeof name !== "string" || typeof container !== "string") return undefined;
  if (!isPodName(namespace, name) || checkDnsLabel(container).length > 0) return undefined;
  if (!Array.isArray(command) || command.length === 0 || command.length > MAX_WORDS) return undefined;
  const words = command.filter((word) => typeof word === "string" && word.length <= MAX_WORD_LENGTH);
  if (words.length !== command.length) return undefined;
  return { namespace, name, container, command: words };
}

/** Whether these may stand in a path: neither is empty, a step upwards or more than one part. */
export function isPodName(namespace: string, name: string): boolean {
  return checkDnsLabel(namespace).length === 0 && checkDnsSubdomain(name).length === 0;
}
