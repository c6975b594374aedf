import { ISCSI_PLUGIN } from "../../../../../api/disk-volumes.ts";
import { isAbort } from "../../../../../base/abort.ts";
import type { Clock } from "../../../../../base/clock.ts";
import { messageOf } from "../../../../../base/errors.ts";
import { createKeyedLock } from "../../../../../base/keyed-lock.ts";
import type { Mounts } from "../../../../../host/mounts-port.ts";
import type { Files } from "../../../../../host/port.ts";
import type { VolumeSources } from "../../api/volume-sources.ts";
import { VolumeSetUpError } from "../../volume-error.ts";
import type { DiskKind } from "../named-disk.ts";
import { createScsiDevices, type ScsiDevicesDeps } from "../scsi-devices.ts";
import { attachIscsiDisk } from "./attach-iscsi.ts";
import { detachIscsiDisk } from "./detach-iscsi.ts";
import { type IscsiDisk, isIscsiSource, planIscsiDisk, recordOfPlace, uniqueNamesOfPlace } from "./iscsi-disk.ts";
import { ISCSI_RECORD_FILE, writeIscsiRecord } from "./iscsi-record.ts";
import { createIscsiSessions } from "./iscsi-sessions.ts";
import { createIscsiadm } from "./iscsiadm.ts";

/** What disks of iSCSI targets need of the machine and the API. */
interface IscsiKindDeps extends ScsiDevicesDeps {
  readonly files: ScsiDevicesDeps["files"] & Pick<Files, "remove" | "writeAtomically">;
  readonly mounts: Pick<Mounts, "isMountPoint" | "list">;
  readonly clock: Clock;
  readonly secret: VolumeSources["secret"];
}

/** Disks of iSCSI targets, which open-iscsi's programs reach (pkg/volume/iscsi). */
export function createIscsiKind(deps: IscsiKindDeps): DiskKind {
  const devices = createScsiDevices(deps);
  const sessions = createIscsiSessions(deps.files);
  /** A session must not end between the look for another disk that needs it and the end of that disk's set-up. */
  const targets = createKeyedLock();

  return {
    pluginName: ISCSI_PLUGIN,
    placeDepth: 2,
    notes: [ISCSI_RECORD_FILE],
    supports: isIscsiSource,
    plan: planIscsiDisk,
    uniqueNamesOf: uniqueNamesOfPlace,
    async attach(request, place) {
      const { record, chap } = planIscsiDisk(request);
      const { signal } = request;
      const secrets = await readSecrets(deps, chap, signal);
      // What is written before the first session is enough to end it. Over a mounted disk it would not be found.
      if (!(await deps.mounts.isMountPoint(place.path))) await writeIscsiRecord(deps.files, place.path, record);
      const attachRequest = {
        record,
        discoverySecrets: chap.discovery ? secrets : undefined,
        sessionSecrets: chap.session ? secrets : undefined,
        signal,
      };
      const iscsiadm = createIscsiadm(deps, signal);
      return await targets.run(
        record.iqn,
        async () => await attachIscsiDisk({ ...deps, devices, sessions, iscsiadm }, attachRequest),
        signal,
      );
    },
    async detach(place, { others, leave }, signal) {
      const iqn = recordOfPlace(place.placeName)?.iqn ?? "";
      const iscsiadm = createIscsiadm(deps, signal);
      await targets.run(
        iqn,
        async () => {
          await detachIscsiDisk({ ...deps, devices, sessions, iscsiadm }, place, others());
          // While no other disk of the target is looked at: of two that go together, the second one ends the session.
          leave();
        },
        signal,
      );
    },
  };
}

/** What the node proves itself with; nothing where it need not. */
async function readSecrets(
  { secret }: Pick<IscsiKindDeps, "secret">,
  { discovery, session, secret: reference }: IscsiDisk["chap"],
  signal: AbortSignal,
): Promise<Readonly<Record<string, string>>> {
  if (reference === undefined || (!discovery && !session)) return {};
  const { namespace, name } = reference;
  try {
    const { data = {} } = await secret(namespace, name, signal);
    return Object.fromEntries(
      Object.entries(data).map(([key, value]) => [key, Buffer.from(value, "base64").toString()]),
    );
  } catch (error) {
    if (isAbort(error)) throw error;
    const message = `couldn't get secret ${namespace}/${name} error: ${messageOf(error)}`;
    throw new VolumeSetUpError("failed", message, { cause: error });
  }
}
