import type { PersistentVolume } from "../../../../api/gen/types.ts";
import { isAbort } from "../../../../base/abort.ts";
import { assert } from "../../../../base/assert.ts";
import { messageOf } from "../../../../base/errors.ts";
import { createKeyedLock } from "../../../../base/keyed-lock.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { VolumeOperationError, VolumeSetUpError } from "../volume-error.ts";
import type { VolumePlugin, VolumeRequest, VolumeSource } from "../volume-plugin.ts";
import { ensureDirectories } from "./ensure-directories.ts";
import type { ExpandClaimDeps } from "./expand-claim.ts";
import { createLocalDevices } from "./local-device.ts";
import { createLocalDisks } from "./local-disk.ts";
import { createLocalGrowth } from "./local-growth.ts";
import { giveToGroup, type VolumeGroupDeps } from "./volume-group.ts";
import { inUseError, isForOnePod, isMountedByOther } from "./volume-users.ts";

const LOCAL_PLUGIN = "kubernetes.io/local-volume";

interface LocalPluginDeps extends VolumeGroupDeps {
  readonly files: Pick<
    Files,
    "changeGroup" | "link" | "list" | "makeDirectory" | "remove" | "removeEmptyDirectory" | "stat" | "touch"
  >;
  readonly mounts: Pick<Mounts, "list" | "isMountPoint" | "bind" | "formatAndMount" | "growFileSystem" | "unmount">;
  /** Undefined without an API server, where there are no claims whose status could be written. */
  readonly updateClaimStatus: ExpandClaimDeps["updateClaimStatus"] | undefined;
}

interface LocalPluginOptions {
  readonly rootDirectory: string;
  readonly nodeName: string;
}

const UNTOLD: ExpandClaimDeps["updateClaimStatus"] = async (claim) => await Promise.resolve(claim);

/** A persistent volume that is a directory or a disk of this machine. */
type LocalVolume = Extract<VolumeSource, { kind: "persistent" }>;

/** A local volume that is being set up for a pod. */
interface LocalSetUp {
  readonly request: VolumeRequest;
  readonly source: LocalVolume;
  readonly name: string;
  /** The path of the directory or of the disk. */
  readonly path: string;
}

/**
 * Local persistent volumes (pkg/volume/local): a directory is bind-mounted into the pod's own; a disk with a file system is
 * mounted once, and bound for each pod that uses it; a disk of mode Block is mapped as a device.
 *
 * The disk tells who uses a volume: the pod's directory (or link) is made before anything is mounted for it, and removed
 * when all is undone. So a set-up or tear-down that dies at any step is finished by the next set-up or tear-down.
 */
export function createLocalPlugin(deps: LocalPluginDeps, options: LocalPluginOptions): VolumePlugin {
  // Pods share a volume. The tear-down for the last pod must not overlap with the set-up for the next one.
  const turns = createKeyedLock();
  const disks = createLocalDisks(deps, { ...options, pluginName: LOCAL_PLUGIN });
  const devices = createLocalDevices(deps, { ...options, pluginName: LOCAL_PLUGIN });
  const updateClaimStatus = deps.updateClaimStatus ?? UNTOLD;
  const growth = createLocalGrowth({ ...deps, updateClaimStatus, onEvent: deps.tell }, options);
  /** The volumes whose set-up this process has finished, by pod. */
  const ready = new Map<string, Set<string>>();
  const isReady = (podUid: string, name: string) => ready.get(podUid)?.has(name) === true;

  const mount = async (setUp: LocalSetUp): Promise<string> => {
    const { request, source, name } = setUp;
    const { directories, signal, pod } = request;
    const target = directories.of(LOCAL_PLUGIN, name);
    const readOnly = source.readOnly || mountOptionsOf(source).includes("ro");
    const isMounted = await deps.mounts.isMountPoint(target);
    if (isMounted && isReady(directories.podUid, name)) return target;
    if (!isMounted) {
      const from = await findSource(deps, setUp);
      await refuseSecondPod(deps, setUp);
      await ensureDirectories(deps.files, options.rootDirectory, target);
      if (from === "disk") await ensureDisk(setUp);
      await deps.mounts.bind(from === "disk" ? disks.pathOf(name) : setUp.path, target, { readOnly });
    }
    // A volume that other pods use already keeps its group, as upstream.
    if (!readOnly && !(await isSharedAlready(setUp, target))) {
      await giveToGroup(deps, { pod, path: target, isRepeated: isMounted }, signal).catch(async (error: unknown) => {
        // The next attempt starts anew: the root may have the right group already, while files below it have not.
        if (!isMounted) await deps.mounts.unmount(target).catch(() => undefined);
        throw error;
      });
    }
    return target;
  };

  const bring = async (setUp: LocalSetUp, kind: "files" | "device"): Promise<string> => {
    const { request, source, name, path } = setUp;
    const { pod, directories, signal } = request;
    const isInUse = isReady(directories.podUid, name);
    const hostPath = kind === "device" ? await devices.map(directories, setUp) : await mount(setUp);
    const readOnly = source.readOnly || mountOptionsOf(source).includes("ro");
    const grow = async (timeoutMs: number) => {
      // A directory is as large as the file system that it is in, and a device as it is.
      if (kind === "device" || (await findSource(deps, setUp)) === "directory") return;
      await deps.mounts.growFileSystem({ source: path, target: disks.pathOf(name), timeoutMs }, signal);
    };
    await growth.ensureGrown({ pod, name, claimed: source, readOnly, signal, isInUse, kind, grow });
    const names = ready.get(directories.podUid) ?? new Set();
    ready.set(directories.podUid, names.add(name));
    return hostPath;
  };

  const ensureDisk = async ({ request, source, name, path }: LocalSetUp) => {
    const fsType = source.persistentVolume.spec?.local?.fsType;
    const options = [...(source.readOnly ? ["ro"] : []), ...mountOptionsOf(source)];
    try {
      await disks.ensureMounted({ name, device: path, fsType, options: [...new Set(options)] }, request.signal);
    } catch (error) {
      if (isAbort(error)) throw error;
      throw failedStep("MountVolume.MountDevice failed", name, error);
    }
  };

  const isSharedAlready = async ({ request, name }: LocalSetUp, target: string): Promise<boolean> => {
    const { pod, directories } = request;
    const group = pod.spec?.securityContext?.fsGroup;
    if (group === undefined) return true;
    const table = await deps.mounts.list();
    const own = table.findLast(({ path }) => path === target);
    const podsDirectory = `${directories.rootDirectory}/pods/`;
    const ownDirectory = `${podsDirectory}${directories.podUid}/`;
    const isShared = table.some(({ path, device, root }) => {
      const isOfOther = path.startsWith(podsDirectory) && !path.startsWith(ownDirectory);
      return isOfOther && device === own?.device && root === own.root;
    });
    const current = isShared ? (await deps.files.stat(target))?.group : group;
    if (current === group) return isShared;
    const message =
      `The requested fsGroup is ${group}, but the volume ${name} has GID ${current ?? "none"}. ` +
      "The volume may not be shareable.";
    deps.tell(pod, { type: "Warning", reason: "AlreadyMountedVolume", message });
    return true;
  };

  return {
    name: LOCAL_PLUGIN,
    supports: (source) => source.kind === "persistent" && source.persistentVolume.spec?.local !== undefined,
    async setUp(request) {
      const setUp = planSetUp(request);
      const { source, name } = setUp;
      const isDevice = source.persistentVolume.spec?.volumeMode === "Block";
      const hostPath = await turns.run(
        name,
        async () => await bring(setUp, isDevice ? "device" : "files"),
        request.signal,
      );
      const finished = Promise.resolve();
      const { readOnly } = source;
      if (isDevice) return { volume: { kind: "device", hostPath, readOnly }, finished };
      return { volume: { kind: "files", hostPath, readOnly, relabel: true }, finished };
    },
    async tearDown(place) {
      const name = place.directoryName;
      ready.get(place.podUid)?.delete(name);
      if (![...ready.values()].some((names) => names.has(name))) growth.forget(name);
      await turns.run(name, async () => {
        if (place.kind === "device") return await devices.unmap(place);
        await deps.mounts.unmount(place.path);
        await disks.unmountUnlessUsed(name, place.podUid);
        await deps.files.removeEmptyDirectory(place.path);
      });
    },
    forget: (podUid) => ready.delete(podUid),
  };
}

function planSetUp(request: VolumeRequest): LocalSetUp {
  const { source } = request;
  assert(source.kind === "persistent", "local volumes are persistent ones");
  const name = source.persistentVolume.metadata?.name ?? "";
  const path = source.persistentVolume.spec?.local?.path ?? "";
  if (path === "") throw new VolumeSetUpError("invalid", `LocalVolume volume ${JSON.stringify(name)} path is empty`);
  if (path.split("/").includes(".."))
    throw new VolumeSetUpError("invalid", `invalid path: ${path} must not contain '..'`);
  // A relative path counts from the root, as upstream.
  return { request, source, name, path: path.startsWith("/") ? path : `/${path}` };
}

function mountOptionsOf({ persistentVolume }: { persistentVolume: PersistentVolume }): readonly string[] {
  return persistentVolume.spec?.mountOptions ?? [];
}

/** Whether the path is a directory, or a disk that has to be mounted first. */
async function findSource({ files }: LocalPluginDeps, { name, path }: LocalSetUp): Promise<"directory" | "disk"> {
  const found = await files.stat(path);
  if (found?.type === "directory") return "directory";
  if (found?.type === "block-device") return "disk";
  const problem = found ? "only directory and block device are supported" : `path "${path}" does not exist`;
  throw failedStep(
    "MountVolume.NewMounter initialization failed",
    name,
    new VolumeSetUpError(found ? "invalid" : "missing", problem),
  );
}

async function refuseSecondPod({ mounts }: LocalPluginDeps, { request, source, name }: LocalSetUp): Promise<void> {
  if (!isForOnePod(source.persistentVolume.spec?.accessModes)) return;
  const { directories } = request;
  if (isMountedByOther(await mounts.list(), { pluginName: LOCAL_PLUGIN, name, directories })) {
    throw inUseError(name, "MountVolume.SetUp");
  }
}

function failedStep(step: string, volumeName: string, error: unknown): VolumeOperationError {
  return new VolumeOperationError(`${step} for volume "${volumeName}" : ${messageOf(error)}`, { cause: error });
}
