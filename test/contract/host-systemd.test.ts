import { type ChildProcess, execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { createFakeSystemd } from "../../src/host/fake/fake-systemd.ts";
import { createBusctlSystemd } from "../../src/host/linux/system/busctl-systemd.ts";
import { linuxPrograms } from "../../src/host/linux/system/linux-programs.ts";
import type { Systemd, UnitProperty } from "../../src/host/systemd-port.ts";

const BUS_ADDRESS = "DBUS_SYSTEM_BUS_ADDRESS";
const DEADLINE_MS = 20_000;
const UNIT = "kubepods-poda_b.slice";
const PROPERTIES: readonly UnitProperty[] = [
  { name: "Description", signature: "s", value: `libcontainer container ${UNIT}` },
  { name: "Wants", signature: "as", value: ["-.slice"] },
  { name: "TasksAccounting", signature: "b", value: true },
  { name: "DefaultDependencies", signature: "b", value: false },
  { name: "TasksMax", signature: "t", value: 2n ** 63n },
];

function isPossible(): boolean {
  try {
    for (const command of ["busctl", "dbus-daemon"]) execFileSync(command, ["--version"], { stdio: "ignore" });
    execFileSync("/usr/bin/python3", ["-c", "import dbus, gi"], { stdio: "ignore" });
    return true;
  } catch {
    return false;
  }
}

/** What systemd and its stand-in both do with slices. */
async function behave(systemd: Systemd): Promise<void> {
  expect(await systemd.readVersion()).toBe(252);
  expect(await systemd.isActive(UNIT)).toBe(false);
  await systemd.startTransientUnit(UNIT, PROPERTIES);
  expect(await systemd.isActive(UNIT)).toBe(true);
  await expect(systemd.startTransientUnit(UNIT, PROPERTIES)).rejects.toMatchObject({
    code: "failed",
    message: expect.stringContaining("was already loaded"),
  });
  await systemd.setUnitProperties(UNIT, [{ name: "CPUWeight", signature: "t", value: 39n }]);
  await systemd.stopUnit(UNIT);
  await systemd.resetFailedUnit(UNIT);
  expect(await systemd.isActive(UNIT)).toBe(false);
  await systemd.startUnit("-.slice");
  expect(await systemd.isActive("-.slice")).toBe(true);
}

describe("systemd: fake", () => {
  it("makes slices and knows which run", async () => {
    const systemd = createFakeSystemd();
    systemd.fault = undefined;
    await behave(systemd);
  });
});

describe.skipIf(!isPossible())("systemd: by busctl, on a bus of the test's own", () => {
  const processes: ChildProcess[] = [];
  const calls: unknown[] = [];
  const before = process.env[BUS_ADDRESS];
  let directory = "";

  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-systemd-"));
    const socket = join(directory, "bus");
    const rules = `<allow user="*"/><allow own="*"/><allow send_destination="*" eavesdrop="true"/>`;
    const policy = `<policy context="default">${rules}<allow eavesdrop="true"/></policy>`;
    const text = `<busconfig><listen>unix:path=${socket}</listen><auth>EXTERNAL</auth>${policy}</busconfig>`;
    await writeFile(join(directory, "bus.conf"), text);
    process.env[BUS_ADDRESS] = `unix:path=${socket}`;
    const configuration = `--config-file=${join(directory, "bus.conf")}`;
    processes.push(spawn("dbus-daemon", [configuration, "--nofork", "--nopidfile"], { stdio: "ignore" }));
    for (const deadline = Date.now() + DEADLINE_MS; !existsSync(socket) && Date.now() < deadline; ) await delay(10);
    const script = new URL("systemd-stand-in.py", import.meta.url).pathname;
    const standIn = spawn("/usr/bin/python3", [script], { stdio: ["ignore", "pipe", "inherit"] });
    processes.push(standIn);
    const lines = createInterface({ input: standIn.stdout });
    lines.on("line", (line) => void calls.push(JSON.parse(line)));
    await once(lines, "line");
  }, DEADLINE_MS);

  afterAll(async () => {
    if (before === undefined) delete process.env[BUS_ADDRESS];
    else process.env[BUS_ADDRESS] = before;
    for (const child of processes.reverse()) {
      const ended = once(child, "exit");
      child.kill("SIGKILL");
      await ended;
    }
    await rm(directory, { recursive: true, force: true });
  });

  it("is asked in the form that the bus has for it", { timeout: DEADLINE_MS }, async () => {
    await behave(createBusctlSystemd(linuxPrograms));
    const described = [
      ["Description", `libcontainer container ${UNIT}`],
      ["Wants", ["-.slice"]],
      ["TasksAccounting", 1],
      ["DefaultDependencies", 0],
      ["TasksMax", Number(2n ** 63n)],
    ];
    expect(calls).toEqual([
      ["ready"],
      ["StartTransientUnit", UNIT, "replace", described, []],
      ["SetUnitProperties", UNIT, true, [["CPUWeight", 39]]],
      ["StopUnit", UNIT, "replace"],
      ["ResetFailedUnit", UNIT],
      ["StartUnit", "-.slice", "replace"],
    ]);
  });

  it("that does not answer is an error", { timeout: DEADLINE_MS }, async () => {
    process.env[BUS_ADDRESS] = `unix:path=${join(directory, "none")}`;
    await expect(createBusctlSystemd(linuxPrograms).readVersion()).rejects.toMatchObject({
      name: "SystemdError",
      code: "failed",
    });
  });
});
