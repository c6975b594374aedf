import type { Lease, Node } from "../../api/gen/types.ts";
import type { Clock } from "../../base/clock.ts";
import { nodeCondition } from "./node-conditions.ts";

/**
 * The time of each node's last sign of life, by our own clock and since we listen. A node is not blamed for a time in
 * which nobody listened, and its clock may be wrong. There are two signs of life: the heartbeat of the Ready condition
 * and the renewal of the lease.
 */
export interface Heartbeats {
  observeNode(node: Node): void;
  observeLease(lease: Lease): void;
  forget(name: string): void;
  /** Milliseconds of the grace period that are left; negative when it is over. */
  remainingMs(name: string, graceMs: number): number;
  /** Counts as a sign of life of all nodes now, or of the one node. */
  restart(name?: string): void;
}

interface Heartbeat {
  /** The last states that were seen of the node and of its lease. */
  node: string;
  lease: string;
  at: number;
}

export function createHeartbeats(clock: Pick<Clock, "monotonic">): Heartbeats {
  const heartbeats = new Map<string, Heartbeat>();
  const observe = (name: string, sign: { node: string } | { lease: string }) => {
    const known = heartbeats.get(name) ?? { node: "", lease: "", at: Number.NEGATIVE_INFINITY };
    const next = { ...known, ...sign };
    const isNews = known.at === Number.NEGATIVE_INFINITY || next.node !== known.node || next.lease !== known.lease;
    heartbeats.set(name, { ...next, at: isNews ? clock.monotonic() : known.at });
  };
  return {
    observeNode(node) {
      const { uid = "", name = "" } = node.metadata ?? {};
      // Our own writes keep the time of the last heartbeat.
      observe(name, { node: `${uid}/${nodeCondition(node, "Ready")?.lastHeartbeatTime ?? ""}` });
    },
    observeLease({ metadata, spec }) {
      observe(metadata?.name ?? "", { lease: `${metadata?.uid ?? ""}/${spec?.renewTime ?? ""}` });
    },
    forget: (name) => heartbeats.delete(name),
    remainingMs(name, graceMs) {
      const { at = clock.monotonic() } = heartbeats.get(name) ?? {};
      return at + graceMs - clock.monotonic();
    },
    restart(name) {
      for (const [key, heartbeat] of heartbeats)
        if (name === undefined || name === key) heartbeat.at = clock.monotonic();
    },
  };
}
