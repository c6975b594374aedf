import type { ContainerEventResponse } from "../gen/cri-v1.ts";

/** A call on its way through the fake runtime. */
export interface FakeCall {
  /** `runPodSandbox`. */
  rpc: string;
  request: unknown;
  /** Fires when the caller has gone or the runtime stops. */
  signal: AbortSignal;
}

/**
 * Where a test breaks the runtime. A hook that waits delays the call; one that rejects fails it, and a CodedError with
 * a CriErrorCode says how.
 */
export interface FakeFaults {
  /** Before the effect: a call that fails here did nothing. */
  before?(call: FakeCall): Promise<void> | void;
  /** After the effect: a call that fails here did everything, and its reply is lost. */
  after?(call: FakeCall): Promise<void> | void;
  /** How often a subscriber gets this event: 0 loses it, 2 doubles it. Default 1. */
  copiesOf?(event: ContainerEventResponse): number;
}
