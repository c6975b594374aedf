import type { Node, Pod } from "../../../src/api/gen/types.ts";
import { NODES } from "../../../src/api/kube-resource.ts";
import type { ResourceFeed } from "../../../src/control-plane/ports/resources.ts";
import type { FakeHost } from "../../../src/host/fake/create-fake-host.ts";
import type { KubeClient } from "../../../src/kube/port.ts";
import type { Dice } from "../dice.ts";
import type { Faults } from "../faults.ts";
import { NODE_NAME } from "../manifests.ts";
import type { Trace } from "../trace.ts";
import { type Attacher, createAttacher } from "./attacher.ts";
import { createDriverFaults, type DriverFaults, NO_DRIVER_FAULTS } from "./driver-faults.ts";
import { createSimulatedDriver, type DriverCallSeen, type SimulatedDriver } from "./simulated-driver.ts";
import { giveClaims, makeStorageObjects, makeVolume } from "./storage-objects.ts";
import { LOCAL_DIRECTORY, PART, planStorage, type StoragePlan } from "./storage-plan.ts";

/** What a cluster has of storage: a driver on the node, its other half elsewhere, volumes and claims. */
export interface Storage {
  readonly plan: StoragePlan;
  readonly driver: SimulatedDriver;
  readonly faults: DriverFaults;
  readonly attacher: Attacher;
  /** Decides what goes wrong, and when. */
  readonly dice: Dice;
  /** The node as the API has it; undefined while there is none. */
  node(): Node | undefined;
  /**
   * Directories of devices that the node agent could not remove, and said so: the next one finds them.
   */
  readonly leftDirectories: ReadonlySet<string>;
  /** A line of its log. */
  read(line: string): void;
  /** A process of the node agent starts. */
  started(): void;
  /** When the node object was deleted last, by the clock; -Infinity for never. */
  readonly nodeDeletedAt: number;
  /** Gives a pod that is about to be created some of the claims. */
  dress(pod: Pod): Pod;
  /** Makes the volumes that come late. */
  makeMissing(): Promise<void>;
  /** With the machine: the driver comes back some time after. */
  reboot(): void;
  /** Nothing is broken any more. */
  heal(): Promise<void>;
}

export interface StorageDeps {
  host: FakeHost;
  admin: KubeClient;
  feed: ResourceFeed;
  faults: Faults;
  trace: Trace;
  dice: { plan: Dice; faults: Dice; user: Dice };
  fail(invariant: string, message: string): void;
  onCalled(call: DriverCallSeen): void;
  onAnswered(call: DriverCallSeen): void;
  onDetach(volumeName: string): void;
}

export async function createStorage(deps: StorageDeps): Promise<Storage> {
  const { host, admin, feed, faults, trace, dice } = deps;
  const { clock } = host;
  const plan = planStorage(dice.plan);
  const driverFaults = createDriverFaults({ clock, dice: dice.faults, faults, trace });
  const { onCalled, onAnswered, onDetach, fail } = deps;
  const driver = createSimulatedDriver({ host, plan, faults: driverFaults, trace, onCalled, onAnswered });
  const attacher = createAttacher({ admin, feed, clock, dice: dice.faults, trace, onDetach, fail });
  host.files.put(`${LOCAL_DIRECTORY}/${PART}/.keep`, "");
  await makeStorageObjects(admin, plan);
  const missing = new Set(plan.claims.filter(({ isLate }) => isLate));
  const leftDirectories = new Set<string>();
  let node: Node | undefined;
  let nodeDeletedAt = Number.NEGATIVE_INFINITY;
  feed.follow("nodes", ({ type, object }) => {
    if (object.metadata.name !== NODE_NAME) return;
    node = type === "DELETED" ? undefined : NODES.read(object);
    if (node === undefined) nodeDeletedAt = clock.monotonic();
  });

  const makeMissing = async () => {
    for (const claim of missing) {
      missing.delete(claim);
      trace.note(`storage: volume ${claim.name} is there`);
      await makeVolume(admin, claim);
    }
  };
  return {
    plan,
    driver,
    faults: driverFaults,
    attacher,
    dice: dice.plan,
    node: () => node,
    get nodeDeletedAt() {
      return nodeDeletedAt;
    },
    leftDirectories,
    read(line) {
      const found = /a driver has left something in a directory of its volume.*"path":"([^"]+)\/globalmount"/.exec(
        line,
      );
      if (found?.[1] !== undefined) leftDirectories.add(found[1]);
    },
    started: () => leftDirectories.clear(),
    dress: (pod) => giveClaims(dice.user, plan, pod),
    makeMissing,
    reboot() {
      driver.reboot();
      faults.begin("driver down");
      clock.setTimer(dice.faults.between(100, 20_000), () => {
        if (!driver.isUp) driver.start();
        faults.mend("driver down");
      });
    },
    async heal() {
      driverFaults.storm(NO_DRIVER_FAULTS);
      attacher.hurry();
      driver.start();
      for (const kind of DRIVER_TROUBLES) faults.mend(kind);
      await makeMissing();
    },
  };
}

/** What `heal` mends. */
export const DRIVER_TROUBLES = ["driver away", "driver down", "driver socket hidden"] as const;
