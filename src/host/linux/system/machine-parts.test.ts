import { expect, it } from "vitest";
import { createFakeHost } from "../../fake/create-fake-host.ts";
import { readMachineParts } from "./machine-parts.ts";

async function partsOf(contents: Readonly<Record<string, string>>) {
  const { files } = createFakeHost();
  for (const [path, content] of Object.entries(contents)) {
    await files.makeDirectory(path.slice(0, path.lastIndexOf("/")), 0o755);
    await files.writeAtomically(path, content, 0o644);
  }
  return await readMachineParts(files);
}

const cpu = (number: number, socket: number, core: number) => ({
  [`/sys/devices/system/cpu/cpu${number}/topology/physical_package_id`]: `${socket}\n`,
  [`/sys/devices/system/cpu/cpu${number}/topology/core_id`]: `${core}\n`,
});
const module = (place: string, type: string, mebibytes: string) => ({
  [`/sys/devices/system/edac/mc/${place}/dimm_mem_type`]: `${type}\n`,
  [`/sys/devices/system/edac/mc/${place}/size`]: `${mebibytes}\n`,
});

it("counts cores of two sockets, each with two threads, and not what only looks like a processor", async () => {
  const cpus = { ...cpu(0, 0, 0), ...cpu(1, 0, 0), ...cpu(2, 1, 0), ...cpu(3, 1, 0), ...cpu(4, 1, 1) };
  const other = { "/sys/devices/system/cpu/cpufreq/topology/core_id": "9\n" };
  expect(await partsOf({ ...cpus, ...other })).toMatchObject({ physicalCores: 3, sockets: 2 });
});

it("counts the memory's modules by their type", async () => {
  const modules = {
    ...module("mc0/dimm0", "Unbuffered-DDR4", "16384"),
    ...module("mc0/dimm1", "Unbuffered-DDR4", "16384"),
    ...module("mc1/dimm0", "Non-volatile-RAM", "131072"),
    ...module("mc1/dimm_is_fake", "Unbuffered-DDR4", "1"),
    ...module("mc1/dimm9", "Unbuffered-DDR4", "?"),
  };
  expect((await partsOf(modules)).memoryModules).toEqual([
    { type: "Unbuffered-DDR4", count: 2, bytes: 32 * 1024 ** 3 },
    { type: "Non-volatile-RAM", count: 1, bytes: 128 * 1024 ** 3 },
  ]);
});

it("knows nothing of a machine that tells nothing", async () => {
  expect(await partsOf({})).toEqual({ physicalCores: 0, sockets: 0, memoryModules: [] });
});
