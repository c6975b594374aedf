import { cloudDriverOf } from "../../../../api/cloud-volumes.ts";
import type { Pod } from "../../../../api/gen/types.ts";
import type { ReadyVolume, VolumeSource } from "../volume-plugin.ts";

/** A volume that a pod of this node has or waits for. */
export interface NodeVolume {
  readonly pod: Pod;
  /** The volume's name in the pod. */
  readonly volumeName: string;
  readonly source: VolumeSource;
  /** The plugin that brings the volume: `kubernetes.io/nfs`. */
  readonly pluginName: string;
  /** Undefined until it has been set up. */
  readonly ready: ReadyVolume | undefined;
}

/**
 * The volumes that are wanted for pods, and which of them are ready; upstream's volume manager calls these its desired and
 * its actual state of the world. It is learned from the set-ups themselves, which a restart repeats.
 */
export interface NodeVolumes {
  all(): Iterable<NodeVolume>;
  ofPod(podUid: string): Iterable<NodeVolume>;
  /** The listener is called when the pod got a volume, and when it lost one; returns how to stop that. */
  subscribe(listener: (podUid: string) => void): () => void;
}

/** The side of `NodeVolumes` that set-ups and tear-downs write to. */
export interface NodeVolumesWriter extends NodeVolumes {
  /** The pod shall get the volume. Where the volume is ready already, its pod and source are updated. */
  want(podUid: string, volume: Omit<NodeVolume, "ready">): NodeVolume;
  /** The volume may be used now. Nothing happens where the pod has been forgotten meanwhile. */
  settle(podUid: string, volumeName: string, ready: ReadyVolume): void;
  /** The plugin's volumes of the pod are about to be torn down; returns them. */
  forget(podUid: string, pluginName: string): readonly NodeVolume[];
}

export function createNodeVolumes(): NodeVolumesWriter {
  const pods = new Map<string, Map<string, NodeVolume>>();
  const listeners = new Set<(podUid: string) => void>();
  const tell = (podUid: string) => {
    for (const listener of listeners) listener(podUid);
  };

  return {
    *all() {
      for (const volumes of pods.values()) yield* volumes.values();
    },
    ofPod: (podUid) => pods.get(podUid)?.values() ?? [],
    want(podUid, volume) {
      const volumes = pods.get(podUid) ?? new Map<string, NodeVolume>();
      const wanted = { ...volume, ready: volumes.get(volume.volumeName)?.ready };
      pods.set(podUid, volumes.set(volume.volumeName, wanted));
      return wanted;
    },
    settle(podUid, volumeName, ready) {
      const volumes = pods.get(podUid);
      const wanted = volumes?.get(volumeName);
      if (volumes === undefined || wanted === undefined) return;
      volumes.set(volumeName, { ...wanted, ready });
      if (wanted.ready === undefined) tell(podUid);
    },
    forget(podUid, pluginName) {
      const volumes = pods.get(podUid) ?? new Map<string, NodeVolume>();
      const gone = [...volumes.values()].filter((volume) => volume.pluginName === pluginName);
      for (const { volumeName } of gone) volumes.delete(volumeName);
      if (volumes.size === 0) pods.delete(podUid);
      if (gone.length > 0) tell(podUid);
      return gone;
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** The CSI driver of a volume; undefined where it has none. */
export function csiDriverOf(source: VolumeSource): string | undefined {
  const sources = source.kind === "pod" ? source.volume : (source.persistentVolume.spec ?? {});
  return sources.csi?.driver ?? cloudDriverOf(sources);
}

/**
 * The plugin's name in the labels of metrics, which includes the storage driver where there is one. It follows upstream's
 * `GetFullQualifiedPluginNameForVolume` (pkg/volume/util/metrics.go).
 */
export function metricPluginName({ pluginName, source }: Pick<NodeVolume, "pluginName" | "source">): string {
  const driver = csiDriverOf(source);
  return driver === undefined ? pluginName : `${pluginName}:${driver}`;
}
