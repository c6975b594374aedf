import type { Pod } from "../../../src/api/gen/types.ts";
import { podUid } from "../../../src/api/pods.ts";
import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import type { Dice } from "../dice.ts";
import { short } from "../trace.ts";
import type { TroubleDeps } from "../trouble-deps.ts";
import { createScarceResource, type ScarceName, type ScarceResource } from "./scarce-resource.ts";

/** Containers that take more of one of the node's resources than there is for all. */
export interface NodeShortage {
  readonly dice: Dice;
  readonly resource: Pick<ScarceResource, "name" | "words" | "condition">;
  /** A container of a pod of the API takes so much that less is left than the node agent's threshold asks for. */
  grow(): void;
  /** What a container has is counted from its start to its end, or to its removal. */
  occurred(occurrence: FakeOccurrence): void;
  /** Less is left than the threshold, or was at most so long ago. */
  wasShort(withinMs: number): boolean;
  /** By UID, what the containers have that run now. */
  usedBy(uid: string): number;
  /** Whom the node agent has ended for it, now or before it was started anew; and whom it has refused, by UID. */
  readonly evicted: Set<string>;
  readonly refused: Set<string>;
}

interface Use {
  readonly podUid: string;
  readonly amount: number;
  readonly isRunning: boolean;
}

export function createNodeShortage(name: ScarceName, deps: TroubleDeps): NodeShortage {
  const { host, cri, pods, faults, trace, dice } = deps;
  const { clock } = host;
  const resource = createScarceResource(name, host, cri);
  const uses = new Map<string, Use>();
  let shortSince: number | undefined;
  let shortUntil = Number.NEGATIVE_INFINITY;

  const left = () =>
    resource.capacity - resource.system - [...uses.values()].reduce((sum, { amount }) => sum + amount, 0);
  const count = (id: string, use: Use | undefined) => {
    if (use === undefined) uses.delete(id);
    else uses.set(id, use);
    resource.show(id, use?.amount);
    resource.showLeft(left());
    const isShort = left() < resource.threshold;
    if (isShort) shortSince ??= clock.monotonic();
    else if (shortSince !== undefined) {
      shortSince = undefined;
      shortUntil = clock.monotonic();
    }
  };

  return {
    dice,
    resource,
    grow() {
      const bound = new Map<string, Pod>(pods.bound().map((pod) => [podUid(pod), pod]));
      const running = new Set(cri.runningContainers().map(({ id }) => id));
      const candidates = [...uses].filter(([id, { podUid: uid }]) => running.has(id) && bound.has(uid));
      const chosen = dice.pickAny(candidates);
      if (chosen === undefined || left() < resource.threshold) return;
      const [id, use] = chosen;
      const spared = Math.floor((dice.whole(0, 99) * resource.threshold) / 100);
      const amount = use.amount + left() - spared;
      faults.count(`${name} goes`);
      trace.note(`container ${short(id)} of pod ${short(use.podUid)} takes ${amount} of ${name}`);
      count(id, { ...use, amount });
    },
    occurred({ what, id, podUid: uid }) {
      if (what === "container-started") count(id, { podUid: uid, amount: resource.ordinary, isRunning: true });
      const use = uses.get(id);
      if (what === "container-exited" && resource.outlivesProcess && use !== undefined) {
        count(id, { ...use, isRunning: false });
      } else if (what === "container-exited" || what === "container-removed") count(id, undefined);
    },
    wasShort: (withinMs) => shortSince !== undefined || clock.monotonic() - shortUntil <= withinMs,
    usedBy: (uid) =>
      [...uses.values()].reduce((sum, use) => (use.podUid === uid && use.isRunning ? sum + use.amount : sum), 0),
    evicted: new Set(),
    refused: new Set(),
  };
}
