import { join } from "node:path";
import type { Pod } from "../../../src/api/gen/types.ts";
import type { UpstreamNode } from "./go-kubelet.ts";

/** A file, directory, link or mount of a node, as tools see it: `volumes/kubernetes.io~secret d 755 0:0`. */
export type TreeLine = string;

/** Everything beneath the root directory and the logs of pods, without what differs from run to run. */
export async function readTree(world: UpstreamNode, pods: readonly Pod[]): Promise<TreeLine[]> {
  const root = join(world.node.directory, "kubelet");
  const normal = normalizer(world, pods);
  const listed: string[] = [];
  for (const directory of [root, "/var/log/pods"]) {
    // What a volume holds is the containers' matter, where it is not what a node agent writes.
    const printed = await world.inNamespace("find", directory, "-printf", "%p\\t%y\\t%m\\t%U:%G\\t%l\\n");
    listed.push(...printed.split("\n").filter((line) => line !== ""));
  }
  const files = listed.map((line) => {
    const [path = "", type = "", mode = "", owner = "", target = ""] = line.split("\t");
    return normal(`${path} ${type} ${type === "l" ? "" : mode} ${owner} ${target}`).trim();
  });
  const mounts = (await world.mounts()).filter(({ path }) => path.startsWith(`${root}/`));
  const mounted = mounts.map(({ path, fileSystem, options }) => {
    return normal(`mount ${path} ${fileSystem} ${keptOptions(options).join(",")}`);
  });
  return [...new Set([...files, ...mounted])].toSorted();
}

/** Access, and the limits of file systems in memory. */
function keptOptions(options: string): string[] {
  const words = options.split(",").filter((word) => /^(ro|rw|nosuid|nodev|noexec|size=.*|mode=.*)$/.test(word));
  return [...new Set(words)].toSorted();
}

function normalizer({ node }: UpstreamNode, pods: readonly Pod[]): (line: string) => string {
  const names = pods.map(({ metadata }) => [metadata?.uid ?? "", `<${metadata?.name}>`] as const);
  return (line) => {
    const known = names.reduce((text, [uid, name]) => text.replaceAll(uid, name), line);
    return (
      known
        .replaceAll(node.directory, "")
        .replaceAll(/kube-api-access-[a-z0-9]{5}/g, "kube-api-access")
        .replaceAll(/\.\.\d{4}(_\d\d){5}\.\d+/g, "..time")
        // A termination log's name says nothing to anybody.
        .replace(/(\/containers\/[^/ ]+\/)[^/ ]+ /, "$1<file> ")
    );
  };
}
