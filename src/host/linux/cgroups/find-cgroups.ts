import { listKernelDirectories } from "./kernel-files.ts";

/** No machine has more. The search ends here and gives what it has found by then. */
const MAX_DIRECTORIES = 20_000;
/** What CRI-O puts before the id. Its monitor of a container has the id in its name, too. */
const CRIO_PREFIX = "crio-";
const MONITOR_PREFIX = "crio-conmon-";

/**
 * Looks for cgroups with these ids, level by level. A cgroup that was found is not searched further, so a container
 * that may make cgroups beneath its own cannot pass one off as another container's. `pause` is awaited from time to
 * time.
 */
export async function findCgroups(
  root: string,
  ids: ReadonlySet<string>,
  pause: () => Promise<void>,
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  const line = [""];
  for (let looked = 0; looked < MAX_DIRECTORIES && found.size < ids.size; looked++) {
    const parent = line.shift();
    if (parent === undefined) break;
    for (const name of listKernelDirectories(`${root}${parent}`)) {
      const id = containerIdOf(name);
      const path = `${parent}/${name}`;
      if (id !== undefined && ids.has(id)) {
        if (!found.has(id)) found.set(id, path);
      } else line.push(path);
    }
    await pause();
  }
  return found;
}

/**
 * Does what upstream's `extractIDFromCgroupPath` does (pkg/kubelet/stats/cri_stats_provider.go), and with the driver
 * cgroupfs what cAdvisor does for CRI-O.
 */
function containerIdOf(name: string): string | undefined {
  if (name.startsWith(MONITOR_PREFIX)) return undefined;
  if (name.endsWith(".scope")) return name.slice(name.lastIndexOf("-") + 1, -".scope".length);
  return name.startsWith(CRIO_PREFIX) ? name.slice(CRIO_PREFIX.length) : name;
}
