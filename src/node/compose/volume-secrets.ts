import { SECRETS } from "../../api/kube-resource.ts";
import { SECOND } from "../../base/clock.ts";
import type { VolumeSources } from "../storage/volumes/api/volume-sources.ts";
import type { ClusterParts } from "./cluster.ts";

const SECRET_TIMEOUT_MS = 10 * SECOND;

/** Reads secrets that volumes name and pods do not: those that pods share by watches are not these. */
export function composeVolumeSecrets({ kube }: ClusterParts): VolumeSources["secret"] {
  return async (namespace, name, signal) =>
    await kube.client.get(SECRETS, { namespace, name }, { signal, timeoutMs: SECRET_TIMEOUT_MS });
}
