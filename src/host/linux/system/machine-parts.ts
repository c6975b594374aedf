import type { Files, MachineParts, MemoryModules } from "../../port.ts";

const CPUS = "/sys/devices/system/cpu";
const MEMORY_CONTROLLERS = "/sys/devices/system/edac/mc";
const MAX_FACT_BYTES = 4_096;
const MIB = 1024 * 1024;

/**
 * Reads what the machine is built of from sysfs. A virtual machine often shows no memory modules, and a kernel without
 * topology no cores: they are then missing.
 */
export async function readMachineParts(files: Pick<Files, "read" | "list">): Promise<MachineParts> {
  const read = async (path: string) =>
    await files.read(path, MAX_FACT_BYTES).then(
      (data) => data.toString("latin1").trim(),
      () => "",
    );
  const list = async (path: string, pattern: RegExp) => {
    const entries = await files.list(path).catch(() => []);
    return entries.filter(({ name }) => pattern.test(name)).map(({ name }) => `${path}/${name}`);
  };
  const cores = new Set<string>();
  const sockets = new Set<string>();
  for (const cpu of await list(CPUS, /^cpu\d+$/)) {
    const socket = await read(`${cpu}/topology/physical_package_id`);
    const core = await read(`${cpu}/topology/core_id`);
    if (socket === "" || core === "") continue;
    sockets.add(socket);
    cores.add(`${socket} ${core}`);
  }
  const modules = new Map<string, MemoryModules>();
  for (const controller of await list(MEMORY_CONTROLLERS, /^mc\d+$/)) {
    for (const module of await list(controller, /^dimm\d+$/)) {
      const type = await read(`${module}/dimm_mem_type`);
      const mebibytes = Number((await read(`${module}/size`)) || Number.NaN);
      if (type === "" || Number.isNaN(mebibytes)) continue;
      const { count, bytes } = modules.get(type) ?? { count: 0, bytes: 0 };
      modules.set(type, { type, count: count + 1, bytes: bytes + mebibytes * MIB });
    }
  }
  return { physicalCores: cores.size, sockets: sockets.size, memoryModules: [...modules.values()] };
}
