import type { Host } from "../port.ts";
import { createNodeCgroups } from "./cgroups/node-cgroups.ts";
import { nodeFiles } from "./files/node-files.ts";
import { createNodeMounts } from "./mounts/node-mounts.ts";
import { nodeHttp } from "./network/node-http.ts";
import { nodeProbes } from "./network/node-probes.ts";
import { nodeClock } from "./system/node-clock.ts";
import { nodeLogind } from "./system/node-logind.ts";
import { createNodeMachine } from "./system/node-machine.ts";
import { createNodeProc } from "./system/node-proc.ts";
import { nodePrograms } from "./system/node-programs.ts";
import { createNodeSystemd } from "./system/node-systemd.ts";

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
