import { expect, it } from "vitest";
import { silentLog } from "../../base/log.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import { composePodNetwork } from "./pod-network.ts";

it.each([
  ["", []],
  ["10.9.0.0/24", ["10.9.0.0/24"]],
  ["10.9.0.0/24,fd00::/64", ["10.9.0.0/24,fd00::/64"]],
])("the runtime is told the range of the configuration: %j", async (podCIDR, expected) => {
  const clock = createFakeClock();
  const told: string[] = [];
  const runtime: Parameters<typeof composePodNetwork>[0]["ports"]["cri"]["runtime"] = {
    async updateRuntimeConfig({ runtimeConfig }) {
      told.push(runtimeConfig?.networkConfig?.podCidr ?? "");
      return {};
    },
  };
  const ports = { host: { clock }, cri: { runtime }, log: silentLog };
  const network = composePodNetwork({ ports, config: { kubelet: { podCIDR } } });
  const stopping = new AbortController();
  const run = network.part.run(stopping.signal).catch(() => undefined);
  await clock.settle();
  expect(told).toEqual(expected);
  network.observe(["10.1.0.0/24"]);
  await clock.settle();
  expect(told).toEqual([...expected, "10.1.0.0/24"]);
  stopping.abort();
  await run;
});
