import type { Node } from "../../../src/api/gen/types.ts";
import type { FakeOccurrence } from "../../../src/cri/fake/fake-state.ts";
import type { PodVersion } from "../api/api-pods.ts";
import type { ApiRequestSeen } from "../api/gated-client.ts";
import type { PublishedStatus } from "../node.ts";
import type { DriverCallSeen } from "../storage/simulated-driver.ts";

/** Watches a run and calls `world.fail` when its invariant does not hold. */
export interface Check {
  /** Something became true in the runtime; called at that moment. */
  occurred?(occurrence: FakeOccurrence): void;
  /** The node agent calls the runtime. */
  called?(rpc: string, request: unknown): void;
  /** The node agent published a status that is news. */
  published?(published: PublishedStatus): void;
  /** A pod of the API changed, by whomever. */
  stored?(version: PodVersion): void;
  /** The node agent's request has reached the API server, and is about to be done. */
  asked?(request: ApiRequestSeen): void;
  /** It was done; the answer is on its way, and may be lost. */
  wrote?(request: ApiRequestSeen, answer: unknown): void;
  /** The node agent asks its storage driver. */
  driverAsked?(call: DriverCallSeen): void;
  /** That call is over for the node agent, however it ended. */
  driverAnswered?(call: DriverCallSeen): void;
  /** A volume is about to be taken from the node. */
  detached?(volumeName: string): void;
  /** The node object changed, by whomever. */
  nodeStored?(node: Node, previous: Node | undefined): void;
  /** A line of the node agent's log, of whatever level. */
  logged?(line: string): void;
  /** A process of the node agent starts. */
  started?(): void;
  /** Everything that needs no more time has happened. */
  stepped?(): void;
}
