import { diskVolumeName, FC_PLUGIN } from "../../../../../api/disk-volumes.ts";
import type { FCVolumeSource } from "../../../../../api/gen/types.ts";
import { assert } from "../../../../../base/assert.ts";
import { createKeyedLock } from "../../../../../base/keyed-lock.ts";
import type { Mounts } from "../../../../../host/mounts-port.ts";
import { VolumeSetUpError } from "../../volume-error.ts";
import type { VolumeRequest, VolumeSource } from "../../volume-plugin.ts";
import { type DiskKind, diskUseOf, type NamedDisk, refuseUnfitNames } from "../named-disk.ts";
import { refuseMounted } from "../refuse-mounted.ts";
import { createScsiDevices, listIfThere, type ScsiDevices, type ScsiDevicesDeps } from "../scsi-devices.ts";
import { type FcName, fcNameOfPlace, fcPlaceName, findFcDisk, findFcDisks } from "./fc-disk.ts";

interface FcKindDeps extends ScsiDevicesDeps {
  readonly mounts: Pick<Mounts, "list">;
}

/** Disks of Fibre Channel, which the kernel reaches by itself (pkg/volume/fc). */
export function createFcKind(deps: FcKindDeps): DiskKind {
  const devices = createScsiDevices(deps);
  /** All disks share the buses, which are scanned for each. */
  const turns = createKeyedLock();

  const scanAll = async () => {
    for (const { name } of await listIfThere(deps.files, "/sys/class/scsi_host")) await devices.scan(name, "- - -");
  };

  const attach = async (name: FcName): Promise<string> => {
    const known = await findFcDisk({ ...deps, devices }, name);
    // One path that is there may have got a second one, and then its disk is another one.
    if (known?.startsWith("dm-") !== true) await scanAll();
    const found = await findFcDisk({ ...deps, devices }, name);
    if (found === undefined) throw new VolumeSetUpError("missing", "no fc disk found");
    return `/dev/${found}`;
  };

  return {
    pluginName: FC_PLUGIN,
    placeDepth: 1,
    notes: [],
    supports: (source) => fcOf(source) !== undefined,
    plan: planFcDisk,
    uniqueNamesOf: uniqueNamesOfPlace,
    attach: async (request) =>
      await turns.run("scan", async () => await attach(nameOf(sourceOf(request))), request.signal),
    async detach(place, _neighbours, signal) {
      await turns.run(
        "scan",
        async () => await removeDisk({ ...deps, devices }, fcNameOfPlace(place.placeName)),
        signal,
      );
    },
  };
}

/** Several volumes that name one disk by different ways have different places, and this finds the disk in all of them. */
async function removeDisk(deps: FcKindDeps & { readonly devices: ScsiDevices }, name: FcName): Promise<void> {
  const { devices } = deps;
  const disks = new Set<string>();
  const multipaths = new Set<string>();
  for (const disk of await findFcDisks(deps, name)) {
    const over = await devices.multipathOf(disk);
    if (over !== undefined) multipaths.add(over);
    for (const path of over === undefined ? [disk] : await devices.pathsOf(over)) disks.add(path);
  }
  await refuseMounted(deps, [...disks, ...multipaths]);
  for (const multipath of multipaths) await devices.flushMultipath(multipath);
  for (const disk of disks) {
    await devices.flush(disk);
    await devices.remove(disk);
  }
}

function planFcDisk(request: VolumeRequest): NamedDisk {
  const fc = sourceOf(request);
  const placeName = fcPlaceName(nameOf(fc));
  const use = diskUseOf(request, fc);
  refuseUnfitNames([use.specName, placeName]);
  return { ...use, placeName, uniqueName: diskVolumeName({ fc }) ?? "" };
}

function fcOf(source: VolumeSource): FCVolumeSource | undefined {
  return source.kind === "pod" ? source.volume.fc : source.persistentVolume.spec?.fc;
}

function sourceOf({ source }: VolumeRequest): FCVolumeSource {
  const fc = fcOf(source);
  assert(fc !== undefined, "only volumes of Fibre Channel come here");
  return fc;
}

/** What udev makes of white space in the names of its links. */
function nameOf({ targetWWNs = [], lun, wwids = [] }: FCVolumeSource): FcName {
  if (targetWWNs.length > 0 && lun !== undefined) return { kind: "wwns", wwns: targetWWNs, lun };
  if (wwids.length > 0) return { kind: "wwids", wwids: wwids.map((wwid) => wwid.replaceAll(" ", "_")) };
  throw new VolumeSetUpError("invalid", "fc: no fc disk information found. failed to make a new mounter");
}

function uniqueNamesOfPlace(placeName: string): readonly string[] {
  const name = fcNameOfPlace(placeName);
  const unique = diskVolumeName({
    fc: name.kind === "wwns" ? { targetWWNs: [...name.wwns], lun: name.lun } : { wwids: [...name.wwids] },
  });
  return unique === undefined ? [] : [unique];
}
