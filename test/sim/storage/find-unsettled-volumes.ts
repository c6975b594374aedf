import { createHash } from "node:crypto";
import type { Pod } from "../../../src/api/gen/types.ts";
import { CSI_NODES } from "../../../src/api/kube-resource.ts";
import { isTerminalPhase, podFullName, podUid } from "../../../src/api/pods.ts";
import type { Cluster } from "../api/create-cluster.ts";
import { NODE_NAME } from "../manifests.ts";
import { short } from "../trace.ts";
import type { World } from "../world.ts";
import type { Storage } from "./create-storage.ts";
import { findPodVolume, pathOfClaim, podOfPath } from "./pod-volume.ts";
import { claimsOf } from "./storage-objects.ts";
import { DRIVER_NAME, handleOf } from "./storage-plan.ts";

const CSI_DIRECTORY = "/var/lib/kubelet/plugins/kubernetes.io/csi";

/** Which volumes are not where they should be, or where they should not be any more; empty when all is well. */
export async function findUnsettledVolumes(world: World, cluster: Cluster, storage: Storage): Promise<string[]> {
  const users = cluster.pods.bound().filter(({ status }) => !isTerminalPhase(status?.phase));
  const wanted = new Set(
    users.flatMap((pod) => claimsOf(storage.plan, pod)).flatMap(({ kind, name }) => (kind === "csi" ? [name] : [])),
  );
  return [
    ...users.flatMap((pod) => findMissing(world, storage, pod)),
    ...findForgotten(storage, { users, wanted }),
    ...(await findDirectories(world, storage)),
    ...findApiProblems(storage, wanted),
    ...(await findDriverProblems(cluster, storage)),
  ];
}

/** The pod has to wait for a volume that another one has. */
export function waitsForVolume({ plan, driver }: Storage, pod: Pod): boolean {
  return claimsOf(plan, pod).some(({ name, accessMode }) => {
    const paths = [...driver.published.values()].filter(({ volumeId }) => volumeId === handleOf(name));
    return accessMode === "ReadWriteOncePod" && paths.some(({ targetPath }) => podOfPath(targetPath) !== podUid(pod));
  });
}

/** The driver has no room for the pod's volumes, or had none. */
export function isOverLimit({ plan }: Storage, pod: Pod, reason: string | undefined): boolean {
  return reason === "VolumeAttachmentLimitExceeded" && plan.maxVolumes !== undefined && claimsOf(plan, pod).length > 0;
}

/** What runs has its volumes. */
function findMissing(world: World, { plan }: Storage, pod: Pod): string[] {
  const uid = podUid(pod);
  const sandbox = world.cri.sandboxes().find(({ state, config }) => state === "ready" && config.metadata?.uid === uid);
  if (sandbox === undefined) return [];
  return claimsOf(plan, pod).flatMap((claim) => {
    const problem = findPodVolume(world, { podUid: uid, claim, at: pathOfClaim(uid, claim), part: undefined });
    return problem === undefined ? [] : [`${podFullName(pod)} ${short(uid)}: claim ${claim.name}: ${problem}`];
  });
}

interface Users {
  users: readonly Pod[];
  /** Claims. */
  wanted: ReadonlySet<string>;
}

function findForgotten({ driver }: Storage, { users, wanted }: Users): string[] {
  const uids = new Set(users.map(podUid));
  const handles = new Set([...wanted].map(handleOf));
  const published = [...driver.published.values()].filter(({ targetPath }) => !uids.has(podOfPath(targetPath)));
  const staged = [...driver.staged.values()].filter(({ volumeId }) => !handles.has(volumeId));
  return [
    ...published.map(({ volumeId, targetPath }) => `${volumeId} is published at ${targetPath}, which nobody wants`),
    ...staged.map(({ volumeId }) => `${volumeId} is staged, which nobody wants`),
  ];
}

/** The node agent's directories: one for each volume that is here, and no mounts but the staged ones. */
async function findDirectories({ host }: World, { driver, leftDirectories }: Storage): Promise<string[]> {
  const directory = `${CSI_DIRECTORY}/${DRIVER_NAME}`;
  const found = (await host.files.stat(directory)) ? await host.files.list(directory) : [];
  const paths = found.map(({ name }) => `${directory}/${name}`);
  const expected = [...volumesHere(driver)].map((volumeId) => `${directory}/${sha256(volumeId)}`);
  const strange = paths.filter((path) => !expected.includes(path) && !leftDirectories.has(path));
  const mounts = host.mounts.mounted().filter(({ path }) => path.startsWith(`${CSI_DIRECTORY}/`));
  return [
    ...strange.map((path) => `directory ${path}`),
    ...expected.filter((path) => !paths.includes(path)).map((path) => `${path} is missing`),
    ...mounts.filter(({ path }) => !driver.staged.has(path)).map(({ path }) => `mount ${path}`),
  ];
}

function volumesHere({ staged, published }: Storage["driver"]): ReadonlySet<string> {
  return new Set([...staged.values(), ...published.values()].map(({ volumeId }) => volumeId));
}

function sha256(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}

/** The API shows what is on the node. */
function findApiProblems({ plan, driver, attacher, ...storage }: Storage, wanted: ReadonlySet<string>): string[] {
  const { volumesInUse = [], volumesAttached = [] } = storage.node()?.status ?? {};
  const unique = (handle: string) => `kubernetes.io/csi/${DRIVER_NAME}^${handle}`;
  const here = volumesHere(driver);
  const expected = plan.attachRequired ? [...here].map(unique) : [];
  const attachments = attacher.attachments();
  const attached = attachments.flatMap(({ spec }) => spec.source.persistentVolumeName ?? []);
  const toAttach = plan.attachRequired ? [...wanted] : [];
  return [
    ...compare("volumesInUse", volumesInUse, expected),
    ...compare("VolumeAttachments", attached, toAttach),
    ...compare(
      "volumesAttached",
      volumesAttached.map(({ name }) => name),
      toAttach.map((name) => unique(handleOf(name))),
    ),
    ...attachments.flatMap(({ spec, status, metadata }) =>
      status?.attached === true && metadata?.deletionTimestamp === undefined
        ? []
        : [`${spec.source.persistentVolumeName} is not attached`],
    ),
  ];
}

function compare(what: string, is: readonly string[], expected: readonly string[]): string[] {
  const [shown, wanted] = [is, expected].map((names) => names.toSorted().join(" "));
  return shown === wanted ? [] : [`${what}: ${shown || "none"} instead of ${wanted || "none"}`];
}

async function findDriverProblems({ admin }: Cluster, { plan }: Storage): Promise<string[]> {
  const all = (await admin.list(CSI_NODES)).items;
  const own = all
    .find(({ metadata }) => metadata?.name === NODE_NAME)
    ?.spec.drivers.find(({ name }) => name === DRIVER_NAME);
  if (own === undefined) return ["the CSINode does not name the driver"];
  const limit = plan.maxVolumes === undefined ? undefined : Number(plan.maxVolumes);
  const isTrue = own.nodeID === `sim-${NODE_NAME}` && own.allocatable?.count === limit;
  return isTrue ? [] : [`the CSINode says ${JSON.stringify(own)}`];
}
