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
 * Only the holder of the volume's lock may change the state.
 */
type DeviceState =
  | { readonly kind: "absent" }
  /** The device has directories, and the driver may have been called for it, or may be working. */
  | { readonly kind: "uncertain"; readonly seLinuxLabel: string | undefined }
  | { readonly kind: "staged"; readonly seLinuxLabel: string | undefined };

/** A volume on this node, shared by all pods that use it. */
export interface Device {
  readonly place: DevicePlace;
  readonly driverName: string;
  readonly handle: string;
  readonly attachmentName: string;
  state: DeviceState;
  /** Undefined: not known, for example after a restart. */
  isAttachable: boolean | undefined;
  isAttached: boolean;
  /** By `userKey`. */
  readonly users: Map<string, DeviceUser>;
}

interface DeviceUser {
  readonly podUid: string;
  /** The user left something on the disk, or may have, which only a tear-down removes. */
  isOnDisk: boolean;
}

/** The devices on this node and their users. They are kept on the disk, and read from there before anything is done. */
export interface Devices {
  /** Resolves when the disk has been read. It is read once; a call after a failure reads it again. */
  load(): Promise<void>;
  all(): readonly Device[];
  /** Adds a user to the device of this place, which is added too where it is not known. */
  use(volume: DeviceName, userKey: string, podUid: string): Device;
  /** Ends one use of every device. */
  release(userKey: string): void;
  /** Ends those uses of a pod that have left nothing on the disk. */
  releaseUnmounted(podUid: string): void;
  /** Forgets the device where it has no user and is absent. */
  settle(device: Device): void;
  /** Tells the listeners that something which `volumesInUse` reports has changed. */
  changed(): void;
  subscribe(listener: () => void): () => void;
}

/** A volume, and its place on this node. */
interface DeviceName {
  readonly place: DevicePlace;
  readonly driverName: string;
  readonly handle: string;
}

/** The key of a pod's use of a volume. */
export function userKey(podUid: string, specName: string): string {
  return `${podUid}/${specName}`;
}

/** The key of a volume's lock. Several persistent volumes may stand for one volume. */
export function volumeKey({ driverName, handle }: { readonly driverName: string; readonly handle: string }): string {
  return uniqueVolumeName({ driver: driverName, volumeHandle: handle });
}

/** A directory that fails may be read a moment later. After so many failures it no longer holds up other volumes. */
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
        // The device's own data is unreadable, but it has a user, so that it may be staged.
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
  /** All devices of the volume: other versions may have staged it at another place, which is in use too. */
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
