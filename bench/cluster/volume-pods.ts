import { type Manifest, mountingPod } from "../workload.ts";
import type { Api } from "./cluster-case.ts";
import { deleteObject, putObject } from "./pods.ts";

const CONFIG_MAP = "volumes-settings";
const SECRET = "volumes-credentials";

/** Makes what the pods with volumes mount, for the time of `work`. */
export async function withVolumeObjects<T>({ connection }: Api, work: () => Promise<T>): Promise<T> {
  const data = { "app.conf": "a=1\n".repeat(100), mode: "fast" };
  await putObject(connection, "ConfigMap", { name: CONFIG_MAP, data });
  await putObject(connection, "Secret", { name: SECRET, data: { password: Buffer.from("s3cr3t").toString("base64") } });
  try {
    return await work();
  } finally {
    await deleteObject(connection, "ConfigMap", CONFIG_MAP);
    await deleteObject(connection, "Secret", SECRET);
  }
}

/** A config map, a secret, and the token that every pod gets. */
export function podWithVolumes(name: string): Manifest {
  return mountingPod(name, {
    settings: { configMap: { name: CONFIG_MAP } },
    private: { secret: { secretName: SECRET } },
  });
}

/** The same without a volume, a token neither. */
export function podWithoutVolumes(name: string): Manifest {
  return mountingPod(name, {}, { automountServiceAccountToken: false });
}
