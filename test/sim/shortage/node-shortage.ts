import type { Pod } from "../../../src/api/gen/types.ts";
import { podUid } from "../../../src/api/pods.ts";
import type { FakeCri } from "../../../src/cri/fake/create-fake-cri.ts";
import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import type { FakeHost } from "../../../src/host/fake/create-fake-host.ts";
import type { ApiPods } from "../api/api-pods.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import { short, type Trace } from "../trace.ts";

/** Containers that take the node's memory, as the kernel counts it. */
export interface MemoryShortage {
  readonly dice: Dice;
  /** A container of a pod of the API takes so much that less is left than the node agent's threshold asks for. */
  grow(): void;
  /** What a container has is counted from its start to its end. */
  occurred(occurrence: FakeOccurrence): void;
  /** Less is left than the threshold, or was at most so long ago. */
  wasShort(withinMs: number): boolean;
  /** By UID, in bytes, of what runs now. */
  usedBy(uid: string): number;
  /** Whom the node agent has ended for it, now or before it was started anew; and whom it has refused, by UID. */
  readonly evicted: Set<string>;
  readonly refused: Set<string>;
}

interface MemoryShortageDeps {
  host: FakeHost;
  cri: FakeCri;
  pods: ApiPods;
  faults: Faults;
  trace: Trace;
  dice: Dice;
}

const MEBIBYTE = 1024 ** 2;
const ORDINARY_BYTES = 8 * MEBIBYTE;
/** The default of `memory.available`. */
const THRESHOLD_BYTES = 100 * MEBIBYTE;
/** What the machine uses without its pods. */
const SYSTEM_BYTES = 512 * MEBIBYTE;

interface Use {
  readonly podUid: string;
  bytes: number;
}

export function createMemoryShortage({ host, cri, pods, faults, trace, dice }: MemoryShortageDeps): MemoryShortage {
  const { clock, cgroups, machine } = host;
  const uses = new Map<string, Use>();
  const capacity = Number(machine.facts.memoryCapacityBytes);
  let shortSince: number | undefined;
  let shortUntil = Number.NEGATIVE_INFINITY;

  const pathOf = (id: string) => `/sim/${id}`;
  const left = () => capacity - SYSTEM_BYTES - [...uses.values()].reduce((sum, { bytes }) => sum + bytes, 0);
  const count = (id: string, use: Use | undefined) => {
    if (use === undefined) {
      uses.delete(id);
      cgroups.delete(pathOf(id));
    } else {
      uses.set(id, use);
      cgroups.set(pathOf(id), { memory: { usage: use.bytes, workingSet: use.bytes } });
    }
    cgroups.set("/", { memory: { usage: capacity - left(), workingSet: capacity - left() } });
    const isShort = left() < THRESHOLD_BYTES;
    if (isShort) shortSince ??= clock.monotonic();
    else if (shortSince !== undefined) {
      shortSince = undefined;
      shortUntil = clock.monotonic();
    }
  };

  return {
    dice,
    grow() {
      const bound = new Map<string, Pod>(pods.bound().map((pod) => [podUid(pod), pod]));
      const running = new Set(cri.runningContainers().map(({ id }) => id));
      const candidates = [...uses].filter(([id, { podUid: uid }]) => running.has(id) && bound.has(uid));
      const chosen = dice.pickAny(candidates);
      if (chosen === undefined || left() < THRESHOLD_BYTES) return;
      const [id, use] = chosen;
      const bytes = use.bytes + left() - dice.whole(0, 99) * MEBIBYTE;
      faults.count("memory goes");
      trace.note(`container ${short(id)} of pod ${short(use.podUid)} takes ${bytes} bytes of memory`);
      count(id, { podUid: use.podUid, bytes });
    },
    occurred({ what, id, podUid: uid }) {
      if (what === "container-started") count(id, { podUid: uid, bytes: ORDINARY_BYTES });
      if (what === "container-exited" || what === "container-removed") count(id, undefined);
    },
    wasShort: (withinMs) => shortSince !== undefined || clock.monotonic() - shortUntil <= withinMs,
    usedBy: (uid) => [...uses.values()].reduce((sum, use) => (use.podUid === uid ? sum + use.bytes : sum), 0),
    evicted: new Set(),
    refused: new Set(),
  };
}
