import { createBackOff } from "../../../../base/back-off.ts";
import type { Clock } from "../../../../base/clock.ts";
import { createKeyedLock } from "../../../../base/keyed-lock.ts";
import type { Log } from "../../../../base/log.ts";
import type { Mounts } from "../../../../host/mounts-port.ts";
import type { Files } from "../../../../host/port.ts";
import { sweepUnused } from "../sweep-unused.ts";
import { VolumeOperationError } from "../volume-error.ts";
import type { ReadyVolume, VolumePlugin, VolumeRequest } from "../volume-plugin.ts";
import { createDiskAccounts, type DiskAccount, diskUseKey } from "./disk-accounts.ts";
import { createDiskPlaces } from "./disk-places.ts";
import { findDiskUsers } from "./find-disk-users.ts";
import type { DiskKind, NamedDisk } from "./named-disk.ts";
import { createScsiDevices, listIfThere, type ScsiDevicesDeps } from "./scsi-devices.ts";
import { mapDisk, mountDisk, type UseDiskDeps, undoUse, unmap } from "./use-disk.ts";

/** A plugin for disks that the node reaches by itself, and that pods share (pkg/volume/iscsi, pkg/volume/fc). */
export interface DiskPlugin extends VolumePlugin {
  /** Resolves when the disks that earlier node agents left are known. Until then `volumesInUse` must not be reported. */
  load(): Promise<void>;
  /** `status.volumesInUse` of the node: from before a disk is brought until after it has been taken away. */
  volumesInUse(): readonly string[];
  /** `status.volumesAttached` of a node that keeps the account itself; undefined where a controller does. */
  volumesAttached(): readonly { readonly name: string; readonly devicePath: string }[] | undefined;
  /** The listener is called when one of the two may have changed; returns how to stop that. */
  subscribe(listener: () => void): () => void;
  /**
   * Takes away disks that no pod uses any more, those from before a restart included, and retries what fails. Returns once
   * the signal has fired and no work is under way.
   */
  run(signal: AbortSignal): Promise<void>;
}

interface DiskPluginDeps extends UseDiskDeps, ScsiDevicesDeps {
  readonly kind: DiskKind;
  readonly files: UseDiskDeps["files"] & ScsiDevicesDeps["files"] & Pick<Files, "list">;
  readonly mounts: UseDiskDeps["mounts"] & Pick<Mounts, "list">;
  readonly clock: Clock;
  readonly log: Log;
  /** The accounts of the cluster. Undefined on a node without an API server, which asks nobody. */
  readonly cluster: DiskCluster | undefined;
}

/** What the cluster has to know before a disk is used, because another node may have it. */
export interface DiskCluster {
  /** Resolves when `status.volumesInUse` of the node has all these names. */
  reportInUse(names: readonly string[], signal: AbortSignal): Promise<void>;
  /** Reads `status.volumesAttached` of this node; undefined where it has none. */
  volumesAttached(signal: AbortSignal): Promise<readonly string[] | undefined>;
}

interface DiskPluginOptions {
  /** kubelet's `--root-dir`. */
  readonly rootDirectory: string;
  /** False: no controller attaches volumes to this node. */
  readonly enableControllerAttachDetach: boolean;
}

/** The wait for the controller; upstream's numbers. */
const AWAIT = { initialMs: 500, maxMs: 7_000 };

export function createDiskPlugin(deps: DiskPluginDeps, options: DiskPluginOptions): DiskPlugin {
  const { kind, files, clock } = deps;
  const { rootDirectory, enableControllerAttachDetach } = options;
  const accounts = createDiskAccounts();
  const places = createDiskPlaces(files, kind, options);
  const devices = createScsiDevices(deps);
  const lock = createKeyedLock();
  const awaits = createBackOff(AWAIT);
  const ready = new Map<string, ReadyVolume>();
  let loading: Promise<void> | undefined;

  const readPlaces = async () => {
    for (const place of await places.find()) {
      const { users } = accounts.add(place, kind.uniqueNamesOf(place.placeName));
      const where = { rootDirectory, pluginName: kind.pluginName };
      for (const user of await findDiskUsers({ ...deps, devices }, place, where)) users.set(user, { isOnDisk: true });
    }
  };
  const load = async () => {
    loading ??= readPlaces();
    await loading.catch((error: unknown) => {
      loading = undefined;
      throw error;
    });
  };

  const awaitCluster = async ({ specName, uniqueName }: NamedDisk, key: string, signal: AbortSignal) => {
    if (deps.cluster === undefined) return;
    await deps.cluster.reportInUse([uniqueName], signal);
    // The use is told before the list is read, so that of this node and a controller one notices the other.
    const names = enableControllerAttachDetach ? await deps.cluster.volumesAttached(signal) : [uniqueName];
    if (names?.includes(uniqueName)) return awaits.reset(key);
    const now = clock.monotonic();
    const retryAfterMs = awaits.next(key, now, now);
    throw new VolumeOperationError(`Volume not attached according to node status for volume "${specName}"`, {
      reason: "FailedAttachVolume",
      retryAfterMs,
      isQuiet: retryAfterMs < AWAIT.maxMs,
    });
  };

  const bring = async (request: VolumeRequest, disk: NamedDisk, key: string): Promise<ReadyVolume> => {
    const place = places.of(disk.placeName, disk.kind);
    const account = accounts.use(place, key, [disk.uniqueName]);
    await awaitCluster(disk, key, request.signal);
    return await lock.run(
      place.path,
      async () => {
        account.isDetached = false;
        const use = { kind, request, disk, account, key };
        return disk.kind === "block" ? await mapDisk(deps, use) : await mountDisk(deps, use);
      },
      request.signal,
    );
  };

  const takeAway = async (account: DiskAccount, signal: AbortSignal) => {
    if (account.users.size > 0) return;
    const { place } = account;
    if (place.kind === "files") await deps.mounts.unmount(place.path);
    // What is mapped for pods without a link to it is of nobody: somebody has removed the pods' directories.
    const left = place.kind === "block" ? await listIfThere(files, place.path) : [];
    for (const { name } of left) if (!kind.notes.includes(name)) await unmap(deps, `${place.path}/${name}`);
    const others = () => accounts.all().filter((other) => other !== account && !other.isDetached);
    const leave = () => {
      account.isDetached = true;
    };
    await kind.detach(place, { others: () => others().map((other) => other.place), leave }, signal);
    await files.removeEmptyDirectory(place.path);
    accounts.settle(account);
  };

  const uniqueNames = () => [...new Set(accounts.all().flatMap((account) => [...account.uniqueNames]))].sort();

  return {
    name: kind.pluginName,
    supports: kind.supports,
    async setUp(request) {
      await load();
      const disk = kind.plan(request);
      const key = diskUseKey(request.directories.podUid, disk.specName);
      const volume = ready.get(key) ?? (await bring(request, disk, key));
      ready.set(key, volume);
      return { volume, finished: Promise.resolve() };
    },
    async tearDown(place) {
      await load();
      const key = diskUseKey(place.podUid, place.directoryName);
      ready.delete(key);
      const used = accounts.all().filter(({ users }) => users.has(key));
      await undoUse(deps, place, used);
      accounts.release(key);
    },
    forget(podUid) {
      for (const key of ready.keys()) if (key.startsWith(`${podUid}/`)) ready.delete(key);
      awaits.resetAll(`${podUid}/`);
      accounts.releaseUnmounted(podUid);
    },
    load,
    volumesInUse: uniqueNames,
    volumesAttached: () =>
      enableControllerAttachDetach ? undefined : uniqueNames().map((name) => ({ name, devicePath: "" })),
    subscribe: accounts.subscribe,
    run: async (signal) => {
      const sweep = {
        ...deps,
        load,
        all: accounts.all,
        subscribe: accounts.subscribe,
        describe: ({ place }: DiskAccount) => `the disk at ${place.path} cannot be taken away`,
        takeAway: async (account: DiskAccount) =>
          await lock.run(account.place.path, async () => await takeAway(account, signal), signal),
      };
      await sweepUnused(sweep, signal);
    },
  };
}
