import { describe, expect, it } from "vitest";
import type { Programs } from "../../programs-port.ts";
import type { Systemd } from "../../systemd-port.ts";
import { createBusctlSystemd } from "./busctl-systemd.ts";

const INTERFACE = ["org.freedesktop.systemd1", "/org/freedesktop/systemd1", "org.freedesktop.systemd1.Manager"];
const INFINITY = 2n ** 64n - 1n;

async function listCalls(use: (systemd: Systemd) => Promise<unknown>, answer = ""): Promise<string[][]> {
  const calls: string[][] = [];
  await use(
    createBusctlSystemd(
      busctl(async (args) => {
        calls.push([...args]);
        return answer;
      }),
    ),
  );
  return calls;
}

/** A `busctl` that is a function of its arguments. */
function busctl(call: (args: readonly string[]) => Promise<string>): Pick<Programs, "run"> {
  return {
    async run({ path, args }) {
      const [, , separator, ...called] = args;
      expect([path, separator]).toEqual(["busctl", "--"]);
      return { kind: "printed", stdout: Buffer.from(await call(called)) };
    },
  };
}

describe("calls of systemd", () => {
  it.each<[string, (systemd: Systemd) => Promise<unknown>, string[]]>([
    [
      "a slice is started",
      async (systemd) =>
        await systemd.startTransientUnit("kubepods.slice", [
          { name: "Description", signature: "s", value: "libcontainer container kubepods.slice" },
          { name: "Wants", signature: "as", value: ["-.slice", "b.slice"] },
          { name: "DefaultDependencies", signature: "b", value: false },
          { name: "TasksMax", signature: "t", value: INFINITY },
        ]),
      [
        ...["StartTransientUnit", "ssa(sv)a(sa(sv))", "kubepods.slice", "replace", "4"],
        ...["Description", "s", "libcontainer container kubepods.slice"],
        ...["Wants", "as", "2", "-.slice", "b.slice"],
        ...["DefaultDependencies", "b", "false"],
        ...["TasksMax", "t", "18446744073709551615"],
        "0",
      ],
    ],
    [
      "a slice is limited",
      async (systemd) =>
        await systemd.setUnitProperties("a.slice", [{ name: "CPUWeight", signature: "t", value: 39n }]),
      ["SetUnitProperties", "sba(sv)", "a.slice", "true", "1", "CPUWeight", "t", "39"],
    ],
    ["a slice is stopped", async (s) => await s.stopUnit("a.slice"), ["StopUnit", "ss", "a.slice", "replace"]],
    ["a unit is started", async (s) => await s.startUnit("a.slice"), ["StartUnit", "ss", "a.slice", "replace"]],
    ["a unit is forgotten", async (s) => await s.resetFailedUnit("a.slice"), ["ResetFailedUnit", "s", "a.slice"]],
  ])("%s", async (_what, use, expected) => {
    expect(await listCalls(use)).toEqual([["call", ...INTERFACE, ...expected]]);
  });

  it.each([
    ["active", true],
    ["inactive", false],
    ["failed", false],
  ])("a unit that is %s runs: %s", async (state, isActive) => {
    const answer = JSON.stringify({ type: "s", data: state });
    let found: boolean | undefined;
    const calls = await listCalls(async (systemd) => {
      found = await systemd.isActive("kubepods-pod1_a.slice");
    }, answer);
    expect(found).toBe(isActive);
    const object = "/org/freedesktop/systemd1/unit/kubepods_2dpod1_5fa_2eslice";
    const property = ["org.freedesktop.systemd1.Unit", "ActiveState"];
    expect(calls).toEqual([["get-property", "org.freedesktop.systemd1", object, ...property]]);
  });

  it.each([
    ["252.38-1~deb12u1", 252],
    ["v245.4-1.fc32", 245],
    ["255", 255],
  ])("the version %s is %d", async (text, version) => {
    const systemd = createBusctlSystemd(busctl(async () => JSON.stringify({ type: "s", data: text })));
    expect(await systemd.readVersion()).toBe(version);
  });

  it("that tells no version is an error", async () => {
    const systemd = createBusctlSystemd(busctl(async () => JSON.stringify({ type: "s", data: "" })));
    await expect(systemd.readVersion()).rejects.toMatchObject({ code: "failed" });
  });

  it("are few at once", async () => {
    let running = 0;
    let most = 0;
    const systemd = createBusctlSystemd(
      busctl(async () => {
        most = Math.max(most, ++running);
        await Promise.resolve();
        running--;
        return "";
      }),
    );
    await Promise.all(Array.from({ length: 50 }, async () => await systemd.stopUnit("a.slice")));
    expect([most, running]).toEqual([4, 0]);
  });
});
