import { RESOURCE_CLAIMS } from "../../api/kube-resource.ts";
import { podUid } from "../../api/pods.ts";
import { SECOND } from "../../base/clock.ts";
import type { Part } from "../../base/run-parts.ts";
import { listLivePods } from "../pods/workers/live-pods.ts";
import type { PodWorkers } from "../pods/workers/pod-workers.ts";
import { createNodeDeviceClaims, type NodeDeviceClaims } from "../resources/device-claims/node-device-claims.ts";
import { createSliceWipe } from "../resources/device-claims/wipe-slices.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";
import type { SourceParts } from "./sources.ts";

const CLAIM_TIMEOUT_MS = 10 * SECOND;

interface DeviceClaimNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly sources: SourceParts;
}

/** Reads the account of claims that is on the disk. Undefined without an API server: no pod of a file has claims. */
export async function composeDeviceClaims(
  { ports, config, inbox }: Foundation,
  { cluster, sources }: DeviceClaimNeighbours,
): Promise<NodeDeviceClaims | undefined> {
  if (cluster === undefined) return undefined;
  const { host, log, metrics, plugins } = ports;
  const { clock, files } = host;
  const { client } = cluster.kube;
  const { ResourceHealthStatus: tellsHealth, ResourceHealthStatusMessage: tellsMessages } = config.featureGates;
  return await createNodeDeviceClaims(
    {
      clock,
      files,
      log,
      metrics,
      connect: plugins.connectDraPlugin,
      statusOf: (uid) => sources.desired.byUid(uid)?.status,
      readClaim: async (namespace, name, signal) =>
        await client.get(RESOURCE_CLAIMS, { namespace, name }, { signal, timeoutMs: CLAIM_TIMEOUT_MS }),
      wipeSlices: createSliceWipe({ client, clock, log }, config.nodeName),
      onPodChanged: inbox.offerReferenced,
    },
    { directory: config.rootDirectory, tellsHealth, tellsMessages },
  );
}

/** What goes on besides the work on single pods. */
export function deviceClaimParts(
  deviceClaims: NodeDeviceClaims | undefined,
  { sources, workers }: { readonly sources: SourceParts; readonly workers: PodWorkers },
): readonly Part[] {
  const { desired } = sources;
  const activePods = () =>
    desired.allReady() ? [...desired.pods(), ...listLivePods(workers.states())].map(podUid) : undefined;
  return deviceClaims?.parts({ activePods }) ?? [];
}
