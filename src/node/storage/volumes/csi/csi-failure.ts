import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { isAbort } from "../../../../base/abort.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeOperationError } from "../volume-error.ts";
import type { CsiVolume } from "./csi-volume.ts";

/** Names the step that failed (`MountVolume.SetUp failed`) as upstream's event does; an abort stays as it is. */
function stepFailure(what: string, { specName, kind }: Pick<CsiVolume, "specName" | "kind">, error: unknown): Error {
  if (error instanceof VolumeOperationError || (error instanceof Error && isAbort(error))) return error;
  return new VolumeOperationError(`${what} for volume "${specName}" : ${messageOf(error)}`, {
    reason: kind === "block" ? "FailedMapVolume" : "FailedMount",
    cause: error,
  });
}

/** A tear-down that cannot go on, in the form in which upstream logs it. It is tried again whatever the reason. */
export function tearDownError(message: string): Error {
  return new Error(`${CSI_PLUGIN}: ${message}`);
}

/** Somebody else has to act first, and may soon have done so: a retry need not wait for the usual back-off. */
export class AwaitedError extends Error {
  override readonly name = "AwaitedError";
  /** Every volume waits for this at first, so that it is told only when it takes long. */
  readonly isUsual: boolean;

  constructor(message: string, options: { cause?: unknown; isUsual?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.isUsual = options.isUsual === true;
  }
}

/** The driver is not registered. It runs in a pod too, which may still be starting. */
export function missingDriver(doing: string, driverName: string): Error {
  return new AwaitedError(
    `${CSI_PLUGIN}: ${doing}: driver name ${driverName} not found in the list of registered CSI drivers`,
  );
}

/** Runs a step, and names the step in the error where it fails. */
export async function inStep<T>(
  what: string,
  volume: Pick<CsiVolume, "specName" | "kind">,
  run: () => Promise<T> | T,
): Promise<T> {
  try {
    return await run();
  } catch (error) {
    throw stepFailure(what, volume, error);
  }
}
