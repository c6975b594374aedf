import { expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createFakeProc } from "../../../host/fake/fake-proc.ts";
import { ensureKernelTunables } from "./kernel-tunables.ts";

function createKernel(tunables: Readonly<Record<string, number>>) {
  const proc = createFakeProc();
  for (const [name, value] of Object.entries(tunables)) proc.tunables.set(name, value);
  return { proc, log: silentLog };
}

it("refuses tunables that differ, in upstream's words", async () => {
  const kernel = createKernel({ "vm/overcommit_memory": 0 });
  const problem = "invalid kernel flag: vm/overcommit_memory, expected value: 1, actual value: 0";
  await expect(ensureKernelTunables(kernel, "refuse")).rejects.toThrow(
    `Failed to start ContainerManager: ${problem}; set them with sysctl, or set protectKernelDefaults to false`,
  );
  kernel.proc.tunables.delete("kernel/panic");
  const other = "invalid kernel flag: kernel/panic, expected value: 10, actual value: unknown";
  await expect(ensureKernelTunables(kernel, "refuse")).rejects.toThrow(`[${other}, ${problem}]`);
  expect(kernel.proc.tunables.get("vm/overcommit_memory")).toBe(0);
});

it("lets a kernel be that is as a node needs it", async () => {
  await expect(ensureKernelTunables(createKernel({}), "refuse")).resolves.toBeUndefined();
});

it("sets those that differ, as far as it may", async () => {
  const kernel = createKernel({ "kernel/panic": 0, "kernel/panic_on_oops": 0 });
  const { setTunable } = kernel.proc;
  kernel.proc.setTunable = async (name, value) => {
    if (name === "kernel/panic") throw new Error("EROFS");
    await setTunable(name, value);
  };
  await ensureKernelTunables(kernel, "set");
  expect(kernel.proc.tunables.get("kernel/panic")).toBe(0);
  expect(kernel.proc.tunables.get("kernel/panic_on_oops")).toBe(1);
});

it("keeps all of them where it is told to", async () => {
  const kernel = createKernel({ "kernel/panic": 0 });
  await ensureKernelTunables(kernel, "keep");
  expect(kernel.proc.tunables.get("kernel/panic")).toBe(0);
});
