import type { FakeClock } from "../../../src/host/fake/fake-clock.ts";
import type { Dice } from "../dice.ts";
import type { Trace } from "../trace.ts";
import type { Failure } from "../world.ts";
import type { Disk } from "./disk.ts";
import type { Disturbances } from "./disturbances.ts";
import type { Estate } from "./estate/estate.ts";
import type { Kubelets } from "./kubelets.ts";
import type { Ledger } from "./ledger.ts";
import type { Server } from "./server.ts";
import type { Webhook } from "./webhook.ts";

/** Everything of one run: the control plane, its disk, the nodes, a webhook, and what users did. */
export interface ControlPlaneWorld {
  readonly clock: FakeClock;
  readonly dice: Dice;
  readonly trace: Trace;
  readonly ledger: Ledger;
  readonly disk: Disk;
  readonly webhook: Webhook;
  readonly server: Server;
  readonly kubelets: Kubelets;
  readonly disturbances: Disturbances;
  /** Pods that somebody asked to evict. */
  readonly evictions: Set<string>;
  /** UIDs of objects that users delete. */
  readonly given: Set<string>;
  /** Undefined in seeds from before there was one. */
  readonly estate: Estate | undefined;
  readonly counts: Map<string, number>;
  readonly failure: Failure | undefined;
  fail(invariant: string, message: string): void;
  count(kind: string): void;
  /** Lets time pass, timer by timer, until `at` (milliseconds of the clock) or a failure. */
  passUntil(at: number): Promise<void>;
  readonly steps: number;
}
