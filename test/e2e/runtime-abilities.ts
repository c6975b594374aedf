import { existsSync } from "node:fs";
import { dirname, join } from "node:path";
import { type ContainerdVersion, parseContainerdVersion } from "../../src/cluster/containerd/containerd-config.ts";
import { runCommand } from "../../src/cluster/processes/run-command.ts";

/** A containerd to test on, and what it and the runc that it starts can do; read from the programs, not over CRI. */
interface TestedRuntime {
  readonly name: string;
  /** Undefined for the one on the search path. */
  readonly binary: string | undefined;
  readonly version: ContainerdVersion;
  readonly mountsImages: boolean;
  readonly mountsPartsOfImages: boolean;
  readonly mountsRecursivelyReadOnly: boolean;
  readonly hasUserNamespaces: boolean;
  /** Gives containers devices by the Container Device Interface. */
  readonly injectsDevices: boolean;
  /** Can keep a pod's users out of the groups that the image gives them. */
  readonly leavesOutGroups: boolean;
}

/** The containerd on the search path, and others by their paths, separated by colons. A runc beside one is its own. */
const OTHERS = (process.env["NODELET_TEST_CONTAINERDS"] ?? "").split(":").filter((path) => path !== "");

/** The containerd on the search path first; says so where there are no others to test on. */
export async function readTestedRuntimes(): Promise<TestedRuntime[]> {
  if (OTHERS.length === 0) {
    console.warn("SKIPPED: other versions of containerd; name their programs in NODELET_TEST_CONTAINERDS=path1:path2");
  }
  return await Promise.all([undefined, ...OTHERS].map(readTestedRuntime));
}

async function readTestedRuntime(binary: string | undefined): Promise<TestedRuntime> {
  const printed = await runCommand(binary ?? "containerd", ["--version"]);
  const version = parseContainerdVersion(printed);
  if (version === undefined) throw new Error(`${binary ?? "containerd"} is no containerd: ${printed}`);
  const beside = binary === undefined ? "" : join(dirname(binary), "runc");
  // Before 1.1 runc did not tell what it can do.
  const told = await runCommand(existsSync(beside) ? beside : "runc", ["features"]).catch(() => "{}");
  const features = JSON.stringify(JSON.parse(told));
  const isSince = (major: number, minor: number) =>
    version.major > major || (version.major === major && version.minor >= minor);
  return {
    name: binary ?? "containerd",
    binary,
    version,
    mountsImages: isSince(2, 1),
    mountsPartsOfImages: isSince(2, 2),
    // Before 2.0 containerd did not tell what its handlers can do.
    mountsRecursivelyReadOnly: isSince(2, 0) && features.includes('"rro"'),
    leavesOutGroups: isSince(2, 0),
    injectsDevices: isSince(1, 7),
    hasUserNamespaces: isSince(2, 0) && features.includes('"idmap":{"enabled":true}'),
  };
}
