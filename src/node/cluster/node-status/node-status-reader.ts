import type { ContainerImage } from "../../../api/gen/types.ts";
import type { Log } from "../../../base/log.ts";
import type { Machine } from "../../../host/port.ts";
import { type MachineInventory, readMachineInventory } from "../../resources/capacity/machine-inventory.ts";
import type { NodePressure } from "./node-conditions.ts";
import type { NodeStatusInput, NodeStatusSettings, RuntimeFacts } from "./node-status.ts";

/** Gathers what the node's status is computed from. */
export interface NodeStatusReader {
  read(): Promise<NodeStatusInput>;
}

export interface NodeStatusReaderDeps {
  machine: Machine;
  log: Log;
  runtime(): RuntimeFacts;
  images(): readonly ContainerImage[] | undefined;
  /** Lists why pods cannot be run, in upstream's order: runtime and PLEG, network, storage, shutdown. */
  errors(): readonly string[];
  /** Tells which resources the node is short of. */
  pressure(): NodePressure;
  /** Returns the volumes that the status names; undefined before they are known. */
  volumes(): Promise<VolumesOfNode | undefined>;
}

/** The volumes that the status names; see `NodeStatusInput`. */
export type VolumesOfNode = Pick<NodeStatusInput, "volumesInUse" | "volumesAttached">;

interface NodeStatusReaderOptions {
  readonly settings: NodeStatusSettings;
  /** The size of this directory's file system is the node's ephemeral storage. */
  readonly rootDirectory: string;
}

const NO_VOLUMES: VolumesOfNode = { volumesInUse: undefined, volumesAttached: undefined };

/**
 * The inventory of the machine is read once, so a machine that grew needs a restart, as upstream. Its addresses are
 * read anew.
 */
export function createNodeStatusReader(deps: NodeStatusReaderDeps, options: NodeStatusReaderOptions): NodeStatusReader {
  const { machine } = deps;
  let facts: MachineInventory | undefined;
  const lacksStorage = ({ ephemeralStorageBytes }: MachineInventory) =>
    options.settings.localStorageCapacityIsolation && ephemeralStorageBytes === undefined;
  return {
    async read() {
      if (facts === undefined || lacksStorage(facts)) facts = await readMachineInventory(deps, options.rootDirectory);
      return {
        ...options.settings,
        machine: facts,
        machineAddresses: await machine.nodeAddresses(),
        interfaceAddresses: machine.interfaceAddresses(),
        runtime: deps.runtime(),
        images: deps.images(),
        errors: deps.errors(),
        pressure: deps.pressure(),
        ...((await deps.volumes()) ?? NO_VOLUMES),
      };
    },
  };
}
