import type { Files } from "../../../../../host/port.ts";
import { listIfThere, type ScsiDevices } from "../scsi-devices.ts";

/** How a disk of Fibre Channel is named: as a unit of targets, or by its own identifiers. */
export type FcName =
  | { readonly kind: "wwns"; readonly wwns: readonly string[]; readonly lun: number }
  | { readonly kind: "wwids"; readonly wwids: readonly string[] };

interface FindDeps {
  readonly files: Pick<Files, "list">;
  readonly devices: Pick<ScsiDevices, "multipathOf" | "nameAt">;
}

/** The links that udev makes. */
const BY_PATH = "/dev/disk/by-path";
const BY_ID = "/dev/disk/by-id";

/** The disk's place beneath those of the plugin: `50060e801049cfd1-lun-0` or `3600508b400105e210000900000490000`. */
export function fcPlaceName(name: FcName): string {
  return name.kind === "wwns" ? `${name.wwns.join("-")}-lun-${name.lun}` : name.wwids.join("-");
}

/** The inverse of `fcPlaceName`, as far as the names have no hyphens. */
export function fcNameOfPlace(placeName: string): FcName {
  const [, wwns, lun] = /^(.+)-lun-(\d+)$/.exec(placeName) ?? [];
  if (wwns === undefined) return { kind: "wwids", wwids: placeName.split("-") };
  return { kind: "wwns", wwns: wwns.split("-"), lun: Number(lun) };
}

/** The kernel's name of the disk: that of device mapper where it has one. Undefined where there is no such disk. */
export async function findFcDisk(deps: FindDeps, name: FcName): Promise<string | undefined> {
  const disks = await findFcDisks(deps, name);
  for (const disk of disks) {
    const multipath = await deps.devices.multipathOf(disk);
    if (multipath !== undefined) return multipath;
  }
  return disks.at(-1);
}

/** The kernel's names of all that the name leads to. */
export async function findFcDisks({ files, devices }: FindDeps, name: FcName): Promise<readonly string[]> {
  const directory = name.kind === "wwns" ? BY_PATH : BY_ID;
  const links = (await listIfThere(files, directory)).map((entry) => entry.name);
  const wanted =
    name.kind === "wwns"
      ? name.wwns.map((wwn) => (link: string) => isPath(link, `0x${wwn}-lun-${name.lun}`))
      : name.wwids.map((wwid) => (link: string) => link === `scsi-${wwid}`);
  const found: string[] = [];
  for (const isWanted of wanted) {
    for (const link of links.filter(isWanted)) {
      const disk = await devices.nameAt(`${directory}/${link}`);
      if (disk !== undefined && !found.includes(disk)) found.push(disk);
    }
  }
  return found;
}

function isPath(link: string, end: string): boolean {
  return link === `fc-${end}` || (link.startsWith("pci-") && link.endsWith(`-fc-${end}`));
}
