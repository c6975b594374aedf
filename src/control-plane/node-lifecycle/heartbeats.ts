import type { Lease, Node } from "../../api/gen/types.ts";
import type { Clock } from "../../base/clock.ts";
import { nodeCondition } from "./node-conditions.ts";

/**
 * When each node was last heard of, by our own clock and since we listen: a node owes us nothing for the time in which
 * nobody listened, and its clock may be wrong. Two things are signs of life: the Ready condition's heartbeat and the
 * renewal of the lease.
 */
export interface Heartbeats {
  observeNode(node: Node): void;
  observeLease(lease: Lease): void;
  forget(name: string): void;
  /** Milliseconds of the grace period that are left; negative when it is over. */
  remainingMs(name: string, graceMs: number): number;
  /** As if all had given a sign of life now; or one. */
  restart(name?: string): void;
}

interface Heartbeat {
  /** What was last seen of the node, and of its lease. */
  node: string;
  lease: string;
  at: number;
}

/** Nothing was heard of anybody. */
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
      // What we write ourselves keeps the time of the last heartbeat.
      observe(name, { node: `${uid}/${nodeCondition(node, "Ready")?.lastHeartbeatTime ?? ""}` });
    },
    observeLease({ metadata, spec }) {
      observe(metadata?.name ?? "", { lease: `${metadata?.uid ?? ""}/${spec?.renewTime ?? ""}` });
    },
    forget: (name) => void heartbeats.delete(name),
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
