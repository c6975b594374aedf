import { execFileSync } from "node:child_process";
import { existsSync, readdirSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { KUBE_TOOLS } from "../../machine/kube-tools.ts";

/** A kubectl of this machine. */
export interface KubectlBinary {
  readonly path: string;
  /** 33 of v1.33.1. */
  readonly minor: number;
}

/** Installations of several versions name them so. */
const PROGRAM_NAME = /^kubectl(\.1\.\d+)?$/;
/** Runs one of the others, as the server's version wants it. */
const DISPATCHER = /-dispatcher$/;

let found: readonly KubectlBinary[] | undefined;

/**
 * The kubectls of this machine, one for each minor version, newest first: those that `NODELET_TEST_KUBECTLS` names
 * (paths, separated by colons), else those in the directories of the search path and the one that `npm test` has fetched.
 */
export function findKubectls(): readonly KubectlBinary[] {
  found ??= readKubectls();
  return found;
}

/** What the scenarios run with. */
export function newestKubectl(): KubectlBinary {
  const [newest] = findKubectls();
  if (newest !== undefined) return newest;
  const mend = "install one (Debian: kubernetes-client), or name their paths in NODELET_TEST_KUBECTLS=path1:path2";
  throw new Error(`there is no kubectl on this machine: ${mend}`);
}

function readKubectls(): readonly KubectlBinary[] {
  const named = pathsOf(process.env["NODELET_TEST_KUBECTLS"]);
  const byMinor = new Map<number, KubectlBinary>();
  const fetched = existsSync(KUBE_TOOLS.kubectl) ? [KUBE_TOOLS.kubectl] : [];
  const paths = named.length > 0 ? named : [...pathsOf(process.env["PATH"]).flatMap(kubectlsOf), ...fetched];
  for (const path of paths) {
    const minor = readMinor(path);
    if (minor !== undefined && !byMinor.has(minor)) byMinor.set(minor, { path, minor });
  }
  return [...byMinor.values()].toSorted((a, b) => b.minor - a.minor);
}

const pathsOf = (list = "") => list.split(":").filter((path) => path !== "");

/** Those in a directory of the search path, and those beside where a link there leads. */
function kubectlsOf(directory: string): string[] {
  const plain = join(directory, "kubectl");
  const directories = existsSync(plain) ? [directory, dirname(realpathSync(plain))] : [directory];
  return [...new Set(directories)].flatMap((place) => {
    const names = existsSync(place) ? readdirSync(place) : [];
    return names.filter((name) => PROGRAM_NAME.test(name)).map((name) => join(place, name));
  });
}

/** Undefined for what is no kubectl, or a stand-in for others. */
function readMinor(path: string): number | undefined {
  const output = execFileSync(path, ["version", "--client", "-o", "json"], {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "pipe"],
    timeout: 20_000,
  });
  const version = /"gitVersion": "([^"]+)"/.exec(output)?.[1] ?? "";
  if (DISPATCHER.test(version)) return undefined;
  const minor = /^v1\.(\d+)\./.exec(version)?.[1];
  return minor === undefined ? undefined : Number(minor);
}
