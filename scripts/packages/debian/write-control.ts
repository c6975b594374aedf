import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ROOT } from "../places.ts";
import type { Target } from "../target.ts";

/** Those of Node.js and of the native modules. The versions are what their symbols ask for. */
const LIBRARIES = ["libc6 (>= 2.28)", "libgcc-s1 | libgcc1", "libstdc++6 (>= 8)"];
/** What a node needs, as `nodelet doctor` looks for it. */
const PROGRAMS = [
  "containerd | containerd.io",
  "runc | containerd.io",
  "containernetworking-plugins",
  "iptables",
  "nftables",
  "conntrack",
  "iproute2",
  "busybox-static",
];
/** Who keeps a package that nobody has published yet. */
const NOBODY = "nodelet <root@localhost>";

/** What a publisher sets in package.json, as npm describes it. */
interface Described {
  readonly version: string;
  readonly description: string;
  readonly author?: string;
  readonly homepage?: string;
}

/** Reads what the Debian package says of itself from package.json. */
export function readDescribed(): Described {
  return JSON.parse(readFileSync(join(ROOT, "package.json"), "utf8"));
}

/** Writes the file `control`. `kibibytes` is what the package takes on the disk. */
export function writeControl(
  { version, homepage, author = NOBODY }: Described,
  target: Target,
  kibibytes: number,
): string {
  return [
    "Package: nodelet",
    `Version: ${version.replace("-", "~")}`,
    `Architecture: ${target.debian}`,
    `Maintainer: ${author}`,
    `Installed-Size: ${kibibytes}`,
    `Depends: ${[...LIBRARIES, ...PROGRAMS, "init-system-helpers (>= 1.52)"].join(", ")}`,
    "Suggests: bash-completion",
    "Section: admin",
    "Priority: optional",
    ...(homepage === undefined ? [] : [`Homepage: ${homepage}`]),
    "Description: Kubernetes node agent with its own one-node control plane",
    " nodelet runs the pods of a Kubernetes cluster, or those of manifests on this",
    " machine, through containerd, as kubelet does. Without a cluster it brings its",
    " own: an API server, a scheduler and the controllers that one node needs.",
    " .",
    " The service runs what is in /etc/nodelet/manifests. It comes with a Node.js of",
    " its own.",
    "",
  ].join("\n");
}

/** Writes the changelog in Debian's form, which names who has made the package and when. `epoch` counts seconds. */
export function writeChangelog({ version, author = NOBODY }: Described, epoch: number): string {
  const [, weekday, day, month, year, time] =
    /^(\w+, )(\d+) (\w+) (\d+) (\S+)/.exec(new Date(epoch * 1000).toUTCString()) ?? [];
  return [
    `nodelet (${version.replace("-", "~")}) unstable; urgency=medium`,
    "",
    "  * The changes are in CHANGELOG.md.gz.",
    "",
    ` -- ${author}  ${weekday}${day} ${month} ${year} ${time} +0000`,
    "",
  ].join("\n");
}
