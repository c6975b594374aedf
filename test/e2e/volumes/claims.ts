import type { VolumeNode } from "./volume-node.ts";

/** A volume and the claim that it is for, both of one name. */
export interface ClaimedVolume {
  name: string;
  /** The kind of the volume: `{ hostPath: { path } }`. */
  source: object;
  accessMode?: string;
  volumeMode?: "Filesystem" | "Block";
  /** More fields of the persistent volume's spec. */
  volume?: object;
  /** The annotations of the persistent volume. */
  annotations?: Readonly<Record<string, string>>;
}

const CLASS = "by-hand";
const VOLUMES = "/api/v1/persistentvolumes";
const CLAIMS = "/api/v1/namespaces/default/persistentvolumeclaims";

/** A persistent volume on this node. */
export function persistentVolume(claimed: ClaimedVolume): object {
  const { name, source, accessMode, volumeMode, volume, annotations } = claimed;
  return {
    apiVersion: "v1",
    kind: "PersistentVolume",
    metadata: { name, ...(annotations && { annotations }) },
    spec: {
      capacity: { storage: "16Mi" },
      accessModes: [accessMode ?? "ReadWriteOnce"],
      volumeMode: volumeMode ?? "Filesystem",
      persistentVolumeReclaimPolicy: "Retain",
      storageClassName: CLASS,
      ...source,
      ...volume,
    },
  };
}

export function claim({ name, accessMode, volumeMode }: Omit<ClaimedVolume, "source">, more: object = {}): object {
  return {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name, namespace: "default", ...more },
    spec: {
      accessModes: [accessMode ?? "ReadWriteOnce"],
      volumeMode: volumeMode ?? "Filesystem",
      storageClassName: CLASS,
      resources: { requests: { storage: "16Mi" } },
      volumeName: name,
    },
  };
}

/** Where the node of the tests is. */
export const ON_THIS_NODE = onNode("e2e");

export function onNode(name: string): object {
  const matchExpressions = [{ key: "kubernetes.io/hostname", operator: "In", values: [name] }];
  return { nodeAffinity: { required: { nodeSelectorTerms: [{ matchExpressions }] } } };
}

/** Creates both and binds them, as a controller or an administrator does. */
export async function createClaimed(world: Pick<VolumeNode, "api">, claimed: ClaimedVolume): Promise<void> {
  await world.api.object("POST", VOLUMES, persistentVolume(claimed));
  await world.api.object("POST", CLAIMS, claim(claimed));
  await bind(world, claimed.name);
}

/** Binds a claim and the volume of the same name, whether or not the control plane does. */
export async function bind(world: Pick<VolumeNode, "api">, name: string, claimName = name): Promise<void> {
  const { metadata } = await world.api.object("GET", `${CLAIMS}/${claimName}`);
  const claimRef = {
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    namespace: "default",
    name: claimName,
    uid: metadata.uid,
  };
  const annotations = { "pv.kubernetes.io/bind-completed": "yes" };
  const patch = async (path: string, body: object) => {
    const answer = await world.api.patch("merge", path, body);
    if (answer.status !== 200) throw new Error(`binding ${name}: ${JSON.stringify(answer.body)}`);
  };
  await patch(`${VOLUMES}/${name}`, { spec: { claimRef } });
  await patch(`${VOLUMES}/${name}/status`, { status: { phase: "Bound" } });
  await patch(`${CLAIMS}/${claimName}`, { metadata: { annotations }, spec: { volumeName: name } });
  await patch(`${CLAIMS}/${claimName}/status`, {
    status: { phase: "Bound", accessModes: ["ReadWriteOnce"], capacity: { storage: "16Mi" } },
  });
}

/** Deletes the claim and its volume, which no pod may use. */
export async function removeClaimed(world: Pick<VolumeNode, "api">, name: string): Promise<void> {
  for (const path of [`${CLAIMS}/${name}`, `${VOLUMES}/${name}`]) await world.api.json("DELETE", path);
}

/** A pod's volume of that claim. */
export function ofClaim(claimName: string, readOnly = false): object {
  return { persistentVolumeClaim: { claimName, readOnly } };
}
