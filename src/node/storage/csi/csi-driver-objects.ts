import type { CSIDriver } from "../../../api/gen/types.ts";
import { CSI_DRIVERS } from "../../../api/kube-resource.ts";
import { SECOND } from "../../../base/clock.ts";
import { CodedError } from "../../../base/errors.ts";
import { endsInTime } from "../../../base/time-limit.ts";
import { createReflector, type ReflectorDeps } from "../../../kube/create-reflector.ts";

/** The CSIDriver objects, which say how drivers are mounted and whether they are attached. */
export interface CsiDriverObjects {
  run(signal: AbortSignal): Promise<void>;
  /** Undefined also before the first list, so callers wait for `waitForSync` first. */
  get(name: string): CSIDriver | undefined;
  /** The listener gets the name of each object that came, went or changed. */
  subscribe(listener: (name: string) => void): () => void;
  /**
   * Resolves when all objects were read once. Rejects with `not-synced` when that takes longer than ten seconds, or
   * with AbortedError. Without this wait a pod would be mounted as if its driver had no object.
   */
  waitForSync(signal: AbortSignal): Promise<void>;
}

const SYNC_TIMEOUT_MS = 10 * SECOND;

export function createCsiDriverObjects(deps: ReflectorDeps): CsiDriverObjects {
  const listeners = new Set<(name: string) => void>();
  const reflector = createReflector(deps, {
    resource: CSI_DRIVERS,
    onChange(changes) {
      const names = changes.map(({ object }) => object.metadata?.name ?? "");
      for (const listener of [...listeners]) for (const name of names) listener(name);
    },
  });

  return {
    run: async (signal) => reflector.run(signal),
    get: (name) => reflector.get("", name),
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    async waitForSync(signal) {
      if (reflector.hasSynced) return;
      const limit = { timeoutMs: SYNC_TIMEOUT_MS, signal };
      if (await endsInTime(deps.clock, limit, async (inTime) => await reflector.synced(inTime))) return;
      throw new CodedError("not-synced", "failed to sync csidriver cache: timed out waiting for the condition");
    },
  };
}
