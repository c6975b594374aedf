import { isRecord } from "../../../../../api/object.ts";
import type { Files } from "../../../../../host/port.ts";

/** What has to be known of a disk to take it away, long after its volume is gone. */
export interface IscsiRecord {
  readonly volumeName: string;
  /** With their ports; the first one names the disk's place. */
  readonly portals: readonly string[];
  readonly iqn: string;
  readonly lun: number;
  /** The interface that the volume names. */
  readonly baseInterface: string;
  /** The interface that the sessions are of: the same, or a copy for this volume's initiator. */
  readonly interface: string;
  /** Empty: that of the interface. */
  readonly initiatorName: string;
}

/** A file of upstream's in the disk's place, so that a Go kubelet can take the disk away too. */
export const ISCSI_RECORD_FILE = "iscsi.json";
const MAX_BYTES = 64 * 1024;

/** Writes the record, in the form of upstream's `persistISCSIFile`. */
export async function writeIscsiRecord(
  files: Pick<Files, "writeAtomically">,
  directory: string,
  record: IscsiRecord,
): Promise<void> {
  await files.writeAtomically(`${directory}/${ISCSI_RECORD_FILE}`, formatIscsiRecord(record), 0o644);
}

/** Reads the record; undefined where there is none or it cannot be understood. */
export async function readIscsiRecord(files: Pick<Files, "read" | "stat">, directory: string) {
  const path = `${directory}/${ISCSI_RECORD_FILE}`;
  if ((await files.stat(path)) === undefined) return undefined;
  return parseIscsiRecord((await files.read(path, MAX_BYTES)).toString());
}

/** Absent is fine. */
export async function removeIscsiRecord(files: Pick<Files, "remove">, directory: string): Promise<void> {
  await files.remove(`${directory}/${ISCSI_RECORD_FILE}`);
}

/** The text of the file. */
export function formatIscsiRecord(record: IscsiRecord): string {
  const { volumeName, portals, iqn, lun, baseInterface, initiatorName } = record;
  const value = {
    VolName: volumeName,
    Portals: portals,
    Iqn: iqn,
    Lun: String(lun),
    InitIface: baseInterface,
    Iface: record.interface,
    InitiatorName: initiatorName,
    MetricsProvider: null,
  };
  return `${JSON.stringify(value)}\n`;
}

/** Undefined for a text that is none. */
export function parseIscsiRecord(text: string): IscsiRecord | undefined {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!isRecord(value)) return undefined;
  const { VolName, Portals, Iqn, Lun, InitIface, Iface, InitiatorName } = value;
  const portals = Array.isArray(Portals) ? Portals.filter(isText) : [];
  const lun = isText(Lun) && /^\d+$/.test(Lun) ? Number(Lun) : undefined;
  if (!isText(Iqn) || !isText(Iface) || lun === undefined || portals.length === 0) return undefined;
  return {
    volumeName: isText(VolName) ? VolName : "",
    portals: [...new Set(portals)],
    iqn: Iqn,
    lun,
    baseInterface: isText(InitIface) ? InitIface : Iface,
    interface: Iface,
    initiatorName: isText(InitiatorName) ? InitiatorName : "",
  };
}

const isText = (value: unknown): value is string => typeof value === "string" && value !== "";
