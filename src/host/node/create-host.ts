import type { Host } from "../port.ts";
import { createNodeCgroups } from "./node-cgroups.ts";
import { nodeClock } from "./node-clock.ts";
import { nodeFiles } from "./node-files.ts";
import { nodeHttp } from "./node-http.ts";
import { nodeLogind } from "./node-logind.ts";
import { createNodeMachine } from "./node-machine.ts";
import { createNodeMounts } from "./node-mounts.ts";
import { nodeProbes } from "./node-probes.ts";
import { createNodeProc } from "./node-proc.ts";
import { nodePrograms } from "./node-programs.ts";
import { createNodeSystemd } from "./node-systemd.ts";

/** The machine that this process runs on. Linux only: it relies on procfs and inotify. */
export function createNodeHost(): Host {
  return {
    clock: nodeClock,
    random: { next: () => Math.random() },
    files: nodeFiles,
    http: nodeHttp,
    machine: createNodeMachine(nodeFiles),
    mounts: createNodeMounts(),
    probes: nodeProbes,
    programs: nodePrograms,
    logind: nodeLogind,
    systemd: createNodeSystemd(),
    cgroups: createNodeCgroups(),
    proc: createNodeProc(),
  };
}
