import type { Pod } from "../../../src/api/gen/types.ts";
import { podReference, podUid } from "../../../src/api/pods.ts";
import type { FakeContainer } from "../../../src/cri/fake/fake-state.ts";
import type { Dice } from "../dice.ts";
import { short } from "../trace.ts";
import type { TroubleDeps } from "../trouble-deps.ts";
import { GROWTH_BYTES, type GrownBytes, giveLimits, listVerdicts, ownVolumeOf } from "./limited-pods.ts";

/** Containers that fill the node's disk, and what of it the node agent must and must not answer with an eviction. */
export interface StorageGrowth {
  readonly dice: Dice;
  /** Some pods get limits. */
  dress(pod: Pod): Pod;
  /** A container that runs writes to its volume, its layer or its log. */
  grow(): void;
  /** Whether the pod has ever grown so much that it may be evicted in these words. */
  explains(uid: string, message: string): boolean;
  /** In which words the pod must be evicted, as it is now; empty for one that may stay. */
  overdue(pod: Pod): Promise<string[]>;
  /** The node agent said so, now or before it was started anew. */
  readonly evicted: Set<string>;
  /** An eviction has begun: now and then the node agent is killed in the midst of it. */
  evicting(crash: (why: string, restartAfterMs: number) => void): void;
  /** The chaos is over. */
  end(): void;
}

interface Growth {
  readonly place: "volume" | "layer" | "log";
  readonly container: string;
  readonly containerId: string;
  readonly bytes: number;
  /** Where it is, for growth that is a file here. */
  readonly path: string;
}

const POD_DIRECTORIES = "/var/lib/kubelet/pods";
const LOG_DIRECTORIES = "/var/log/pods";
/** Where the runtime says that it keeps layers: on the same disk. */
const LAYERS = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs";
const SHRINK_CHANCE = 0.2;
const CRASH_CHANCE = 0.35;
const LONGEST_STOP_MS = 3_000;

export function createStorageGrowth(deps: TroubleDeps): StorageGrowth {
  const { host, cri, pods, faults, trace, dice } = deps;
  const { clock, files } = host;
  const grown = new Map<string, Growth[]>();
  const evicted = new Set<string>();
  let isOver = false;
  let count = 0;
  files.put(`${LAYERS}/.keep`, "");

  const listRunning = (uid: string): ReadonlyArray<Readonly<FakeContainer>> => {
    const own = cri.sandboxes().filter(({ state, config }) => state === "ready" && config.metadata?.uid === uid);
    return cri.runningContainers().filter(({ sandboxId }) => own.some(({ id }) => id === sandboxId));
  };

  const pathOf = (pod: Pod, place: Growth["place"], container: string): string => {
    const { namespace, name, uid } = podReference(pod);
    const volume = `${POD_DIRECTORIES}/${uid}/volumes/kubernetes.io~empty-dir/${ownVolumeOf(pod)?.name}`;
    const logs = `${LOG_DIRECTORIES}/${namespace}_${name}_${uid}/${container}`;
    return place === "layer" ? "" : `${place === "volume" ? volume : logs}/grown-${++count}`;
  };

  const shrink = ({ path }: Growth) => {
    if (files.text(path) === undefined) return;
    trace.note(`${path} is removed by its container`);
    files.delete(path);
  };

  const writeGrowth = (pod: Pod, container: Readonly<FakeContainer>) => {
    const places = ["layer", "log", ...(ownVolumeOf(pod) ? (["volume", "volume"] as const) : [])] as const;
    const place = dice.pickAny(places) ?? "layer";
    const name = container.config.metadata?.name ?? "";
    const path = pathOf(pod, place, name);
    const growth: Growth = { place, container: name, containerId: container.id, bytes: dice.pick(GROWTH_BYTES), path };
    faults.count(`storage grows: ${place}`);
    trace.note(`the ${place} of ${pod.metadata?.name}/${name} of pod ${short(podUid(pod))} grows by ${growth.bytes}`);
    if (place === "layer") cri.setWritableLayer(container.id, container.writableLayerBytes + growth.bytes);
    else files.put(path, Buffer.alloc(growth.bytes));
    grown.set(podUid(pod), [...(grown.get(podUid(pod)) ?? []), growth]);
    if (place !== "layer" && dice.chance(SHRINK_CHANCE)) clock.setTimer(dice.between(0, 20_000), () => shrink(growth));
  };

  /** What there is now. Layers and logs count as long as their container runs. */
  const readGrown = async (pod: Pod): Promise<GrownBytes> => {
    const running = listRunning(podUid(pod));
    const present: Growth[] = [];
    for (const growth of grown.get(podUid(pod)) ?? []) {
      const isThere = growth.place === "layer" || (await files.stat(growth.path)) !== undefined;
      const counts =
        growth.place === "volume" ||
        running.some(({ id, config }) =>
          growth.place === "layer" ? id === growth.containerId : config.metadata?.name === growth.container,
        );
      if (isThere && counts) present.push(growth);
    }
    return sumGrowths(present);
  };

  return {
    dice,
    dress: (pod) => giveLimits(dice, pod),
    grow() {
      const candidates = pods
        .bound()
        .flatMap((pod) => listRunning(podUid(pod)).map((container) => ({ pod, container })));
      const chosen = dice.pickAny(candidates);
      if (chosen !== undefined) writeGrowth(chosen.pod, chosen.container);
    },
    explains(uid, message) {
      const pod = pods.pod(uid);
      return pod !== undefined && listVerdicts(pod, sumGrowths(grown.get(uid) ?? [])).includes(message);
    },
    overdue: async (pod) => listVerdicts(pod, await readGrown(pod), 0),
    evicted,
    evicting(crash) {
      if (isOver || !dice.chance(CRASH_CHANCE)) return;
      const restartAfterMs = dice.between(0, 8_000);
      const afterMs = dice.pick([0, dice.between(0, 100), dice.between(0, LONGEST_STOP_MS)]);
      clock.setTimer(afterMs, () => {
        if (!isOver) crash("in the midst of an eviction", restartAfterMs);
      });
    },
    end() {
      isOver = true;
    },
  };
}

function sumGrowths(growths: readonly Growth[]): GrownBytes {
  const containers = new Map<string, number>();
  let volume = 0;
  for (const { place, container, bytes } of growths) {
    if (place === "volume") volume += bytes;
    else containers.set(container, (containers.get(container) ?? 0) + bytes);
  }
  return { volume, containers };
}
