import { isAbort, sleep } from "../../../../../base/abort.ts";
import { type Clock, SECOND } from "../../../../../base/clock.ts";
import { messageOf } from "../../../../../base/errors.ts";
import type { Files } from "../../../../../host/port.ts";
import { listIfThere, type ScsiDevices } from "../scsi-devices.ts";
import type { IscsiRecord } from "./iscsi-record.ts";
import type { IscsiSessions } from "./iscsi-sessions.ts";
import type { Iscsiadm } from "./iscsiadm.ts";

interface AttachDeps {
  readonly files: Pick<Files, "list" | "stat">;
  readonly clock: Clock;
  readonly sessions: IscsiSessions;
  readonly devices: ScsiDevices;
  readonly iscsiadm: Iscsiadm;
}

/** How the disk is reached; secrets are undefined where nobody asks for them. */
interface AttachRequest {
  readonly record: IscsiRecord;
  readonly discoverySecrets: Readonly<Record<string, string>> | undefined;
  readonly sessionSecrets: Readonly<Record<string, string>> | undefined;
  readonly signal: AbortSignal;
}

// The numbers are upstream's (pkg/volume/iscsi/iscsi_util.go).
/** So many paths make a disk with multipath. */
const MIN_PATHS = 2;
/** With that many paths the others are tried so often. */
const MIN_ATTEMPTS = 2;
/** After so many attempts one path is enough. */
const MAX_ATTEMPTS = 5;
const MULTIPATH_WAIT_SECONDS = 10;
const DEVICE_WAIT_SECONDS = 30;

const BY_PATH = "/dev/disk/by-path";

/**
 * Begins the sessions with all portals of the disk that have none yet, and returns the path of its device: that of device
 * mapper where there are several and it has one. The caller holds the lock of the target.
 */
export async function attachIscsiDisk(deps: AttachDeps, request: AttachRequest): Promise<string> {
  const { record, signal } = request;
  const transport = await ensureInterface(deps, record);
  const paths = await findPaths(deps, request, transport);
  const multipath = await waitFor(deps, signal, record.portals.length > 1 ? MULTIPATH_WAIT_SECONDS : 1, async () => {
    for (const path of paths) {
      const name = await deps.devices.nameAt(path);
      const over = name === undefined ? undefined : await deps.devices.multipathOf(name);
      if (over !== undefined) return over;
    }
    return undefined;
  });
  const name = multipath ?? (await deps.devices.nameAt(paths[0] ?? ""));
  if (name === undefined) throw new Error(`the device at ${paths[0] ?? ""} is gone`);
  return `/dev/${name}`;
}

/** Makes the interface of this volume's initiator, if it has one. Returns the transport of its sessions. */
async function ensureInterface({ iscsiadm }: AttachDeps, record: IscsiRecord): Promise<string> {
  const { baseInterface, initiatorName } = record;
  const settings = await iscsiadm.readInterface(baseInterface);
  if (initiatorName !== "") {
    await iscsiadm.setInterface(record.interface, new Map([...settings, ["iface.initiatorname", initiatorName]]));
  }
  return settings.get("iface.transport_name") ?? "tcp";
}

/** The links of the disk, one for each portal that could be reached; at least one. */
async function findPaths(deps: AttachDeps, request: AttachRequest, transport: string): Promise<readonly string[]> {
  const { record, signal } = request;
  const found = new Map<string, string>();
  let failure: unknown;
  for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
    for (const portal of record.portals) {
      if (found.has(portal)) continue;
      try {
        found.set(portal, await attachPath(deps, request, { portal, transport }));
      } catch (error) {
        if (isAbort(error) || signal.aborted) throw error;
        failure = error;
      }
    }
    if (found.size === 0) {
      if (record.initiatorName !== "") await deps.iscsiadm.deleteInterface(record.interface).catch(() => undefined);
      const message = `failed to get any path for iscsi disk, last err seen:\n${messageOf(failure)}`;
      throw new Error(message, { cause: failure });
    }
    if (found.size === record.portals.length || (found.size >= MIN_PATHS && attempt >= MIN_ATTEMPTS)) break;
  }
  return [...found.values()];
}

async function attachPath(
  deps: AttachDeps,
  request: AttachRequest,
  { portal, transport }: { readonly portal: string; readonly transport: string },
): Promise<string> {
  const { record, signal } = request;
  const { iqn, lun } = record;
  const host = await ensureSession(deps, request, portal);
  // Its channel and target are always 0.
  await deps.devices.scan(host, `0 0 ${lun}`);
  const address = portal.replaceAll(/[[\]]/g, "");
  const name = `ip-${address}-iscsi-${iqn}-lun-${lun}`;
  const link = await waitFor(deps, signal, DEVICE_WAIT_SECONDS, async () => await findLink(deps, name, transport));
  if (link !== undefined) return link;
  const shown = transport === "tcp" ? name : `pci-*-${name}`;
  throw new Error(`Timed out waiting for device at path ${BY_PATH}/${shown} after ${DEVICE_WAIT_SECONDS}s`);
}

/** The SCSI host of the session with the portal. */
async function ensureSession({ sessions, iscsiadm }: AttachDeps, request: AttachRequest, portal: string) {
  const { record, discoverySecrets, sessionSecrets } = request;
  const { iqn } = record;
  const known = (await sessions.hostsOf(iqn)).get(portal);
  if (known !== undefined) return known;
  await iscsiadm.discover(portal, record.interface, discoverySecrets).catch((error: unknown) => {
    throw isAbort(error)
      ? error
      : new Error(`iscsi: failed to sendtargets to portal ${portal} output: ${messageOf(error)}`, { cause: error });
  });
  await iscsiadm.logIn({ portal, iqn, interface: record.interface }, sessionSecrets).catch((error: unknown) => {
    throw isAbort(error)
      ? error
      : new Error(`iscsi: failed to attach disk: Error: ${messageOf(error)}`, { cause: error });
  });
  const host = (await sessions.hostsOf(iqn)).get(portal);
  if (host === undefined) throw new Error(`Could not get SCSI host number for portal ${portal} after logging in`);
  return host;
}

/** A card that speaks iSCSI by itself puts its own address before the name. */
async function findLink({ files }: AttachDeps, name: string, transport: string): Promise<string | undefined> {
  if (transport === "tcp") {
    const path = `${BY_PATH}/${name}`;
    return (await files.stat(path)) === undefined ? undefined : path;
  }
  const links = (await listIfThere(files, BY_PATH)).map((entry) => entry.name);
  const link = links.find((each) => each.startsWith("pci-") && each.endsWith(`-${name}`));
  return link === undefined ? undefined : `${BY_PATH}/${link}`;
}

/** Looks once a second until there is something; undefined after so many looks. */
async function waitFor<T>(
  { clock }: AttachDeps,
  signal: AbortSignal,
  looks: number,
  look: () => Promise<T | undefined>,
): Promise<T | undefined> {
  for (let left = looks; ; left--) {
    const found = await look();
    if (found !== undefined || left <= 1) return found;
    await sleep(clock, SECOND, signal);
  }
}
