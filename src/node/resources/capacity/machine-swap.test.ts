import { describe, expect, it } from "vitest";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { findSwappedVolumes, readHasSwapController, requireNoSwap } from "./machine-swap.ts";

const HEADING = "Filename\t\t\t\tType\t\tSize\t\tUsed\t\tPriority\n";
const SWAPS = `${HEADING}/dev/sda2                               partition\t8388604\t0\t-2\n`;

function createMachine(files: Readonly<Record<string, string>>, kernelRelease = "6.1.0") {
  const host = createFakeHost();
  for (const [path, text] of Object.entries(files)) host.files.put(path, text);
  const identity = async () => ({ ...(await host.machine.identity()), kernelRelease });
  return { files: host.files, machine: { identity } };
}

describe("a machine with swap", () => {
  it("is refused in upstream's words", async () => {
    await expect(requireNoSwap(createMachine({ "/proc/swaps": SWAPS }).files)).rejects.toThrow(
      "running with swap on is not supported, please disable swap or set --fail-swap-on flag to false",
    );
  });

  it.each([
    ["has none", { "/proc/swaps": HEADING }],
    ["has a kernel without it", {}],
  ])("is not one that %s", async (_what, files) => {
    const { files: machine } = createMachine(files);
    await expect(requireNoSwap(machine)).resolves.toBeUndefined();
    expect(await findSwappedVolumes(machine, createMachine({}).machine)).toBeUndefined();
  });

  it("may write volumes in memory to its disk, where the kernel cannot be told not to", async () => {
    const message = async (kernelRelease: string) => {
      const { files, machine } = createMachine({ "/proc/swaps": SWAPS }, kernelRelease);
      return await findSwappedVolumes(files, machine);
    };
    expect(await message("6.1.0-28-amd64")).toContain("The tmpfs noswap option is not supported.");
    expect(await message("6.4.0-1-amd64")).toBeUndefined();
    expect(await message("7.0.1")).toBeUndefined();
  });
});

describe("the controller of swap", () => {
  it.each([
    ["there with version 1", 1, { "/sys/fs/cgroup/memory/memory.memsw.limit_in_bytes": "0" }, true],
    ["not there with version 1", 1, {}, false],
    [
      "there with version 2",
      2,
      {
        "/proc/self/cgroup": "0::/system.slice/a.service\n",
        "/sys/fs/cgroup/system.slice/a.service/memory.swap.max": "max",
      },
      true,
    ],
    ["not there with version 2", 2, { "/proc/self/cgroup": "0::/\n" }, false],
    ["not there without procfs", 2, {}, false],
  ] as const)("is %s", async (_what, version, files, expected) => {
    expect(await readHasSwapController(createMachine(files).files, version)).toBe(expected);
  });
});
