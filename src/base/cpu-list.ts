/** CPUs by the kernel's numbers. */
export type CpuSet = ReadonlySet<number>;

/** More than any kernel counts. */
const MAX_CPU = 65_535;

/** Reads the kernel's form of a list, as in `0-3,8`; undefined where the text is none. The empty text is no CPU. */
export function parseCpuList(text: string): Set<number> | undefined {
  const cpus = new Set<number>();
  for (const range of text === "" ? [] : text.split(",")) {
    const match = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(range);
    if (match === null) return undefined;
    const [first, last] = [Number(match[1]), Number(match[2] ?? match[1])];
    if (last < first || last > MAX_CPU) return undefined;
    for (let cpu = first; cpu <= last; cpu++) cpus.add(cpu);
  }
  return cpus;
}

/** Writes CPUs as the kernel does, and Go's cpuset: in order, with ranges. */
export function formatCpuList(cpus: CpuSet): string {
  const ranges: Array<{ first: number; last: number }> = [];
  for (const cpu of [...cpus].sort((a, b) => a - b)) {
    const range = ranges.at(-1);
    if (range !== undefined && range.last === cpu - 1) range.last = cpu;
    else ranges.push({ first: cpu, last: cpu });
  }
  return ranges.map(({ first, last }) => (first === last ? `${first}` : `${first}-${last}`)).join(",");
}

/** The CPUs of one set that are not in the other. */
export function withoutCpus(cpus: CpuSet, others: CpuSet): Set<number> {
  return new Set([...cpus].filter((cpu) => !others.has(cpu)));
}
