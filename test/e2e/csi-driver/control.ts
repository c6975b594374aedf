import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { isRecord } from "../../../src/api/object.ts";
import type { CsiNodeCapability } from "../../../src/csi/port.ts";
import type { GrpcErrorCode } from "../../../src/grpc/port.ts";

/** What tests tell the driver; read anew with every call, so a change holds from the next call on. */
export interface Control {
  version: string;
  nodeId: string;
  /** 0: no limit. */
  maxVolumes: number;
  topology: Record<string, string>;
  capabilities: CsiNodeCapability[];
  /** At its registration. */
  supportedVersions: string[];
  /** By their ids. */
  volumes: Record<string, VolumeSpec>;
  /** What any other volume is, made when it is first used; undefined: others are `not-found`. */
  otherVolumes?: VolumeSpec | undefined;
  /** By volume; where the driver has VOLUME_CONDITION, volumes that are not listed are well. */
  conditions: Record<string, { abnormal: boolean; message: string }>;
  /** By RPC: `NodePublishVolume`, …, `GetInfo` and `NotifyRegistrationStatus` of the registration. */
  faults: Record<string, Fault>;
  /** Unmounts everything when it is asked to end. Else mounts stay, as those of a driver that is upgraded. */
  cleanUpOnTerm: boolean;
}

export interface VolumeSpec {
  /**
   * - `directory`: shown by bind mounts; never full, and an expansion is a number only.
   * - `image`: an ext4 file system, shown by a loop device, or a block device. Growing one that is mounted needs the
   *   capability CAP_SYS_RESOURCE, which some containers lack.
   * - `memory`: a tmpfs, which is gone when it is unstaged, but has a size, and can grow, everywhere.
   */
  kind: "directory" | "image" | "memory";
  /** When it is made. Default 32 MiB. */
  sizeBytes?: number | undefined;
}

export interface Fault {
  /** Whether the fault comes before or after the call's effect. Default before. */
  when?: "before" | "after" | undefined;
  /** Waits first. */
  delayMs?: number | undefined;
  /**
   * `fail` answers `code`; `hang` does not answer as long as the fault is there, whatever becomes of the caller; `crash`
   * kills the process. Default: nothing further.
   */
  action?: "fail" | "hang" | "crash" | undefined;
  /** Default `internal`. */
  code?: GrpcErrorCode | undefined;
  detail?: string | undefined;
  /** How many calls it hits, also over restarts. Default: all. */
  times?: number | undefined;
  /** Only calls for this volume. */
  volumeId?: string | undefined;
  /** Tells this setting of the fault from others, to count its times. The writer of the file gives it. */
  id?: string | undefined;
}

/** A driver that can all that needs no more than a directory. */
export const DEFAULT_CONTROL: Control = {
  version: "v1.0.0",
  nodeId: "test-node",
  maxVolumes: 0,
  topology: {},
  capabilities: ["STAGE_UNSTAGE_VOLUME", "GET_VOLUME_STATS", "EXPAND_VOLUME"],
  supportedVersions: ["1.0.0"],
  volumes: {},
  otherVolumes: { kind: "directory" },
  conditions: {},
  faults: {},
  cleanUpOnTerm: false,
};

/** What is in the file. */
export function readControl(path: string): Control {
  const control: unknown = JSON.parse(readFileSync(path, "utf8"));
  if (!isControl(control)) throw new TypeError(`${path} is no control file`);
  return control;
}

/** In one step, so that the driver never reads half a file. */
export function writeControl(path: string, control: Control): void {
  writeFileSync(`${path}.new`, JSON.stringify(control, undefined, 2));
  renameSync(`${path}.new`, path);
}

/** The file is written by `writeControl` only, which takes nothing else; this notices a file of another kind. */
function isControl(value: unknown): value is Control {
  return isRecord(value) && Object.keys(DEFAULT_CONTROL).every((key) => key === "otherVolumes" || key in value);
}
