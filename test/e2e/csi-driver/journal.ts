import { createHash } from "node:crypto";
import { appendFileSync, readFileSync } from "node:fs";
import { isRecord } from "../../../src/api/object.ts";

/** A call that the driver took. */
export interface Call {
  /** `NodePublishVolume`; `GetInfo` and `NotifyRegistrationStatus` are the registration's. */
  rpc: string;
  /**
   * The request without its secrets: `secretNames` has the names of `secrets`, and `tokens`, by audience, what tells the
   * tokens of the volume's context from one another. Sizes are numbers.
   */
  request: Record<string, unknown>;
  /** The driver's process. */
  pid: number;
  /** Milliseconds since the epoch. */
  startedAt: number;
  endedAt: number | undefined;
  /** `ok`, the error's code, or undefined for a call that hangs or that the driver died in. */
  outcome: string | undefined;
}

interface Journal {
  /** Returns what notes the call's end. */
  begin(rpc: string, request: Readonly<Record<string, unknown>>): (outcome: string) => void;
}

/** One JSON object a line: a call's beginning, and later, by its number, its end. Written at once, for a crash. */
export function openJournal(path: string): Journal {
  const { pid } = process;
  let calls = 0;
  const append = (line: object) => appendFileSync(path, `${JSON.stringify(line)}\n`);
  return {
    begin(rpc, request) {
      const call = ++calls;
      append({ pid, call, rpc, at: Date.now(), request: withoutSecrets(request) });
      return (outcome) => append({ pid, call, at: Date.now(), outcome });
    },
  };
}

/** All calls, in the order of their beginning, whichever process took them. */
export function readCalls(path: string): Call[] {
  const calls = new Map<string, Call>();
  for (const line of readFileSync(path, "utf8").split("\n")) {
    const entry: unknown = line === "" ? undefined : JSON.parse(line);
    if (!isRecord(entry)) continue;
    const { pid, call, rpc, request, outcome } = entry;
    const at = Number(entry["at"]);
    const earlier = calls.get(`${pid} ${call}`);
    if (earlier) Object.assign(earlier, { endedAt: at, outcome });
    else if (typeof rpc === "string" && isRecord(request)) {
      const begun = { rpc, request, pid: Number(pid), startedAt: at, endedAt: undefined, outcome: undefined };
      calls.set(`${pid} ${call}`, begun);
    }
  }
  return [...calls.values()];
}

const TOKENS_KEY = "csi.storage.k8s.io/serviceAccount.tokens";

function withoutSecrets(request: Readonly<Record<string, unknown>>): Record<string, unknown> {
  const { secrets, volumeContext, ...rest } = request;
  const shown: Record<string, unknown> = { ...rest };
  if (isRecord(secrets)) shown["secretNames"] = Object.keys(secrets).sort();
  if (isRecord(volumeContext)) {
    const { [TOKENS_KEY]: tokens, ...context } = volumeContext;
    shown["volumeContext"] = context;
    if (typeof tokens === "string") shown["tokens"] = describeTokens(tokens);
  }
  return Object.fromEntries(
    Object.entries(shown).map(([key, value]) => [key, typeof value === "bigint" ? Number(value) : value]),
  );
}

/** Enough to see that a token came, and later another one. */
function describeTokens(text: string): Record<string, unknown> {
  const tokens: unknown = JSON.parse(text);
  const entries = isRecord(tokens) ? Object.entries(tokens) : [];
  return Object.fromEntries(
    entries.map(([audience, entry]) => {
      const { token, expirationTimestamp } = isRecord(entry) ? entry : {};
      const digest = createHash("sha256").update(String(token)).digest("hex").slice(0, 12);
      return [audience, { digest, expirationTimestamp }];
    }),
  );
}
