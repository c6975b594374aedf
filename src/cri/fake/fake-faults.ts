import type { ContainerEventResponse } from "../gen/cri-v1.ts";

/** A call on its way through the fake runtime. */
export interface FakeCall {
  /** The method's name: `runPodSandbox`. */
  rpc: string;
  request: unknown;
  /** Fires when the caller has gone or the runtime stops. */
  signal: AbortSignal;
}

/**
 * The hooks by which a test breaks the runtime. A hook that waits delays the call. A hook that rejects fails the call,
 * and a CodedError with a CriErrorCode decides how.
 */
export interface FakeFaults {
  /** Called before the effect: a call that fails here did nothing. */
  before?(call: FakeCall): Promise<void> | void;
  /** Called after the effect: a call that fails here did everything, and its reply is lost. */
  after?(call: FakeCall): Promise<void> | void;
  /** Returns how often a subscriber gets this event: 0 loses it, 2 doubles it. Default 1. */
  copiesOf?(event: ContainerEventResponse): number;
}
