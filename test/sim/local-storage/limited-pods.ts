import type { Container, Pod, Volume } from "../../../src/api/gen/types.ts";
import type { Dice } from "../dice.ts";

const KIBIBYTE = 1024;
/** The limit of one container and of one volume. A pod that has not grown uses far less. */
const LIMIT_BYTES = 512 * KIBIBYTE;
/** So much of it. */
const GROUND_BYTES = 200 * KIBIBYTE;
/** Below the limit of one, above it, and above that of three. */
export const GROWTH_BYTES = [128 * KIBIBYTE, 700 * KIBIBYTE, 2_048 * KIBIBYTE] as const;

/** What a pod has used, in bytes, beside what every pod does. */
export interface GrownBytes {
  /** In the volume that has a limit of its own. */
  readonly volume: number;
  /** Layers and logs, by container. */
  readonly containers: ReadonlyMap<string, number>;
}

/** Some pods get limits of what they use of the node's disk: their containers, their volume, or both. */
export function giveLimits(dice: Dice, pod: Pod): Pod {
  const { spec } = pod;
  const shares = dice.pick([
    { container: 0, volume: 0 },
    { container: 0.8, volume: 0 },
    { container: 1, volume: 0.5 },
    { container: 0, volume: 1 },
  ]);
  if (spec === undefined) return pod;
  // A request of it is no part of this: the node has to have room for it.
  const resources = {
    limits: { "ephemeral-storage": formatBytes(LIMIT_BYTES) },
    requests: { "ephemeral-storage": "0" },
  };
  const limitContainer = (container: Container) =>
    dice.chance(shares.container) ? { ...container, resources } : container;
  const limitVolume = ({ emptyDir, ...volume }: Volume): Volume => {
    if (emptyDir === undefined) return volume;
    return {
      ...volume,
      emptyDir: dice.chance(shares.volume)
        ? { ...emptyDir, sizeLimit: resources.limits["ephemeral-storage"] }
        : emptyDir,
    };
  };
  return {
    ...pod,
    spec: {
      ...spec,
      containers: spec.containers.map(limitContainer),
      ...(spec.volumes && { volumes: spec.volumes.map(limitVolume) }),
    },
  };
}

/** The volume of the pod's own, which may be in memory. */
export function ownVolumeOf({ spec }: Pod): Volume | undefined {
  return spec?.volumes?.find(({ emptyDir }) => emptyDir !== undefined);
}

/** In which words the pod may be evicted that has grown so much, in upstream's. */
export function listVerdicts(pod: Pod, grown: GrownBytes, groundBytes = GROUND_BYTES): string[] {
  const volume = ownVolumeOf(pod);
  const limited = (pod.spec?.containers ?? []).filter(({ resources }) => resources?.limits?.["ephemeral-storage"]);
  const podLimit = limited.length * LIMIT_BYTES;
  const onDisk = volume?.emptyDir?.medium === "Memory" ? 0 : grown.volume;
  const total = [...grown.containers.values()].reduce((sum, bytes) => sum + bytes, onDisk);
  const isAbove = (bytes: number, limit: number) => bytes + groundBytes > limit;
  const one = JSON.stringify(formatBytes(LIMIT_BYTES));
  const greedy = limited.filter(({ name }) => isAbove(grown.containers.get(name) ?? 0, LIMIT_BYTES));
  return [
    ...(volume?.emptyDir?.sizeLimit !== undefined && isAbove(grown.volume, LIMIT_BYTES)
      ? [`Usage of EmptyDir volume ${JSON.stringify(volume.name)} exceeds the limit ${one}. `]
      : []),
    ...(limited.length > 0 && isAbove(total, podLimit)
      ? [`Pod ephemeral local storage usage exceeds the total limit of containers ${formatBytes(podLimit)}. `]
      : []),
    ...greedy.map(({ name }) => `Container ${name} exceeded its local ephemeral storage limit ${one}. `),
  ];
}

function formatBytes(bytes: number): string {
  const kibibytes = bytes / KIBIBYTE;
  return kibibytes % KIBIBYTE === 0 ? `${kibibytes / KIBIBYTE}Mi` : `${kibibytes}Ki`;
}
