import type { Files } from "../../../../../host/port.ts";
import { listIfThere, readAttribute } from "../scsi-devices.ts";

/** The sessions with iSCSI targets, as the kernel shows them in sysfs. */
export interface IscsiSessions {
  /** The SCSI hosts of the sessions with the target (`host2`) by portal: the one that was asked for, and where that led to. */
  hostsOf(iqn: string): Promise<ReadonlyMap<string, string>>;
  /** The kernel's names of the disk, one for each session with the target that has it. */
  disksOf(iqn: string, lun: number): Promise<readonly string[]>;
}

interface Session {
  readonly host: string;
  readonly path: string;
  readonly target: string | undefined;
}

const HOSTS = "/sys/class/iscsi_host";

export function createIscsiSessions(files: Pick<Files, "list" | "read">): IscsiSessions {
  const namesIn = async (path: string, pattern: RegExp) =>
    (await listIfThere(files, path)).map(({ name }) => name).filter((name) => pattern.test(name));

  const list = async (): Promise<readonly Session[]> => {
    const sessions: Session[] = [];
    for (const host of await namesIn(HOSTS, /^host\d+$/)) {
      for (const name of await namesIn(`${HOSTS}/${host}/device`, /^session/)) {
        const path = `${HOSTS}/${host}/device/${name}`;
        const target = await readAttribute(files, `${path}/iscsi_session/${name}/targetname`);
        sessions.push({ host, path, target });
      }
    }
    return sessions;
  };

  const portalsOf = async ({ path }: Session): Promise<readonly string[]> => {
    const portals: string[] = [];
    for (const name of await namesIn(path, /^connection/)) {
      const connection = `${path}/${name}/iscsi_connection/${name}`;
      for (const prefix of ["", "persistent_"]) {
        const address = await readAttribute(files, `${connection}/${prefix}address`);
        const port = await readAttribute(files, `${connection}/${prefix}port`);
        if (address && port) portals.push(address.includes(":") ? `[${address}]:${port}` : `${address}:${port}`);
      }
    }
    return portals;
  };

  return {
    async hostsOf(iqn) {
      const hosts = new Map<string, string>();
      for (const session of await list()) {
        if (session.target !== iqn) continue;
        for (const portal of await portalsOf(session)) hosts.set(portal, session.host);
      }
      return hosts;
    },
    async disksOf(iqn, lun) {
      const disks: string[] = [];
      for (const { host, path, target } of await list()) {
        if (target !== iqn) continue;
        const number = host.slice("host".length);
        const [disk] = await namesIn(`${path}/target${number}:0:0/${number}:0:0:${lun}/block`, /./);
        if (disk !== undefined) disks.push(disk);
      }
      return disks;
    },
  };
}
