import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Hugepages, Machine, MachineIdentity } from "../../../host/port.ts";

/** The properties of the machine that stay the same while the node agent runs, as the node's status tells them. */
export interface MachineInventory {
  readonly identity: MachineIdentity;
  readonly cpuCount: number;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly hugepages: readonly Hugepages[];
  /**
   * The size of the file system that holds the root directory. It is undefined where it cannot be read; the node is not
   * ready then.
   */
  readonly ephemeralStorageBytes: bigint | undefined;
}

/** The machine, and the log that tells which facts cannot be read. */
export interface InventoryDeps {
  readonly machine: Pick<
    Machine,
    "identity" | "cpuCount" | "memoryCapacityBytes" | "swapCapacityBytes" | "hugepages" | "fileSystemCapacity"
  >;
  readonly log: Log;
}

/** Reads the machine. Swap and huge pages that cannot be read count as none, as they do upstream. */
export async function readMachineInventory(
  { machine, log }: InventoryDeps,
  rootDirectory: string,
): Promise<MachineInventory> {
  const orElse = async <T>(fact: Promise<T>, what: string, fallback: T): Promise<T> =>
    fact.catch((error: unknown) => {
      log.error(`Cannot read the machine's ${what}`, { error: messageOf(error) });
      return fallback;
    });
  const [identity, memoryBytes, swapBytes, hugepages, fileSystem] = await Promise.all([
    machine.identity(),
    machine.memoryCapacityBytes(),
    orElse(machine.swapCapacityBytes(), "swap", 0n),
    orElse<readonly Hugepages[]>(machine.hugepages(), "huge pages", []),
    orElse(machine.fileSystemCapacity(rootDirectory), "file system", undefined),
  ]);
  return {
    identity,
    cpuCount: machine.cpuCount(),
    memoryBytes,
    swapBytes,
    hugepages,
    ephemeralStorageBytes: fileSystem?.sizeBytes,
  };
}
