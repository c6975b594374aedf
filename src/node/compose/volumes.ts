import type { HangGuard } from "../../base/hang-guard.ts";
import type { Part } from "../../base/run-parts.ts";
import { createPodRecorder } from "../cluster/events/record-pod.ts";
import { joinSharedVolumes, type SharedVolumes } from "../cluster/node-status/told-volumes.ts";
import type { NodeFacts } from "../runtime/config/node-facts.ts";
import { limitVolumes } from "../storage/csi/limited-volumes.ts";
import { createApiVolumePlugins } from "../storage/volumes/api/api-volumes.ts";
import { createLoneSources } from "../storage/volumes/api/lone-sources.ts";
import { createOutdatedTeller } from "../storage/volumes/api/tell-outdated.ts";
import type { CsiPlugin } from "../storage/volumes/csi/csi-plugin.ts";
import { guardStorage, type Storage } from "../storage/volumes/guarded-storage.ts";
import { createImageVolumePlugin } from "../storage/volumes/image/image-volume.ts";
import { createEmptyDirPlugin } from "../storage/volumes/local/empty-dir.ts";
import { createHostPathPlugin } from "../storage/volumes/local/host-path.ts";
import { createNfsPlugin } from "../storage/volumes/network/nfs-plugin.ts";
import { createRefusedPlugin } from "../storage/volumes/network/refused-volumes.ts";
import { createClaimedVolumes } from "../storage/volumes/persistent/claimed-volumes.ts";
import type { ExpandClaimDeps } from "../storage/volumes/persistent/expand-claim.ts";
import { createLocalPlugin } from "../storage/volumes/persistent/local-plugin.ts";
import { createPodVolumes, type PodVolumes } from "../storage/volumes/pod-volumes.ts";
import { createSubPaths, type SubPaths } from "../storage/volumes/subpaths/sub-paths.ts";
import { createVolumeDirectoryMaker } from "../storage/volumes/volume-directory-maker.ts";
import type { ClaimedVolumes, VolumePlugin } from "../storage/volumes/volume-plugin.ts";
import type { ClusterParts } from "./cluster.ts";
import { composeCsiPlugin } from "./csi-plugin.ts";
import { composeDisks } from "./disks.ts";
import type { Foundation } from "./foundation.ts";
import type { PodData } from "./pod-data.ts";
import type { RefParts } from "./refs.ts";
import { composeVolumeSecrets } from "./volume-secrets.ts";
import { composeVolumeStats, type VolumeStatsParts } from "./volume-stats.ts";

/** All that pods get of volumes. */
export interface VolumeParts {
  readonly volumes: PodVolumes;
  readonly subPaths: SubPaths;
  /** The volumes that storage drivers bring; undefined on a standalone node. */
  readonly csi: CsiPlugin | undefined;
  /** The volumes that other nodes may have, so that the node's status tells of them. */
  readonly told: SharedVolumes;
  /** Knows of the calls that were given up on. */
  readonly guard: Pick<HangGuard, "overdue">;
  readonly statistics: VolumeStatsParts;
  readonly parts: readonly Part[];
}

interface VolumeNeighbours {
  readonly cluster: ClusterParts | undefined;
  readonly data: Pick<PodData, "objects">;
}

/** Builds a plugin for every kind of volume. */
export function composeVolumes(foundation: Foundation, { cluster, data }: VolumeNeighbours): VolumeParts {
  const { ports, config, guards } = foundation;
  const { files, mounts } = ports.host;
  const { rootDirectory } = config;
  const guard = guards.forVolumes();
  const storage = guardStorage({ files, mounts }, guard);
  const subPaths = createSubPaths({ ...storage, log: ports.log }, { rootDirectory });
  const drivers = cluster && composeDriverVolumes(foundation, cluster, storage);
  const statistics = composeVolumeStats(foundation, drivers?.csi);
  const secret = cluster ? composeVolumeSecrets(cluster) : data.objects.secret;
  const disks = composeDisks(foundation, { cluster, secret, storage });
  const plugins = [
    ...composePlugins(foundation, { cluster, storage }),
    ...disks.plugins,
    ...composeApiPlugins(foundation, { cluster, data }),
    ...(drivers?.plugins ?? []),
  ].map(statistics.observe);
  const claims = cluster && composeClaims(foundation, cluster);
  return {
    volumes: createPodVolumes({ files, mounts, plugins, claims, subPaths }, { rootDirectory }),
    subPaths,
    csi: drivers?.csi,
    told: joinSharedVolumes([...(drivers ? [drivers.csi] : []), ...disks.plugins]),
    guard,
    statistics,
    parts: [...(drivers?.parts ?? []), ...disks.parts, statistics.part],
  };
}

/** The plugins of what is on this machine or a file server. */
function composePlugins(
  { ports, config, timeline, facts }: Foundation,
  { cluster, storage }: { cluster: ClusterParts | undefined; storage: Storage },
): VolumePlugin[] {
  const { clock, files, mounts } = ports.host;
  const directoryMaker = createVolumeDirectoryMaker({ files, mounts });
  return [
    createEmptyDirPlugin({ directoryMaker, allocatable: () => facts.allocatable }),
    createHostPathPlugin(storage),
    createLocalPlugin(
      { ...storage, clock, tell: createPodRecorder(timeline), updateClaimStatus: cluster && claimWriter(cluster) },
      config,
    ),
    createNfsPlugin({ files, mounts }),
    createImageVolumePlugin(),
    createRefusedPlugin(),
  ];
}

/** The plugins of what is told by name: secrets, config maps, tokens, the pod itself. */
function composeApiPlugins(
  { ports, timeline, facts }: Foundation,
  { cluster, data }: VolumeNeighbours,
): VolumePlugin[] {
  const { clock, files, mounts } = ports.host;
  return createApiVolumePlugins({
    files,
    clock,
    directoryMaker: createVolumeDirectoryMaker({ files, mounts }),
    api: cluster === undefined ? createLoneSources(data.objects, () => facts) : volumeSources(cluster.refs, facts),
    onOutdated: createOutdatedTeller(createPodRecorder(timeline)),
  });
}

function composeDriverVolumes(foundation: Foundation, cluster: ClusterParts, storage: Storage) {
  const sources = volumeSources(cluster.refs, foundation.facts);
  const csi = composeCsiPlugin(foundation, { cluster, sources, storage });
  const plugins = [limitVolumes(csi, cluster.csi.drivers)];
  return { csi, plugins, parts: [{ name: "volumes of storage drivers", run: csi.run }] };
}

function composeClaims({ ports, config }: Foundation, { refs, ownNodeClient }: ClusterParts): ClaimedVolumes {
  const { nodeName: name } = config;
  return createClaimedVolumes({
    claims: refs.claims,
    clock: ports.host.clock,
    node: async (signal) => ({ name, labels: await ownNodeClient.readLabels(signal) }),
  });
}

function claimWriter({ refs }: ClusterParts): ExpandClaimDeps["updateClaimStatus"] {
  return async (claim, status, signal) => await refs.claims.updateClaimStatus({ claim, status }, signal);
}

function volumeSources({ objects, tokens, trustBundles, certificates }: RefParts, facts: NodeFacts) {
  return {
    ...objects,
    token: tokens.get,
    clusterTrustBundles: trustBundles.bundles,
    podCertificate: certificates.credential,
    podFacts: () => facts,
  };
}
