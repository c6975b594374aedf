import type { InterfaceCounters, Proc } from "../../proc-port.ts";
import { parseFlatKeyed, parseNumber, readKernelFile } from "../cgroups/kernel-files.ts";
import { readPressure } from "../cgroups/parse-pressure.ts";
import { createPauses } from "../cgroups/pauses.ts";
import { writeKernelFile } from "../cgroups/write-kernel-file.ts";
import { parseDiskActivity } from "./disk-activity.ts";
import { countOpenFiles, parseOpenFileLimit } from "./open-files.ts";

/** `proc` is where procfs is mounted. */
export function createProcfs({ proc = "/proc" }: { proc?: string } = {}): Proc {
  const pause = createPauses();
  return {
    async interfacesOf(pid) {
      const text = readKernelFile(`${proc}/${pid}/net/dev`);
      return text === undefined ? undefined : parseInterfaces(text);
    },
    openFiles: async (pids) => await countOpenFiles(proc, pids, pause),
    async openFileLimit(pid) {
      const text = readKernelFile(`${proc}/${pid}/limits`);
      return text === undefined ? undefined : parseOpenFileLimit(text);
    },
    diskActivity: async () => parseDiskActivity(readKernelFile(`${proc}/diskstats`) ?? ""),
    async tasks() {
      const limits = ["pid_max", "threads-max"]
        .map((name) => parseNumber(readKernelFile(`${proc}/sys/kernel/${name}`)))
        .filter((limit) => limit !== undefined);
      // sysinfo(2) counts no further than 65,535.
      const current = /^\S+ \S+ \S+ \d+\/(\d+) /.exec(readKernelFile(`${proc}/loadavg`) ?? "")?.[1];
      return { current: parseNumber(current), max: limits.length === 0 ? undefined : Math.min(...limits) };
    },
    pressure: async () => readPressure((resource) => readKernelFile(`${proc}/pressure/${resource}`)),
    async bootedAt() {
      const seconds = parseFlatKeyed(readKernelFile(`${proc}/stat`)).get("btime");
      return seconds === undefined ? undefined : seconds * 1_000;
    },
    tunable: async (name) => parseNumber(readKernelFile(`${proc}/sys/${name}`)),
    setTunable: async (name, value) => writeKernelFile(`${proc}/sys/${name}`, String(value)),
  };
}

function parseInterfaces(text: string): InterfaceCounters[] {
  return text.split("\n").flatMap((line) => {
    const [, name, counters = ""] = /^\s*([^:\s]+):\s*(.*)$/.exec(line) ?? [];
    if (name === undefined) return [];
    const values = counters.trim().split(/\s+/).map(Number);
    const at = (first: number) => {
      const [bytes = 0, packets = 0, errors = 0, dropped = 0] = values.slice(first);
      return { bytes, packets, errors, dropped };
    };
    return [{ name, received: at(0), sent: at(8) }];
  });
}
