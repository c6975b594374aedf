import type { Part } from "../../base/run-parts.ts";
import { createPodRecorder } from "../cluster/events/record-pod.ts";
import type { VolumeSources } from "../storage/volumes/api/volume-sources.ts";
import { createDiskPlugin, type DiskCluster, type DiskPlugin } from "../storage/volumes/disks/disk-plugin.ts";
import { createFcKind } from "../storage/volumes/disks/fc/fc-kind.ts";
import { createIscsiKind } from "../storage/volumes/disks/iscsi/iscsi-kind.ts";
import type { Storage } from "../storage/volumes/guarded-storage.ts";
import type { ClusterParts } from "./cluster.ts";
import type { Foundation } from "./foundation.ts";

/** The disks that the node reaches by itself. */
interface DiskParts {
  readonly plugins: readonly DiskPlugin[];
  readonly parts: readonly Part[];
}

interface DiskNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly secret: VolumeSources["secret"];
  readonly storage: Storage;
}

/** Builds the plugins of disks of iSCSI targets and of Fibre Channel. */
export function composeDisks(
  { ports, config, timeline }: Foundation,
  { cluster, secret, storage }: DiskNeighbours,
): DiskParts {
  const { host, log } = ports;
  const deps = {
    ...storage,
    clock: host.clock,
    programs: host.programs,
    log,
    secret,
    tell: createPodRecorder(timeline),
    cluster: cluster && diskCluster(cluster),
  };
  const options = {
    rootDirectory: config.rootDirectory,
    enableControllerAttachDetach: config.kubelet.enableControllerAttachDetach ?? true,
  };
  const plugins = [createIscsiKind(deps), createFcKind(deps)].map((kind) =>
    createDiskPlugin({ ...deps, kind }, options),
  );
  return { plugins, parts: plugins.map(({ name, run }) => ({ name: `disks of ${name}`, run })) };
}

function diskCluster({ csi, ownNodeClient }: ClusterParts): DiskCluster {
  return { reportInUse: csi.reportedVolumes.report, volumesAttached: ownNodeClient.readVolumesAttached };
}
