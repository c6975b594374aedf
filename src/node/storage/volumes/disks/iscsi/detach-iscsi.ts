import { messageOf } from "../../../../../base/errors.ts";
import type { Log } from "../../../../../base/log.ts";
import type { Mounts } from "../../../../../host/mounts-port.ts";
import type { Files } from "../../../../../host/port.ts";
import type { DiskPlace } from "../named-disk.ts";
import { refuseMounted } from "../refuse-mounted.ts";
import type { ScsiDevices } from "../scsi-devices.ts";
import { recordOfPlace } from "./iscsi-disk.ts";
import { type IscsiRecord, readIscsiRecord, removeIscsiRecord } from "./iscsi-record.ts";
import type { IscsiSessions } from "./iscsi-sessions.ts";
import type { Iscsiadm } from "./iscsiadm.ts";

interface DetachDeps {
  readonly files: Pick<Files, "read" | "remove" | "stat">;
  readonly mounts: Pick<Mounts, "list">;
  readonly log: Log;
  readonly sessions: IscsiSessions;
  readonly devices: ScsiDevices;
  readonly iscsiadm: Iscsiadm;
}

/**
 * Takes the disk of the place from the machine, and ends the sessions with its target unless another disk needs them. The
 * record goes last, so that what fails or dies is tried again. The caller holds the lock of the target.
 */
export async function detachIscsiDisk(deps: DetachDeps, place: DiskPlace, others: readonly DiskPlace[]): Promise<void> {
  const record = (await readIscsiRecord(deps.files, place.path)) ?? recordOfPlace(place.placeName);
  // A directory that names no disk is not ours.
  if (record === undefined) return;
  const known = others.flatMap(({ placeName }) => recordOfPlace(placeName) ?? []);
  const ofTarget = known.filter(({ iqn }) => iqn === record.iqn);
  if (!ofTarget.some(({ lun }) => lun === record.lun)) await removeDevices(deps, record);
  if (!ofTarget.some((other) => other.interface === record.interface)) await endSessions(deps, record);
  await removeIscsiRecord(deps.files, place.path);
}

/** What fails here may be mended by the end of the session, as upstream says; a disk that is mounted stays. */
async function removeDevices({ mounts, devices, sessions, log }: DetachDeps, record: IscsiRecord): Promise<void> {
  const disks = await sessions.disksOf(record.iqn, record.lun);
  const multipaths = new Set<string>();
  for (const disk of disks) {
    const over = await devices.multipathOf(disk);
    if (over !== undefined) multipaths.add(over);
  }
  await refuseMounted({ mounts, devices }, [...disks, ...multipaths]);
  const attempt = async (name: string, remove: () => Promise<void>) => {
    await remove().catch((error: unknown) => {
      log.warn("a device of an iSCSI disk cannot be removed", { device: name, error: messageOf(error) });
    });
  };
  for (const name of multipaths) await attempt(name, async () => await devices.flushMultipath(name));
  for (const name of disks) await attempt(name, async () => await devices.remove(name));
}

async function endSessions({ iscsiadm }: DetachDeps, record: IscsiRecord): Promise<void> {
  const { portals, iqn, initiatorName, volumeName } = record;
  for (const portal of portals) await iscsiadm.logOut({ portal, iqn, interface: record.interface });
  // An interface that was not made for this volume is not ours.
  const isOwn = initiatorName !== "" && record.interface === `${portals[0]}:${volumeName}`;
  if (isOwn) await iscsiadm.deleteInterface(record.interface);
}
