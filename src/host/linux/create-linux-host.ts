import type { Host } from "../port.ts";
import { createLinuxCgroups } from "./cgroups/linux-cgroups.ts";
import { linuxFiles } from "./files/linux-files.ts";
import { createLinuxMounts } from "./mounts/linux-mounts.ts";
import { httpClient } from "./network/http-client.ts";
import { networkProbes } from "./network/network-probes.ts";
import { createBusctlLogind } from "./system/busctl-logind.ts";
import { createBusctlSystemd } from "./system/busctl-systemd.ts";
import { createLinuxMachine } from "./system/linux-machine.ts";
import { linuxPrograms } from "./system/linux-programs.ts";
import { createProcfs } from "./system/procfs.ts";
import { systemClock } from "./system/system-clock.ts";

/** The machine that this process runs on. Linux only: it relies on procfs and inotify. */
export function createLinuxHost(): Host {
  return {
    clock: systemClock,
    random: { next: () => Math.random() },
    files: linuxFiles,
    http: httpClient,
    machine: createLinuxMachine(linuxFiles),
    mounts: createLinuxMounts(linuxPrograms),
    probes: networkProbes,
    programs: linuxPrograms,
    logind: createBusctlLogind({ programs: linuxPrograms, clock: systemClock }),
    systemd: createBusctlSystemd(linuxPrograms),
    cgroups: createLinuxCgroups(),
    proc: createProcfs(),
  };
}
