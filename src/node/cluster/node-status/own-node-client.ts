import type { Node } from "../../../api/gen/types.ts";
import { NODES } from "../../../api/kube-resource.ts";
import { SECOND } from "../../../base/clock.ts";
import type { KubeClient } from "../../../kube/port.ts";

/** Reads the node's own object from the API server; each call rejects as the client's `get` does. */
export interface OwnNodeClient {
  /** Reads the node within ten seconds. */
  readNow(signal: AbortSignal): Promise<Node>;
  /** Reads the labels, which the API server may take from its cache. */
  readLabels(signal: AbortSignal): Promise<Readonly<Record<string, string>>>;
  /** Reads the names of the volumes that the status reports as attached; undefined where it has no volumes. */
  readVolumesAttached(signal: AbortSignal): Promise<readonly string[] | undefined>;
}

const READ_TIMEOUT_MS = 10 * SECOND;

export function createOwnNodeClient(client: Pick<KubeClient, "get">, nodeName: string): OwnNodeClient {
  const name = { namespace: "", name: nodeName };
  return {
    readNow: async (signal) => await client.get(NODES, name, { signal, timeoutMs: READ_TIMEOUT_MS }),
    async readLabels(signal) {
      const { metadata } = await client.get(NODES, name, { signal, resourceVersion: "0" });
      return metadata?.labels ?? {};
    },
    async readVolumesAttached(signal) {
      const { status } = await client.get(NODES, name, { signal });
      return status?.volumesAttached?.map((volume) => volume.name);
    },
  };
}
