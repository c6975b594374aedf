import { notFoundError } from "../../api/api-error.ts";
import type { Pod } from "../../api/gen/types.ts";
import { NODES, SECRETS } from "../../api/kube-resource.ts";
import { podReference } from "../../api/pods.ts";
import { SECOND } from "../../base/clock.ts";
import { createHangGuard, type HangGuard } from "../../base/hang-guard.ts";
import type { Part } from "../../base/run-parts.ts";
import type { Timeline } from "../../base/timeline.ts";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { limitVolumes } from "../storage/csi/limited-volumes.ts";
import { createApiVolumePlugins } from "../storage/volumes/api/api-volumes.ts";
import { createLoneSources } from "../storage/volumes/api/lone-sources.ts";
import { type CsiPlugin, createCsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import { guardStorage, type Storage } from "../storage/volumes/guarded-storage.ts";
import { createImageVolumePlugin } from "../storage/volumes/image/image-volume.ts";
import { createEmptyDirPlugin } from "../storage/volumes/local/empty-dir.ts";
import { createHostPathPlugin } from "../storage/volumes/local/host-path.ts";
import { createNfsPlugin } from "../storage/volumes/network/nfs-plugin.ts";
import { createRefusedPlugin } from "../storage/volumes/network/refused-volumes.ts";
import { createClaimedVolumes } from "../storage/volumes/persistent/claimed-volumes.ts";
import { createLocalPlugin } from "../storage/volumes/persistent/local-plugin.ts";
import { createPodVolumes, type PodVolumes } from "../storage/volumes/pod-volumes.ts";
import { createSubPaths, type SubPaths } from "../storage/volumes/subpaths/sub-paths.ts";
import { createVolumeDirectoryMaker } from "../storage/volumes/volume-directory-maker.ts";
import { volumeError } from "../storage/volumes/volume-error.ts";
import type { ClaimedVolumes, VolumePlugin } from "../storage/volumes/volume-plugin.ts";
import type { CsiParts } from "./csi.ts";
import type { KubePorts, NodeAgentPorts } from "./node-agent-ports.ts";
import type { RefParts } from "./refs.ts";
import { composeVolumeStats, type VolumeStatsParts } from "./volume-stats.ts";

const SECRET_TIMEOUT_MS = 10 * SECOND;
const ATTACHMENTS = { group: "storage.k8s.io", resource: "volumeattachments" };

/** All that pods get of volumes. */
export interface VolumeParts {
  volumes: PodVolumes;
  subPaths: SubPaths;
  /** Those that storage drivers bring; undefined on a standalone node. */
  csi: CsiPlugin | undefined;
  /** Knows of the calls that were given up on. */
  guard: Pick<HangGuard, "overdue">;
  statistics: Pick<VolumeStatsParts, "setGauges" | "volumes" | "reports">;
  parts: readonly Part[];
}

interface VolumePartsDeps {
  ports: NodeAgentPorts;
  timeline: Timeline;
  facts: NodeFacts;
  cluster: ClusterVolumeDeps | undefined;
}

/** What a node has that is one of a cluster. */
export interface ClusterVolumeDeps {
  kube: KubePorts;
  refs: RefParts;
  csi: CsiParts;
}

/** Builds a plugin for every kind of volume. */
export function composeVolumes(deps: VolumePartsDeps, config: NodeAgentConfig): VolumeParts {
  const { ports, timeline, facts, cluster } = deps;
  const { clock, files, mounts } = ports.host;
  const { rootDirectory } = config;
  const directoryMaker = createVolumeDirectoryMaker({ files, mounts });
  // Half of the places are left for our own files, whatever hangs.
  const guard = createHangGuard({ clock, maxHung: Math.floor(ports.host.machine.fileAccessPlaces() / 2) });
  const storage = guardStorage({ files, mounts }, guard);
  const subPaths = createSubPaths({ ...storage, log: ports.log }, { rootDirectory });
  const csi = cluster && composeCsiPlugin(deps, { ...cluster, storage }, config);
  const statistics = composeVolumeStats({ ports, timeline, csi }, config);
  const plugins: VolumePlugin[] = [
    createEmptyDirPlugin({ directoryMaker, allocatable: () => facts.allocatable }),
    createHostPathPlugin(storage),
    createLocalPlugin({ ...storage, clock, tell: tellPod(timeline) }, { rootDirectory }),
    createNfsPlugin({ files, mounts }),
    createImageVolumePlugin(),
    createRefusedPlugin(),
    ...createApiVolumePlugins({
      files,
      clock,
      directoryMaker,
      api: cluster ? volumeSources(cluster.refs, facts) : createLoneSources({ podFacts: () => facts }),
      onOutdated(pod, volumeName, error) {
        const { message } = volumeError([{ volumeName, error }]);
        timeline.record(podReference(pod), { type: "Warning", reason: "FailedMount", message });
      },
    }),
    ...(csi ? [limitVolumes(csi, cluster.csi.drivers)] : []),
  ];
  const claims = cluster && composeClaims(deps, cluster, config);
  const observed = plugins.map(statistics.observe);
  const volumes = createPodVolumes({ files, mounts, plugins: observed, claims, subPaths }, { rootDirectory });
  const parts = [...(csi ? [{ name: "volumes of storage drivers", run: csi.run }] : []), statistics.part];
  return { volumes, subPaths, csi, guard, statistics, parts };
}

function composeClaims(
  { ports }: VolumePartsDeps,
  { kube, refs }: ClusterVolumeDeps,
  { nodeName }: NodeAgentConfig,
): ClaimedVolumes {
  return createClaimedVolumes({
    claims: refs.claims,
    clock: ports.host.clock,
    async node(signal) {
      const node = await kube.client.get(NODES, { namespace: "", name: nodeName }, { signal, resourceVersion: "0" });
      return { name: nodeName, labels: node.metadata?.labels ?? {} };
    },
  });
}

function composeCsiPlugin(
  { ports, timeline, facts }: VolumePartsDeps,
  { kube, refs, csi, storage }: ClusterVolumeDeps & { storage: Storage },
  { nodeName, rootDirectory, kubelet, featureGates }: NodeAgentConfig,
): CsiPlugin {
  const { attachments } = refs.claims;
  return createCsiPlugin(
    {
      objects: {
        ...volumeSources(refs, facts),
        // Volumes name secrets that pods do not: those that pods share by watches are not these.
        secret: async (namespace, name, signal) =>
          await kube.client.get(SECRETS, { namespace, name }, { signal, timeoutMs: SECRET_TIMEOUT_MS }),
        async csiDriver(name, signal) {
          await csi.driverObjects.waitForSync(signal);
          return csi.driverObjects.get(name);
        },
        async volumeAttachment(name, signal) {
          const attachment = await attachments.get(name, signal);
          if (attachment === undefined) throw notFoundError(ATTACHMENTS, name);
          return attachment;
        },
        createVolumeAttachment: attachments.create,
        deleteVolumeAttachment: attachments.delete,
        async nodeVolumesAttached(signal) {
          const node = await kube.client.get(NODES, { namespace: "", name: nodeName }, { signal });
          return node.status?.volumesAttached?.map(({ name }) => name);
        },
        updateClaimStatus: async (claim, status, signal) =>
          await refs.claims.updateClaimStatus({ claim, status }, signal),
      },
      drivers: csi.drivers,
      ...storage,
      clock: ports.host.clock,
      inUse: csi.reportedVolumes,
      onEvent: tellPod(timeline),
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

function volumeSources(refs: RefParts, facts: NodeFacts) {
  const { objects, tokens, trustBundles } = refs;
  return { ...objects, token: tokens.get, clusterTrustBundles: trustBundles.bundles, podFacts: () => facts };
}

function tellPod(timeline: Timeline) {
  return (pod: Pod, decision: Parameters<Timeline["record"]>[1]) => timeline.record(podReference(pod), decision);
}
