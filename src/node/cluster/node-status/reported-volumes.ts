import type { Node } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";

/**
 * Tracks whether the API server knows that this node uses its volumes. A volume is mounted only after that, because a
 * volume that the node's status does not name may be detached at any moment (`status.volumesInUse`;
 * pkg/kubelet/volumemanager/cache).
 */
export interface ReportedVolumes {
  /** Resolves when the node's status names them all. Asks for a report where it does not. */
  report(names: readonly string[], signal: AbortSignal): Promise<void>;
  /**
   * Tells which volumes the status that is being made names. Other volumes count as unknown from this moment on, not
   * only from when that status has been written: a volume that comes into use meanwhile has to wait for the next
   * status.
   */
  telling(names: readonly string[]): void;
  /** Takes the node object as it was last read or written. */
  observe(node: Node): void;
  /** The listener is called when a caller waits for a report. */
  onWanted(listener: () => void): void;
}

export function createReportedVolumes(): ReportedVolumes {
  const wanted = new Set<() => void>();
  const waiting = new Set<() => void>();
  let known: ReadonlySet<string> = new Set();
  const isKnown = (names: readonly string[]) => names.every((name) => known.has(name));

  return {
    async report(names, signal) {
      while (!isKnown(names)) {
        const observed = new Promise<void>((resolve) => waiting.add(resolve));
        for (const listener of wanted) listener();
        await untilAborted(observed, signal);
      }
    },
    telling(names) {
      known = new Set(names.filter((name) => known.has(name)));
    },
    observe({ status }) {
      known = new Set(status?.volumesInUse ?? []);
      for (const resolve of waiting) resolve();
      waiting.clear();
    },
    onWanted: (listener) => wanted.add(listener),
  };
}
