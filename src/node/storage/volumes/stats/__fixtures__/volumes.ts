import type { PersistentVolumeSpec, Pod } from "../../../../../api/gen/types.ts";
import type { Metrics } from "../../../../../base/metrics.ts";
import type { ReadyVolume, VolumeSource } from "../../volume-plugin.ts";
import type { NodeVolume } from "../node-volumes.ts";

/** The pod `shop/<uid>`. */
export function podOf(uid: string): Pod {
  return { metadata: { uid, name: uid, namespace: "shop" } };
}

/** The persistent volume `pv-NAME` of the claim `shop/NAME`. */
export function claimed(name: string, spec: PersistentVolumeSpec = { local: { path: "/data" } }): VolumeSource {
  return {
    kind: "persistent",
    persistentVolume: { metadata: { name: `pv-${name}` }, spec },
    claim: { metadata: { name, namespace: "shop" } },
    readOnly: false,
  };
}

export function csi(driver: string): PersistentVolumeSpec {
  return { csi: { driver, volumeHandle: "handle" } };
}

export function files(hostPath: string): ReadyVolume {
  return { kind: "files", hostPath, readOnly: false, relabel: false };
}

/** The volume `data` of a claim of that name, brought by `kubernetes.io/fake`. */
export function volumeOf(pod: Pod, changes: Partial<NodeVolume> = {}): Omit<NodeVolume, "ready"> {
  return { pod, volumeName: "data", source: claimed("data"), pluginName: "kubernetes.io/fake", ...changes };
}

/** The samples of one series, without its buckets and sums. */
export async function samplesOf(metrics: Metrics, name: string): Promise<string[]> {
  const lines = (await metrics.render()).split("\n");
  return lines.filter((line) => line.startsWith(name) && !/_(bucket|sum)\{/.test(line)).sort();
}
