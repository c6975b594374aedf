import { messageOf } from "../../../base/errors.ts";
import type { Log } from "../../../base/log.ts";
import type { Hugepages, Machine, MachineIdentity } from "../../../host/port.ts";

/** What of the machine does not change while the node agent runs, as the node's status tells it. */
export interface MachineFacts {
  readonly identity: MachineIdentity;
  readonly cpuCount: number;
  readonly memoryBytes: bigint;
  readonly swapBytes: bigint;
  readonly hugepages: readonly Hugepages[];
  /** Of the file system that holds the root directory; undefined where it cannot be read, and the node is not ready. */
  readonly ephemeralStorageBytes: bigint | undefined;
}

type FactMachine = Pick<
  Machine,
  "identity" | "cpuCount" | "memoryCapacityBytes" | "swapCapacityBytes" | "hugepages" | "fileSystemCapacity"
>;

/** Reads the machine. Swap and huge pages that cannot be read count as none, as upstream takes them. */
export async function readMachineFacts(
  { machine, log }: { machine: FactMachine; log: Log },
  rootDirectory: string,
): Promise<MachineFacts> {
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
