import { isAbort } from "../../../base/abort.ts";
import { CodedError, messageOf } from "../../../base/errors.ts";

/** The reasons that the pod's events show. */
type VolumeEventReason =
  | "FailedMount"
  | "FailedAttachVolume"
  | "FailedMapVolume"
  | "VolumeResizeFailed"
  | RejectionReason;

/** The reasons with which a pod fails that can never get its volumes on this node. */
type RejectionReason = "VolumeAttachmentLimitExceeded";

/**
 * Why a volume cannot be set up:
 * - `unsupported`: this node agent cannot bring volumes of this kind, or not without an API server;
 * - `invalid`: what the pod or the persistent volume says of the volume cannot be followed, until the object changes;
 * - `missing`: what the volume names does not exist, or is something else: a path of the host, a key of a secret;
 * - `claim-refused`: the pod may not have what its claim stands for, or not yet;
 * - `binding-under-way`: the claim is being bound at this moment;
 * - `failed`: a step that the set-up needs has failed, for the reason that is the error's `cause`.
 */
type VolumeSetUpErrorCode = "unsupported" | "invalid" | "missing" | "claim-refused" | "binding-under-way" | "failed";

/** A volume that cannot be set up. Its event is `FailedMount`, with the message behind `MountVolume.SetUp failed …`. */
export class VolumeSetUpError extends CodedError<VolumeSetUpErrorCode> {
  override readonly name = "VolumeSetUpError";
}

/** A step that failed. The message is the whole event: `MountVolume.MountDevice failed for volume "pv-1" : …`. */
export class VolumeOperationError extends Error {
  override readonly name = "VolumeOperationError";
  readonly reason: VolumeEventReason;
  /** The step waits for others, who may be done after so long; undefined: the pod's usual back-off counts. */
  readonly retryAfterMs: number | undefined;
  /** The step can never succeed here, so a pod that has not run yet fails with this reason. */
  readonly rejectionReason: RejectionReason | undefined;
  /** Nothing is wrong yet, so that no event is recorded. */
  readonly isQuiet: boolean;

  constructor(message: string, options: VolumeOperationErrorOptions = {}) {
    super(message, { cause: options.cause });
    this.reason = options.rejectionReason ?? options.reason ?? "FailedMount";
    this.retryAfterMs = options.retryAfterMs;
    this.rejectionReason = options.rejectionReason;
    this.isQuiet = options.isQuiet === true;
  }
}

interface VolumeOperationErrorOptions {
  readonly reason?: VolumeEventReason;
  readonly retryAfterMs?: number | undefined;
  readonly rejectionReason?: RejectionReason | undefined;
  readonly isQuiet?: boolean;
  readonly cause?: unknown;
}

/** A warning event of the pod. */
export interface VolumeComplaint {
  readonly reason: VolumeEventReason;
  readonly message: string;
}

/** Some volumes of a pod cannot be set up. Each failure that is not quiet is an event. */
export class VolumeError extends Error {
  override readonly name = "VolumeError";
  readonly complaints: readonly VolumeComplaint[];
  /** After how long the first of them is worth another try; undefined: after the pod's usual back-off. */
  readonly retryAfterMs: number | undefined;
  /** Why a pod that has not run yet can never run here; undefined where it may. */
  readonly rejection: { readonly reason: string; readonly message: string } | undefined;

  constructor(failures: readonly VolumeFailure[]) {
    super([...new Set(failures.map((failure) => complaintOf(failure).message))].join("; "), {
      cause: failures[0]?.error,
    });
    this.complaints = withoutRepeats(failures.filter((failure) => !isQuiet(failure)).map(complaintOf));
    const errors = failures.map(({ error }) => error).filter((error) => error instanceof VolumeOperationError);
    const waits = errors.map(({ retryAfterMs }) => retryAfterMs).filter((wait) => wait !== undefined);
    this.retryAfterMs = waits.length === 0 ? undefined : Math.min(...waits);
    const [rejection] = errors.flatMap(({ rejectionReason: reason, message }) => (reason ? [{ reason, message }] : []));
    this.rejection = rejection;
  }
}

/** One volume, and what was thrown when it was set up. */
export interface VolumeFailure {
  readonly volumeName: string;
  readonly error: unknown;
}

/** Makes one error of all volumes that failed, each named as in upstream's events; an abort is returned as it is. */
export function volumeError(failures: readonly VolumeFailure[]): Error {
  for (const { error } of failures) if (error instanceof Error && isAbort(error)) return error;
  return new VolumeError(failures);
}

/** Where several volumes fail for the same reason with the same words, it is told once. */
function withoutRepeats(complaints: readonly VolumeComplaint[]): VolumeComplaint[] {
  return complaints.filter(({ reason, message }, index) => {
    return complaints.findIndex((other) => other.reason === reason && other.message === message) === index;
  });
}

function isQuiet({ error }: VolumeFailure): boolean {
  return error instanceof VolumeOperationError && error.isQuiet;
}

function complaintOf({ volumeName, error }: VolumeFailure): VolumeComplaint {
  if (error instanceof VolumeOperationError) return { reason: error.reason, message: error.message };
  const message = `MountVolume.SetUp failed for volume "${volumeName}" : ${messageOf(error)}`;
  return { reason: "FailedMount", message };
}
