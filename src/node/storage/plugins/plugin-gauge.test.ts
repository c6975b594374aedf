import { expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { createPluginRig, csiPlugin, REGISTRY } from "./__fixtures__/plugin-rig.ts";
import { declarePluginGauge } from "./plugin-gauge.ts";

it("tells of the sockets that are there, and of those whose plugins are registered", async () => {
  const rig = createPluginRig();
  const metrics = createMetrics();
  rig.put("good.sock", csiPlugin("good"));
  rig.put("bad.sock", csiPlugin("bad"));
  rig.invalid.set("bad", "not like this");
  const { watcher, stop } = rig.run();
  declarePluginGauge(metrics, watcher);
  await rig.clock.settle();
  const read = async () => (await metrics.render()).split("\n").filter((line) => line.startsWith("plugin_manager"));
  const line = (name: string, state: string) =>
    `plugin_manager_total_plugins{socket_path="${REGISTRY}/${name}.sock",state="${state}_state_of_world"} 1`;
  expect((await read()).sort()).toEqual([line("bad", "desired"), line("good", "actual"), line("good", "desired")]);
  rig.files.delete(`${REGISTRY}/good.sock`);
  await rig.clock.settle();
  expect(await read()).toEqual([line("bad", "desired")]);
  await stop();
});
