import { createPodRecorder } from "../cluster/events/record-pod.ts";
import { requireAttachment } from "../cluster/refs/require-attachment.ts";
import type { VolumeSources } from "../storage/volumes/api/volume-sources.ts";
import { type CsiPlugin, createCsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import type { CsiObjects } from "../storage/volumes/csi/csi-ports.ts";
import type { Storage } from "../storage/volumes/guarded-storage.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";
import { composeVolumeSecrets } from "./volume-secrets.ts";

interface CsiPluginNeighbours {
  readonly cluster: ClusterParts;
  readonly sources: VolumeSources;
  readonly storage: Storage;
}

/** Builds the plugin of volumes that storage drivers bring. */
export function composeCsiPlugin(
  { ports, config, timeline, facts }: Foundation,
  { cluster, sources, storage }: CsiPluginNeighbours,
): CsiPlugin {
  const { nodeName, rootDirectory, kubelet, featureGates } = config;
  return createCsiPlugin(
    {
      objects: composeCsiObjects(cluster, sources),
      drivers: cluster.csi.drivers,
      ...storage,
      clock: ports.host.clock,
      inUse: cluster.csi.reportedVolumes,
      onEvent: createPodRecorder(timeline),
      log: ports.log,
    },
    {
      rootDirectory,
      nodeName,
      enableControllerAttachDetach: kubelet.enableControllerAttachDetach ?? true,
      seLinuxEnabled: facts.seLinuxEnabled,
      seLinuxMount: featureGates["SELinuxMount"],
      volumeHealth: featureGates["CSIVolumeHealth"],
    },
  );
}

/** What the plugin reads and writes at the API server. */
function composeCsiObjects(cluster: ClusterParts, sources: VolumeSources): CsiObjects {
  const { refs, csi, ownNodeClient } = cluster;
  const { claims } = refs;
  const { attachments } = claims;
  return {
    ...sources,
    secret: composeVolumeSecrets(cluster),
    async csiDriver(name, signal) {
      await csi.driverObjects.waitForSync(signal);
      return csi.driverObjects.get(name);
    },
    volumeAttachment: async (name, signal) => await requireAttachment(attachments, name, signal),
    createVolumeAttachment: attachments.create,
    deleteVolumeAttachment: attachments.delete,
    nodeVolumesAttached: ownNodeClient.readVolumesAttached,
    updateClaimStatus: async (claim, status, signal) => await claims.updateClaimStatus({ claim, status }, signal),
  };
}
