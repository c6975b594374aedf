import type { FakeHost } from "../../../../../host/fake/create-fake-host.ts";
import type { StreamedRun } from "../../../../../host/programs-port.ts";

/** SCSI buses with disks that answer to what is written into sysfs, as the kernel and udev do, and to `multipath`. */
export interface FakeScsi {
  /** A bus with these disks, which are seen once they are scanned for. */
  addHost(disks: readonly FakeDisk[]): string;
  removeHost(host: string): void;
  /** Puts a multipath device over the disks that are seen. */
  addMultipath(name: string, disks: readonly string[]): void;
  /** The disks that the kernel has. */
  readonly seen: ReadonlySet<string>;
}

/** One disk on a bus. */
interface FakeDisk {
  /** `sdb` */
  readonly name: string;
  readonly lun: number;
  /** The names of udev's links beneath `/dev/disk`: `by-path/ip-…`. */
  readonly links: readonly string[];
  /** Where sysfs has the disk's directory `block`, if anybody looks there. */
  readonly blockDirectory?: (host: string) => string;
}

/** Sees to it that the machine has SCSI buses. */
export function createFakeScsi({ files, mounts, programs }: FakeHost): FakeScsi {
  const hosts = new Map<string, readonly FakeDisk[]>();
  const seen = new Set<string>();
  let numbers = 0;

  const show = (host: string, { name, links, blockDirectory }: FakeDisk) => {
    if (seen.has(name)) return;
    seen.add(name);
    files.putSpecial(`/dev/${name}`, "block-device");
    mounts.putDevice(`/dev/${name}`, undefined);
    files.put(`/sys/block/${name}/dev`, `8:${16 * seen.size}\n`);
    files.put(`/sys/block/${name}/device/delete`, "");
    for (const link of links) files.putLink(`../../${name}`, `/dev/disk/${link}`);
    if (blockDirectory) files.put(`${blockDirectory(host)}/${name}/dev`, "");
  };
  const hide = ({ name, links, blockDirectory }: FakeDisk, host: string) => {
    if (!seen.delete(name)) return;
    for (const path of [`/dev/${name}`, `/sys/block/${name}`, ...links.map((link) => `/dev/disk/${link}`)]) {
      files.delete(path);
    }
    if (blockDirectory) files.delete(`${blockDirectory(host)}/${name}`);
  };
  files.intercept(({ operation, path, phase }) => {
    if (operation !== "append" || phase !== "after") return;
    const [, scanned = ""] = /^\/sys\/class\/scsi_host\/([^/]+)\/scan$/.exec(path) ?? [];
    const command = files.text(path) ?? "";
    if (scanned !== "") files.put(path, "");
    for (const disk of hosts.get(scanned) ?? []) {
      if (command === "- - -" || command === `0 0 ${disk.lun}`) show(scanned, disk);
    }
    const [, deleted] = /^\/sys\/block\/([^/]+)\/device\/delete$/.exec(path) ?? [];
    for (const [host, disks] of hosts) for (const disk of disks) if (disk.name === deleted) hide(disk, host);
  });
  programs.install("multipath", ({ args: [flag, path = ""] }: StreamedRun) => {
    if (flag !== "-f") return { exitCode: 1, stderr: "not expected" };
    files.delete(path);
    files.delete(`/sys/block/${path.slice("/dev/".length)}`);
    return {};
  });
  programs.install("blockdev", () => ({}));

  return {
    seen,
    addHost(disks) {
      const host = `host${++numbers}`;
      hosts.set(host, disks);
      files.put(`/sys/class/scsi_host/${host}/scan`, "");
      return host;
    },
    removeHost(host) {
      for (const disk of hosts.get(host) ?? []) hide(disk, host);
      hosts.delete(host);
      files.delete(`/sys/class/scsi_host/${host}`);
    },
    addMultipath(name, disks) {
      files.putSpecial(`/dev/${name}`, "block-device");
      mounts.putDevice(`/dev/${name}`, undefined);
      files.put(`/sys/block/${name}/dm/uuid`, `mpath-${name}\n`);
      files.put(`/sys/block/${name}/dev`, "253:0\n");
      for (const disk of disks) files.put(`/sys/block/${name}/slaves/${disk}/dev`, "");
    },
  };
}
