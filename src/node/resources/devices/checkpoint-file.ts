import { codeOf, messageOf } from "../../../base/errors.ts";
import { createLimiter } from "../../../base/limiter.ts";
import type { Log } from "../../../base/log.ts";
import type { Files } from "../../../host/port.ts";
import type { DeviceAssignments } from "./device-assignments.ts";
import { type DeviceCheckpoint, decodeDeviceCheckpoint, encodeDeviceCheckpoint } from "./device-checkpoint.ts";
import type { DeviceInventory } from "./device-inventory.ts";

/** The file in the directory of device plugins that keeps what containers have; its name and format are upstream's. */
const DEVICE_CHECKPOINT = "kubelet_internal_checkpoint";

/** Brings the account of devices to the disk and back. */
interface DeviceCheckpointFile {
  /**
   * Fills inventory and account from the file. False where there is none. One that cannot be used is told in the log,
   * and fills nothing.
   */
  restore(): Promise<boolean>;
  /** Resolves when the account of this moment, or a later one, is on the disk; rejects as the disk does. */
  save(): Promise<void>;
}

interface DeviceCheckpointDeps {
  readonly files: Pick<Files, "makeDirectory" | "read" | "writeAtomically">;
  readonly log: Log;
  readonly inventory: Pick<DeviceInventory, "names" | "get" | "expect">;
  readonly assignments: Pick<DeviceAssignments, "list" | "assign">;
}

/** A node has 1,000 pods at most; an entry is a few hundred bytes. */
const MAX_BYTES = 64 * 1024 * 1024;
const FILE_MODE = 0o600;
const DIRECTORY_MODE = 0o750;

export function createDeviceCheckpointFile(
  { files, log, inventory, assignments }: DeviceCheckpointDeps,
  directory: string,
): DeviceCheckpointFile {
  const path = `${directory}/${DEVICE_CHECKPOINT}`;
  const writes = createLimiter(1);
  let next: Promise<void> | undefined;

  const write = async () => {
    next = undefined;
    const registered = inventory
      .names()
      .map((name) => [name, [...(inventory.get(name)?.healthy ?? [])].sort()] as const);
    const content = { assignments: assignments.list(), registered: Object.fromEntries(registered) };
    await files.makeDirectory(directory, DIRECTORY_MODE);
    await files.writeAtomically(path, encodeDeviceCheckpoint(content), FILE_MODE);
  };

  return {
    async restore() {
      const found = await readCheckpoint({ files, log }, path);
      if (found === undefined) return false;
      for (const name of Object.keys(found.registered)) inventory.expect(name);
      for (const assignment of found.assignments) assignments.assign(assignment);
      return true;
    },
    async save() {
      next ??= writes.run(write);
      await next;
    },
  };
}

async function readCheckpoint(
  { files, log }: Pick<DeviceCheckpointDeps, "files" | "log">,
  path: string,
): Promise<DeviceCheckpoint | undefined> {
  try {
    return decodeDeviceCheckpoint((await files.read(path, MAX_BYTES)).toString());
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    const message = "The checkpoint of devices cannot be used: containers get devices anew when they start again";
    log.error(message, { path, error: messageOf(error) });
    return { assignments: [], registered: {} };
  }
}
