import type { FakeCri } from "../../src/cri/fake/create-fake-cri.ts";
import type { FakeHost } from "../../src/host/fake/create-fake-host.ts";
import type { ApiUser } from "./api/api-user.ts";
import type { Cluster } from "./api/create-cluster.ts";
import type { Dice } from "./dice.ts";
import type { Faults } from "./faults.ts";
import type { StorageGrowth } from "./local-storage/storage-growth.ts";
import type { MachineShutdown } from "./machine-shutdown.ts";
import type { Manifests } from "./manifests.ts";
import type { SimulatedNode } from "./node.ts";
import type { Places } from "./places.ts";
import type { ProbedPods } from "./probes/probed-pods.ts";
import type { NodeShortage } from "./shortage/node-shortage.ts";
import type { Trace } from "./trace.ts";
import type { WantedPods } from "./wanted-pods.ts";

/** Everything of one run: the machine, the runtime, the operator's manifests, the node agent, and who watches them. */
export interface World {
  readonly host: FakeHost;
  readonly clock: FakeHost["clock"];
  readonly cri: FakeCri;
  readonly node: SimulatedNode;
  readonly manifests: Manifests;
  /** The API server and who uses it; undefined on a node that has manifests only. */
  readonly cluster: Cluster | undefined;
  readonly user: ApiUser | undefined;
  /** The growth of the API's pods; static ones are never evicted. */
  readonly growth: StorageGrowth | undefined;
  /** Containers that answer probes; undefined where pods have none. */
  readonly probed: ProbedPods | undefined;
  /** Containers that take more of something than the machine has; undefined where there is enough for all. */
  readonly shortage: NodeShortage | undefined;
  /** The machine goes down at the end, and its logind says so before. */
  readonly shutdown: MachineShutdown | undefined;
  /** Undefined: as many as pods can want. */
  readonly places: Places | undefined;
  /** The pods of manifests and API. */
  readonly wanted: WantedPods;
  readonly faults: Faults;
  readonly trace: Trace;
  readonly dice: Dice;
  readonly options: WorldOptions;
  /** What the world did to a pod or a container, for checks that must not blame the node agent. */
  readonly interference: Interference;
  /** The first invariant that did not hold; undefined while all do. */
  readonly failure: Failure | undefined;
  fail(invariant: string, message: string): void;
  /** Lets time pass, timer by timer, checking after each, until `at` (milliseconds of the clock) or a failure. */
  passUntil(at: number): Promise<void>;
  readonly steps: number;
}

export interface Failure {
  invariant: string;
  message: string;
}

export interface WorldOptions {
  /** As older runtimes: no stream of events. */
  hasEvents: boolean;
  /** RPCs take about as long as containerd's do. */
  hasLatency: boolean;
}

interface Interference {
  /** Containers whose end was the world's doing. */
  readonly endedContainers: Set<string>;
  /** Pods that may end otherwise than their script says. */
  readonly pods: Set<string>;
  /** When the wall clock was last set; -Infinity for never. */
  clockJumpedAt: number;
}
