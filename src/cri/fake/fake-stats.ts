import { ContainerStats, type ContainerStatsFilter } from "../gen/cri-v1.ts";
import type { RuntimeService } from "../port.ts";
import { type Handlers, matchesLabels, nanoseconds, notFound } from "./fake-answers.ts";
import type { FakeContainer, FakeState } from "./fake-state.ts";

const SNAPSHOTS = "/var/lib/containerd/io.containerd.snapshotter.v1.overlayfs";

/** The RPCs of RuntimeService that report what containers use; the fake reports their use of the disk only. */
export function createStatsHandlers(state: FakeState): Handlers<RuntimeService> {
  return {
    containerStats({ containerId }) {
      const container = state.containers.get(containerId);
      if (container === undefined) throw notFound("container", containerId);
      return { stats: describeStats(state, container) };
    },
    listContainerStats: ({ filter }) => ({
      stats: [...state.containers.values()]
        .filter((container) => matches(container, filter))
        .map((container) => describeStats(state, container)),
    }),
  };
}

function matches(container: FakeContainer, filter: ContainerStatsFilter | undefined): boolean {
  if (filter?.id && !container.id.startsWith(filter.id)) return false;
  if (filter?.podSandboxId && container.sandboxId !== filter.podSandboxId) return false;
  return matchesLabels(container.config.labels, filter?.labelSelector);
}

function describeStats({ clock }: FakeState, { id, config, writableLayerBytes }: FakeContainer): ContainerStats {
  const { metadata, labels, annotations } = config;
  return ContainerStats.fromPartial({
    attributes: { id, metadata: metadata ?? {}, labels, annotations },
    writableLayer: {
      timestamp: nanoseconds(clock.now()),
      fsId: { mountpoint: SNAPSHOTS },
      usedBytes: { value: BigInt(writableLayerBytes) },
      inodesUsed: { value: 1n },
    },
  });
}
