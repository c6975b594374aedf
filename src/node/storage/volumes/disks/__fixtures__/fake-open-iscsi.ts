import type { FakeHost } from "../../../../../host/fake/create-fake-host.ts";
import type { FakeEnd } from "../../../../../host/fake/fake-programs.ts";
import type { FakeScsi } from "./fake-scsi.ts";

/** A disk of an iSCSI target of another machine. */
interface FakeTarget {
  readonly iqn: string;
  /** The disk that each portal leads to, by portal; the same unit everywhere. */
  readonly portals: Readonly<Record<string, string>>;
  readonly lun: number;
  /** What it wants to hear of who logs in. */
  readonly password?: string;
}

/** open-iscsi with targets, as far as volumes use it. */
export interface FakeOpenIscsi {
  /** `iqn at portal by interface` of each session, in order of their beginnings. */
  sessions(): readonly string[];
  readonly interfaces: Map<string, Map<string, string>>;
  /** Portals that do not answer. */
  readonly silent: Set<string>;
}

type Settings = Map<string, string>;

interface Session {
  readonly key: string;
  readonly host: string;
  readonly iqn: string;
  readonly portal: string;
}

const NOT_FOUND = { exitCode: 21, stderr: "iscsiadm: No records found" };

/** Installs `iscsiadm`. */
export function createFakeOpenIscsi({ files, programs }: FakeHost, scsi: FakeScsi, targets: readonly FakeTarget[]) {
  const interfaces = new Map<string, Settings>([["default", new Map([["iface.transport_name", "tcp"]])]]);
  const nodes = new Map<string, Settings>();
  const sessions = new Map<string, Session>();
  const silent = new Set<string>();
  let numbers = 0;

  const logIn = (portal: string, iqn: string, name: string): FakeEnd => {
    const key = `${iqn} at ${portal} by ${name}`;
    const node = nodes.get(key);
    const disks = targets.filter((each) => each.iqn === iqn && each.portals[portal] !== undefined);
    const [target] = disks;
    if (node === undefined || target === undefined) return NOT_FOUND;
    if (sessions.has(key)) return { exitCode: 15, stderr: "iscsiadm: session exists" };
    if (target.password !== undefined && node.get("node.session.auth.password") !== target.password) {
      const stderr = "iscsiadm: initiator reported error (24 - iSCSI login failed due to authorization failure)";
      return { exitCode: 24, stderr };
    }
    const session = `session${++numbers}`;
    const pathOf = (host: string) => `/sys/class/iscsi_host/${host}/device/${session}`;
    const host = scsi.addHost(
      disks.map(({ portals, lun }) => ({
        name: portals[portal] ?? "",
        lun,
        links: [`by-path/ip-${portal.replaceAll(/[[\]]/g, "")}-iscsi-${iqn}-lun-${lun}`],
        blockDirectory(hostName: string) {
          const number = hostName.slice("host".length);
          return `${pathOf(hostName)}/target${number}:0:0/${number}:0:0:${lun}/block`;
        },
      })),
    );
    const connection = `${pathOf(host)}/connection${numbers}:0/iscsi_connection/connection${numbers}:0`;
    const [, address = "", port = ""] = /^\[?(.*?)\]?:(\d+)$/.exec(portal) ?? [];
    files.put(`${pathOf(host)}/iscsi_session/${session}/targetname`, `${iqn}\n`);
    for (const prefix of ["", "persistent_"]) {
      files.put(`${connection}/${prefix}address`, `${address}\n`);
      files.put(`${connection}/${prefix}port`, `${port}\n`);
    }
    sessions.set(key, { key, host, iqn, portal });
    return {};
  };
  const logOut = (key: string): FakeEnd => {
    const session = sessions.get(key);
    if (session === undefined) return NOT_FOUND;
    scsi.removeHost(session.host);
    files.delete(`/sys/class/iscsi_host/${session.host}`);
    sessions.delete(key);
    return {};
  };

  const ofInterface = (name: string, operation: string | undefined, [key, value]: readonly string[]): FakeEnd => {
    const known = interfaces.get(name);
    if (operation === "new") {
      interfaces.set(name, known ?? new Map());
      return {};
    }
    // open-iscsi 2.1.11.
    if (known === undefined) return { exitCode: operation === "show" ? 6 : 7, stderr: `Could not read iface ${name}.` };
    if (operation === "show") {
      const lines = [...known].map(([setting, text]) => `${setting} = ${text}`);
      const own = `iface.iscsi_ifacename = ${name}`;
      return { stdout: ["# BEGIN RECORD 2.1.8", own, ...lines, "iface.mtu = <empty>", ""].join("\n") };
    }
    if (operation === "delete") interfaces.delete(name);
    else known.set(key ?? "", value ?? "");
    return {};
  };

  const ofNode = (args: Arguments, portal: string, iqn: string): FakeEnd => {
    const name = args.get("-I");
    const keys = [...nodes.keys()].filter((key) => key.startsWith(`${iqn} at ${portal} by ${name ?? ""}`));
    if (keys.length === 0) return NOT_FOUND;
    if (args.has("--login")) return logIn(portal, iqn, name ?? "");
    for (const key of keys) {
      if (args.has("--logout")) return logOut(key);
      if (args.get("-o") === "delete") nodes.delete(key);
      else nodes.get(key)?.set(args.get("-n") ?? "", args.get("-v") ?? "");
    }
    return {};
  };

  const discover = (portal: string, name: string): FakeEnd => {
    if (silent.has(portal)) return { exitCode: 4, stderr: `iscsiadm: cannot make connection to ${portal}` };
    if (!interfaces.has(name)) return NOT_FOUND;
    for (const { iqn, portals } of targets) {
      if (portals[portal] === undefined) continue;
      const key = `${iqn} at ${portal} by ${name}`;
      nodes.set(key, nodes.get(key) ?? new Map());
    }
    return {};
  };

  programs.install("iscsiadm", ({ args: words }) => {
    const args = argumentsOf(words);
    const portal = args.get("-p") ?? "";
    const name = args.get("-I") ?? "";
    switch (args.get("-m")) {
      case "iface":
        return ofInterface(name, args.get("-o"), [args.get("-n") ?? "", args.get("-v") ?? ""]);
      case "discoverydb":
        return args.has("--discover") ? discover(portal, name) : {};
      default:
        return ofNode(args, portal, args.get("-T") ?? "");
    }
  });
  return { sessions: () => [...sessions.keys()], interfaces, silent } satisfies FakeOpenIscsi;
}

type Arguments = ReadonlyMap<string, string>;

/** Options by their names; one without a value has an empty one. */
function argumentsOf(words: readonly string[]): Arguments {
  const found = new Map<string, string>();
  for (const [index, word] of words.entries()) {
    if (!word.startsWith("-") || word === "-") continue;
    const next = words[index + 1] ?? "";
    found.set(word, next.startsWith("--") ? "" : next);
  }
  return found;
}
