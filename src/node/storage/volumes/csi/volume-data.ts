import { CSI_PLUGIN } from "../../../../api/csi-volumes.ts";
import { isRecord } from "../../../../api/object.ts";
import { CodedError, codeOf, messageOf } from "../../../../base/errors.ts";
import type { Files } from "../../../../host/port.ts";
import { VOLUME_DATA_FILE } from "./csi-paths.ts";

/** The data file in a volume's directory, with upstream's keys (pkg/volume/csi/csi_mounter.go, `volDataKey`). */
export interface VolumeData {
  readonly driverName: string;
  readonly volumeHandle: string;
  readonly specVolID?: string | undefined;
  readonly nodeName?: string | undefined;
  readonly attachmentID?: string | undefined;
  readonly volumeLifecycleMode?: string | undefined;
  /** The label that the volume is mounted with; absent for most. */
  readonly seLinuxMountContext?: string | undefined;
}

const MAX_BYTES = 64 * 1024;

/**
 * The data of a volume is there and of no use. `unreadable`: the file could not be read, which may pass; `malformed`: it
 * names no driver and no volume, so that nobody knows which driver was asked for what.
 */
export class VolumeDataError extends CodedError<"unreadable" | "malformed"> {
  override readonly name = "VolumeDataError";

  constructor(code: "unreadable" | "malformed", path: string, cause: unknown) {
    super(code, `${CSI_PLUGIN}: failed to load volume data file [${path}]: ${messageOf(cause)}`, { cause });
  }
}

/** The data of the volume in this directory; undefined where there is none. Rejects with a VolumeDataError. */
export async function readVolumeData(files: Pick<Files, "read">, directory: string): Promise<VolumeData | undefined> {
  const path = `${directory}/${VOLUME_DATA_FILE}`;
  let text: string;
  try {
    text = (await files.read(path, MAX_BYTES)).toString();
  } catch (error) {
    if (codeOf(error) === "ENOENT") return undefined;
    throw new VolumeDataError("unreadable", path, error);
  }
  try {
    const data: unknown = JSON.parse(text);
    if (!isRecord(data)) throw new TypeError("not an object");
    const { driverName, volumeHandle } = data;
    if (typeof driverName !== "string" || typeof volumeHandle !== "string") throw new TypeError("no volume is named");
    return {
      driverName,
      volumeHandle,
      volumeLifecycleMode: textOf(data["volumeLifecycleMode"]),
      seLinuxMountContext: textOf(data["seLinuxMountContext"]),
    };
  } catch (error) {
    throw new VolumeDataError("malformed", path, error);
  }
}

/** Writes the data durably. This comes before the driver is called, so that whatever the driver does can be undone. */
export async function writeVolumeData(
  files: Pick<Files, "writeAtomically">,
  directory: string,
  data: VolumeData,
): Promise<void> {
  await files.writeAtomically(`${directory}/${VOLUME_DATA_FILE}`, `${JSON.stringify(data)}\n`, 0o644);
}

function textOf(value: unknown): string | undefined {
  return typeof value === "string" ? value : undefined;
}
