import { AbortedError } from "../../../../base/abort.ts";
import type { Subject } from "../pod-state.ts";
import type { PodSyncer, SyncResult } from "../pod-syncer.ts";
import { referenceOf } from "../pod-syncer.ts";

/** One call of the syncer, which waits until the test ends it. */
interface ScriptedCall {
  /** `sync a:v1`, `terminating a grace=30`, `terminated a deleted`. */
  what: string;
  aborted(): boolean;
  succeed(result?: Partial<SyncResult>): void;
  fail(error: Error): void;
}

interface ScriptedSyncer extends PodSyncer {
  /** Every call so far, oldest first. */
  calls: ScriptedCall[];
  /** Calls that nobody has ended. */
  open(): ScriptedCall[];
  /** The one open call. */
  current(): ScriptedCall;
  /** How often a pod was only reported. */
  readonly reported: number;
}

/** A syncer that does what the test says; a call whose signal fires rejects, as real work does. */
export function createScriptedSyncer(): ScriptedSyncer {
  const calls: ScriptedCall[] = [];
  const open = new Set<ScriptedCall>();
  let reported = 0;

  const begin = async (what: string, signal: AbortSignal): Promise<SyncResult> =>
    await new Promise<SyncResult>((resolve, reject) => {
      const call: ScriptedCall = {
        what,
        aborted: () => signal.aborted,
        succeed(result = {}) {
          open.delete(call);
          resolve({ terminal: false, ...result });
        },
        fail(error) {
          open.delete(call);
          reject(error);
        },
      };
      calls.push(call);
      open.add(call);
      signal.addEventListener("abort", () => call.fail(new AbortedError()), { once: true });
    });

  return {
    calls,
    open: () => [...open],
    current() {
      const [call, ...others] = open;
      if (call === undefined || others.length > 0) throw new Error(`${open.size} calls are open`);
      return call;
    },
    get reported() {
      return reported;
    },
    reportPod: () => void reported++,
    syncPod: async ({ pod, signal }) => await begin(`sync ${versionOf({ kind: "pod", pod })}`, signal),
    async syncTerminatingPod({ subject, gracePeriodSeconds, signal }) {
      await begin(`terminating ${referenceOf(subject).uid} grace=${gracePeriodSeconds}`, signal);
    },
    async syncTerminatedPod({ subject, deleted, beginsAnew, signal }) {
      const how = `${deleted ? " deleted" : ""}${beginsAnew ? " to begin anew" : ""}`;
      await begin(`terminated ${referenceOf(subject).uid}${how}`, signal);
    },
  };
}

function versionOf(subject: Subject): string {
  const version = subject.kind === "pod" ? subject.pod.metadata?.labels?.["version"] : undefined;
  return `${referenceOf(subject).uid}${version === undefined ? "" : `:${version}`}`;
}
