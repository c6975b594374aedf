import type { DiskActivity } from "../../proc-port.ts";

/** Reads `/proc/diskstats`: numbers, name and at least eleven counters in a line (Documentation/admin-guide/iostats). */
export function parseDiskActivity(text: string): DiskActivity[] {
  return text.split("\n").flatMap((line) => {
    const [major = "", minor = "", name = "", ...rest] = line.trim().split(/\s+/);
    const counters = rest.map(Number);
    if (counters.length < 11 || counters.some(Number.isNaN)) return [];
    const at = (index: number) => counters[index] ?? 0;
    const operations = (first: number) => {
      return { count: at(first), merged: at(first + 1), sectors: at(first + 2), milliseconds: at(first + 3) };
    };
    return [
      {
        ...{ device: `/dev/${name}`, numbers: `${major}:${minor}`, reads: operations(0), writes: operations(4) },
        ...{ current: at(8), busyMilliseconds: at(9), weightedMilliseconds: at(10) },
      },
    ];
  });
}
