import { describe, expect, it } from "vitest";
import { silentLog } from "../../../base/log.ts";
import { createMetrics } from "../../../base/metrics.ts";
import { CgroupDriver, RuntimeConfigResponse, StatusResponse } from "../../../cri/gen/cri-v1.ts";
import { CriError, type CriErrorCode } from "../../../cri/port.ts";
import { createCgroupDriver } from "./cgroup-driver.ts";

const { signal } = new AbortController();

function runtimeOf(...answers: Array<RuntimeConfigResponse | CriErrorCode>) {
  return withSettings(undefined, ...answers);
}

/** A runtime that tells these settings, too. */
function withSettings(settings: string | undefined, ...answers: Array<RuntimeConfigResponse | CriErrorCode>) {
  let calls = 0;
  return {
    status: async () => StatusResponse.fromPartial({ info: settings === undefined ? {} : { config: settings } }),
    get calls() {
      return calls;
    },
    async runtimeConfig(): Promise<RuntimeConfigResponse> {
      const answer = answers[calls++];
      if (answer === undefined) throw new Error("the runtime is asked too often");
      if (typeof answer !== "string") return answer;
      throw new CriError(answer, { rpc: "RuntimeConfig", endpoint: "e", detail: "d" });
    },
  };
}

const told = (driver: CgroupDriver) => RuntimeConfigResponse.fromPartial({ linux: { cgroupDriver: driver } });

describe("the driver of cgroups", () => {
  it.each([
    ["systemd", told(CgroupDriver.SYSTEMD), "cgroupfs", "systemd"],
    ["cgroupfs", told(CgroupDriver.CGROUPFS), "systemd", "cgroupfs"],
    ["nothing", RuntimeConfigResponse.fromPartial({}), "systemd", "systemd"],
    ["that it cannot tell", "unimplemented", "cgroupfs", "cgroupfs"],
  ] as const)("where the runtime tells %s", async (_what, answer, configured, expected) => {
    const metrics = createMetrics();
    const driver = createCgroupDriver({ runtime: runtimeOf(answer), log: silentLog, metrics }, configured);
    expect(await driver(signal)).toBe(expected);
    // Upstream counts a runtime that a later version no longer takes.
    const series = 'kubelet_cri_losing_support{version="1.37.0"} 1';
    expect((await metrics.render()).includes(series)).toBe(answer === "unimplemented");
  });

  const runc = { runtimeType: "io.containerd.runc.v2", options: { SystemdCgroup: true } };
  const settingsOf = (handler: object) =>
    JSON.stringify({ containerd: { defaultRuntimeName: "usual", runtimes: { usual: handler } } });

  it.each([
    ["systemd", settingsOf(runc), "cgroupfs", "systemd"],
    ["cgroupfs", settingsOf({ ...runc, options: { SystemdCgroup: false } }), "systemd", "cgroupfs"],
    ["nothing, which means cgroupfs", settingsOf({ ...runc, options: null }), "systemd", "cgroupfs"],
    ["a handler of another kind", settingsOf({ ...runc, runtimeType: "io.containerd.kata.v2" }), "systemd", "systemd"],
    ["no handler", JSON.stringify({ containerd: { defaultRuntimeName: "usual" } }), "systemd", "systemd"],
    ["what is no JSON", "{", "systemd", "systemd"],
    ["a list", "[]", "systemd", "systemd"],
  ] as const)(
    "is that of an old containerd's settings, where they have %s",
    async (_what, settings, configured, expected) => {
      const warnings: string[] = [];
      const log = { ...silentLog, warn: (message: string) => warnings.push(message) };
      const deps = { runtime: withSettings(settings, "unimplemented"), log, metrics: createMetrics() };
      expect(await createCgroupDriver(deps, configured)(signal)).toBe(expected);
      const words = `containerd's cgroup driver is used instead of the configured one: set cgroupDriver: ${expected}`;
      expect(warnings).toEqual(expected === configured ? [] : [expect.stringContaining(words)]);
    },
  );

  it("is asked for until it is known, and then no more", async () => {
    const runtime = runtimeOf("unavailable", told(CgroupDriver.SYSTEMD));
    const driver = createCgroupDriver({ runtime, log: silentLog, metrics: createMetrics() }, "cgroupfs");
    await expect(driver(signal)).rejects.toMatchObject({ code: "unavailable" });
    expect(await driver(signal)).toBe("systemd");
    expect(await driver(signal)).toBe("systemd");
    expect(runtime.calls).toBe(2);
  });
});
