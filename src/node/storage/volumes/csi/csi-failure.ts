import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { isAbort } from "../../../../base/abort.ts";
import { messageOf } from "../../../../base/errors.ts";
import { VolumeOperationError } from "../volume-error.ts";
import type { CsiVolume } from "./csi-volume.ts";

/** What failed (`MountVolume.SetUp failed`), as upstream's event names it; an abort stays one. */
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

/** Others have to do something first, and may have done it soon: worth another try before the pod's usual back-off. */
export class AwaitedError extends Error {
  override readonly name = "AwaitedError";
  /** It is so for every volume at first: nobody needs to hear of it before it has lasted. */
  readonly isUsual: boolean;

  constructor(message: string, options: { cause?: unknown; isUsual?: boolean } = {}) {
    super(message, { cause: options.cause });
    this.isUsual = options.isUsual === true;
  }
}

/** The driver may be on its way: it is a pod too. */
export function missingDriver(doing: string, driverName: string): Error {
  return new AwaitedError(
    `${CSI_PLUGIN}: ${doing}: driver name ${driverName} not found in the list of registered CSI drivers`,
  );
}

/** Carries a step out, and names it where it fails. */
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
