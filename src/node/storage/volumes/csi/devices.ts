import { attachmentName, uniqueVolumeName } from "../../../../api/csi-volumes.ts";
import { messageOf } from "../../../../base/errors.ts";
import type { Log } from "../../../../base/log.ts";
import type { Files } from "../../../../host/port.ts";
import type { CsiPaths, DevicePlace } from "./csi-paths.ts";
import { type FoundOnDisk, findOnDisk } from "./find-devices.ts";
import type { VolumeData } from "./volume-data.ts";

/**
 * The node's part of a volume:
 *
 *     absent ──(directories are begun)──► uncertain ──(the driver says so)──► staged
 *        ▲                                 │  ▲                                  │
 *        └──(unstaged, or never asked)─────┘  └──────(an unstage begins)─────────┘
 *
 * Whoever holds the lock of its volume changes it.
 */
type DeviceState =
  | { readonly kind: "absent" }
  /** There are directories of it, and the driver may have been asked, or be at it. */
  | { readonly kind: "uncertain"; readonly seLinuxLabel: string | undefined }
  | { readonly kind: "staged"; readonly seLinuxLabel: string | undefined };

/** A volume on this node, however many pods use it. */
export interface Device {
  readonly place: DevicePlace;
  readonly driverName: string;
  readonly handle: string;
  readonly attachmentName: string;
  state: DeviceState;
  /** Undefined: not known, as after a restart. */
  isAttachable: boolean | undefined;
  isAttached: boolean;
  /** By `userKey`. */
  readonly users: Map<string, DeviceUser>;
}

interface DeviceUser {
  readonly podUid: string;
  /** It left something on the disk, or may have: only a tear-down ends that. */
  isOnDisk: boolean;
}

/** Who uses what. It is kept on the disk, and read from there before anything is done. */
export interface Devices {
  /** Resolves when the disk has been read; does so once, and again where that failed. */
  load(): Promise<void>;
  all(): readonly Device[];
  /** The device of this place, made where there is none, with one user more. */
  use(volume: DeviceName, userKey: string, podUid: string): Device;
  /** Ends one use of every device. */
  release(userKey: string): void;
  /** Ends what a pod wanted and never got so far that it left anything on the disk. */
  releaseUnmounted(podUid: string): void;
  /** Forgets a device that nobody uses and that is not there any more. */
  settle(device: Device): void;
  /** Something that `volumesInUse` tells has changed. */
  changed(): void;
  subscribe(listener: () => void): () => void;
}

/** Which volume, and where its part of the node is. */
interface DeviceName {
  readonly place: DevicePlace;
  readonly driverName: string;
  readonly handle: string;
}

/** Names the use of a volume by a pod. */
export function userKey(podUid: string, specName: string): string {
  return `${podUid}/${specName}`;
}

/** Names what one lock is for: a volume, whatever persistent volumes it has. */
export function volumeKey({ driverName, handle }: { readonly driverName: string; readonly handle: string }): string {
  return uniqueVolumeName({ driver: driverName, volumeHandle: handle });
}

/** What fails now may be read in a moment; what fails again and again must not hold up the volumes of others. */
const MAX_FAILED_READINGS = 5;

const UNKNOWN: DeviceState = { kind: "uncertain", seLinuxLabel: undefined };

export function createDevices(
  deps: { files: Pick<Files, "list" | "read" | "removeEmptyDirectory">; paths: CsiPaths; log: Log },
  { nodeName }: { nodeName: string },
): Devices {
  const devices = new Map<string, Device>();
  const listeners = new Set<() => void>();
  let loading: Promise<void> | undefined;
  let failedReadings = 0;

  const changed = () => {
    for (const listener of listeners) listener();
  };

  const obtain = ({ place, driverName, handle }: DeviceName): Device => {
    const known = devices.get(place.dataDirectory);
    if (known) return known;
    const device: Device = {
      place,
      driverName,
      handle,
      attachmentName: attachmentName({ driver: driverName, volumeHandle: handle }, nodeName),
      state: { kind: "absent" },
      isAttachable: undefined,
      isAttached: false,
      users: new Map(),
    };
    devices.set(place.dataDirectory, device);
    return device;
  };

  const adopt = (found: FoundOnDisk) => {
    for (const { place, data } of found.devices) {
      if (data === undefined) continue;
      const device = obtain({ place, driverName: data.driverName, handle: data.volumeHandle });
      device.state = { kind: "uncertain", seLinuxLabel: data.seLinuxMountContext };
    }
    for (const { podUid, specName, kind, data } of found.users) {
      const used = kind === "block" ? blockDevices(specName) : fileDevices(data);
      for (const device of used) {
        // What its directory does not tell, its user does: it may be staged.
        if (found.unreadable.has(device.place.dataDirectory)) device.state = UNKNOWN;
        device.users.set(userKey(podUid, specName), { podUid, isOnDisk: true });
      }
    }
    changed();
  };
  const blockDevices = (specName: string): Device[] => {
    const device = devices.get(deps.paths.block(specName).dataDirectory);
    return device ? [device] : [];
  };
  /** Every one of the volume: what other versions staged elsewhere is used all the same. */
  const fileDevices = (data: VolumeData | undefined): Device[] => {
    if (data === undefined) return [];
    const { driverName, volumeHandle: handle } = data;
    const ofVolume = [...devices.values()].filter(
      (device) => device.place.kind === "files" && device.driverName === driverName && device.handle === handle,
    );
    return ofVolume.length > 0
      ? ofVolume
      : [obtain({ place: deps.paths.device(driverName, handle), driverName, handle })];
  };

  const readDisk = async () => {
    const found = await findOnDisk({ ...deps, skipsUnreadable: failedReadings >= MAX_FAILED_READINGS });
    for (const { place, data } of found.devices) if (data === undefined) await removeBegun(deps, place);
    adopt(found);
  };

  const settle = (device: Device) => {
    if (device.users.size === 0 && device.state.kind === "absent") devices.delete(device.place.dataDirectory);
    changed();
  };
  const releaseWhere = (isEnded: (key: string, user: DeviceUser) => boolean) => {
    for (const device of devices.values()) {
      const ended = [...device.users].filter(([key, user]) => isEnded(key, user));
      for (const [key] of ended) device.users.delete(key);
      if (ended.length > 0) settle(device);
    }
  };

  return {
    async load() {
      loading ??= readDisk();
      try {
        await loading;
      } catch (error) {
        if (loading !== undefined) failedReadings++;
        loading = undefined;
        throw error;
      }
    },
    all: () => [...devices.values()],
    use(name, key, podUid) {
      const device = obtain(name);
      if (!device.users.has(key)) device.users.set(key, { podUid, isOnDisk: false });
      return device;
    },
    release: (key) => releaseWhere((other) => other === key),
    releaseUnmounted: (podUid) => releaseWhere((_key, user) => user.podUid === podUid && !user.isOnDisk),
    settle,
    changed,
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/** Directories that were begun, without what says of which volume: no driver was asked for anything there. */
async function removeBegun(
  { files, log }: { files: Pick<Files, "removeEmptyDirectory">; log: Log },
  { before, after }: DevicePlace,
): Promise<void> {
  try {
    for (const directory of [...before, ...after]) await files.removeEmptyDirectory(directory);
  } catch (error) {
    log.warn("a directory of no known volume is left as it is", { path: after[0], error: messageOf(error) });
  }
}
