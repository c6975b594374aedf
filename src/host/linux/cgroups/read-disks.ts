import type { DiskTraffic } from "../../cgroups-port.ts";
import { readKernelFile } from "./kernel-files.ts";

/**
 * Reads `io.stat` of version 2: a line for each device, of names and numbers. `devices` is where the kernel shows block
 * devices by their numbers, such as `8:0`.
 */
export function parseIoStat(text: string | undefined, devices: string): DiskTraffic[] {
  return (text ?? "").split("\n").flatMap((line) => {
    const [, numbers, rest = ""] = /^(\d+:\d+) (.+)$/.exec(line) ?? [];
    if (numbers === undefined) return [];
    const counts = new Map(rest.split(" ").map((pair) => [pair.split("=")[0], Number(pair.split("=")[1])]));
    const count = (name: string) => counts.get(name) ?? 0;
    const [readBytes, writtenBytes] = [count("rbytes"), count("wbytes")];
    const bytesByOperation = new Map([
      ["Read", readBytes],
      ["Write", writtenBytes],
    ]);
    const names = { device: findDevice(devices, numbers), numbers };
    const cost = counts.has("cost.usage") && {
      ...{ usage: count("cost.usage"), wait: count("cost.wait") },
      ...{ inDebt: count("cost.indebt"), inDelay: count("cost.indelay") },
    };
    const operations = { reads: count("rios"), writes: count("wios"), readBytes, writtenBytes };
    return [{ ...names, bytesByOperation, ...operations, ...(cost && { cost }) }];
  });
}

interface BlkioFiles {
  readonly bytes: string | undefined;
  readonly operations: string | undefined;
}

/** Reads the two files of version 1: a line for each device and kind of operation. */
export function parseBlkio({ bytes, operations }: BlkioFiles, devices: string): DiskTraffic[] {
  const moved = parseKinds(bytes);
  const done = parseKinds(operations);
  return [...new Set([...moved.keys(), ...done.keys()])].map((numbers) => ({
    device: findDevice(devices, numbers),
    numbers,
    bytesByOperation: moved.get(numbers) ?? new Map(),
    reads: done.get(numbers)?.get("Read") ?? 0,
    writes: done.get(numbers)?.get("Write") ?? 0,
    readBytes: moved.get(numbers)?.get("Read") ?? 0,
    writtenBytes: moved.get(numbers)?.get("Write") ?? 0,
  }));
}

function parseKinds(text = ""): ReadonlyMap<string, ReadonlyMap<string, number>> {
  const devices = new Map<string, Map<string, number>>();
  for (const line of text.split("\n")) {
    const [, numbers, kind, count] = /^(\d+:\d+) (\w+) (\d+)$/.exec(line) ?? [];
    if (numbers === undefined || kind === undefined) continue;
    devices.set(numbers, (devices.get(numbers) ?? new Map<string, number>()).set(kind, Number(count)));
  }
  return devices;
}

/** The path of the device; its numbers where the kernel shows no name, as of one that is gone. */
function findDevice(devices: string, numbers: string): string {
  const name = /^DEVNAME=(.+)$/m.exec(readKernelFile(`${devices}/${numbers}/uevent`) ?? "")?.[1];
  return name === undefined ? numbers : `/dev/${name}`;
}
