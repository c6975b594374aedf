import { CodedError } from "../../../base/errors.ts";

/**
 * Why a pod has no sandbox:
 * - `no-runtime-class`: its runtime class cannot be looked up on a node without an API server;
 * - `unsupported`: the runtime lacks what the pod asks for, and running the pod without it would be less safe;
 * - `invalid-config`: no config can be made from what the pod says;
 * - `failed`: the runtime or a look-up failed, for the reason that is the error's `cause`.
 */
type PodSandboxErrorCode = "no-runtime-class" | "unsupported" | "invalid-config" | "failed";

/** A sandbox that cannot be made. The pod's worker tries again after its back-off. */
export class PodSandboxError extends CodedError<PodSandboxErrorCode> {
  override readonly name = "PodSandboxError";
}
