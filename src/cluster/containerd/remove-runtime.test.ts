import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { removeRunState } from "./remove-runtime.ts";
import { computeRuntimeLayout } from "./runtime-layout.ts";

let directory = "";
const plugins: ChildProcess[] = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-removal-"));
});
afterEach(async () => {
  for (const plugin of plugins.splice(0)) plugin.kill("SIGKILL");
  await rm(directory, { recursive: true, force: true });
});

/** Starts a process that stands for a CNI plugin which is at work when its containerd ends. */
async function startPlugin(runtimeDirectory: string): Promise<ChildProcess> {
  const { state } = computeRuntimeLayout(runtimeDirectory);
  const plugin = spawn("sleep", ["100"], { env: { ...process.env, CNI_NETNS: `${state}/netns/cni-1` } });
  plugins.push(plugin);
  await once(plugin, "spawn");
  return plugin;
}

it("ends the plugins that outlive their containerd, which would make the bridge again, and nobody else's", async () => {
  const own = await startPlugin(directory);
  const other = await startPlugin(`${directory}-other`);
  const ended = once(own, "exit");
  await removeRunState(directory);
  expect(await ended).toEqual([null, "SIGTERM"]);
  expect([other.exitCode, other.signalCode]).toEqual([null, null]);
});
