import type { Node } from "../../../api/gen/types.ts";
import { untilAborted } from "../../../base/abort.ts";

/**
 * Whether the API server knows that this node uses its volumes: a volume is mounted only after that, because what the
 * node's status does not name may be detached at any moment (`status.volumesInUse`; pkg/kubelet/volumemanager/cache).
 */
export interface ReportedVolumes {
  /** Resolves when the node's status names them all; asks for a report where it does not. */
  report(names: readonly string[], signal: AbortSignal): Promise<void>;
  /**
   * What the status that is being made names. The rest is known no longer from this moment on, not only when that status
   * has been written: whoever takes a volume into use meanwhile has to wait for the next one.
   */
  telling(names: readonly string[]): void;
  /** The node object as it was last read or written. */
  observe(node: Node): void;
  /** Told when somebody waits for a report. */
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
    onWanted: (listener) => void wanted.add(listener),
  };
}
