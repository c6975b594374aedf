import { spawnSync } from "node:child_process";
import { existsSync, symlinkSync } from "node:fs";
import { mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { runTool } from "../../scripts/packages/run-tool.ts";
import type { Pod } from "../../src/api/gen/types.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { createApiClient } from "../contract/api/client.ts";
import { credentialsOf } from "../contract/api/credentials-of.ts";
import type { StatusReport } from "../e2e/node-under-test.ts";
import { RUN_FOR_EVER, shellPod } from "../e2e/pods.ts";
import { claimNetwork, claimPort } from "../machine/claims.ts";
import { OUTPUT } from "./build-packages.ts";

const ROOT = join(import.meta.dirname, "../..");
const PODS = "/api/v1/namespaces/default/pods";
const LIMIT_MS = 600_000;
const parent = spawnSync("git", ["rev-parse", "--verify", "HEAD^"], { cwd: ROOT, encoding: "utf8" }).stdout.trim();
if (parent === "") console.warn("SKIPPED: 3 tests of upgrades: this tree has no history");

describe.skipIf(parent === "")("an upgrade from the commit before, and back", () => {
  let directory: string;
  let state: string;
  let before: readonly string[];
  let after: readonly string[];
  let options: readonly string[];
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), "nodelet-upgrade-"));
    state = join(directory, "state");
    const clone = join(directory, "before");
    runTool("git", ["clone", "--quiet", "--shared", "--no-checkout", ROOT, clone]);
    runTool("git", ["checkout", "--quiet", "--detach", parent], { cwd: clone });
    symlinkSync(join(ROOT, "node_modules"), join(clone, "node_modules"));
    runTool(process.execPath, ["scripts/build.mjs"], { cwd: clone });
    before = [join(clone, "dist/nodelet.js")];
    after = [
      join(ROOT, OUTPUT, (await readdir(OUTPUT)).find((name) => /^nodelet-[^-]+-linux-[a-z0-9]+$/.test(name)) ?? ""),
    ];
    const manifests = join(directory, "manifests");
    await mkdir(manifests);
    await writeFile(join(manifests, "web.json"), JSON.stringify(shellPod("web", RUN_FOR_EVER)));
    const { bridge, podCidr, serviceCidr } = await claimNetwork();
    options = [
      ...["--manifests", manifests, "--healthz-port", "0", "--bridge", bridge, "--pod-cidr", podCidr],
      ...["--service-cidr", serviceCidr, "--api-port", `${await claimPort()}`, "--kubelet-arg=--fail-swap-on=false"],
    ];
  });
  afterAll(async () => {
    run(after, "down", "--pods");
    await removeRuntime(join(state, "containerd"));
    await rm(directory, { recursive: true, force: true });
  });

  const run = ([program = "", ...words]: readonly string[], command: string, ...args: readonly string[]): string => {
    const all = [...words, command, ...args, "--state-dir", state];
    const { status, stdout, stderr } = spawnSync(program, all, { encoding: "utf8", timeout: LIMIT_MS });
    expect({ status, said: status === 0 ? "" : stdout + stderr }).toEqual({ status: 0, said: "" });
    return stdout;
  };
  /** All that an upgrade leaves alone: the container, its restarts, and since when pod and node are ready. */
  const read = async (program: readonly string[]) => {
    const { pods }: StatusReport = JSON.parse(run(program, "status", "-o", "json"));
    const web = pods.find(({ metadata }) => metadata?.name?.startsWith("web"));
    const api = createApiClient(credentialsOf(await readFile(join(state, "kubeconfig"), "utf8")));
    try {
      const stored: Pod = JSON.parse(JSON.stringify(await api.object("GET", `${PODS}/${web?.metadata?.name}`)));
      const [main] = stored.status?.containerStatuses ?? [];
      return {
        uid: stored.metadata?.uid,
        container: main?.containerID,
        restarts: main?.restartCount,
        state: main?.state,
        ready: stored.status?.conditions?.find(({ type }) => type === "Ready"),
      };
    } finally {
      api.close();
    }
  };
  let seen: Awaited<ReturnType<typeof read>>;

  it("begins with pods of the commit before", async () => {
    expect(existsSync(before[0] ?? "")).toBe(true);
    run(before, "up", "--detach", ...options);
    seen = await read(before);
    expect(seen).toMatchObject({ restarts: 0, ready: { status: "True" } });
  });

  it.each([
    ["the new program takes over", () => [before, after]],
    ["the old one takes over again", () => [after, before]],
  ])("%s: no container is restarted, and no pod stops being ready", async (_, choose) => {
    const [from = [], to = []] = choose();
    run(from, "down");
    run(to, "up", "--detach", ...options);
    expect(await read(to)).toEqual(seen);
  });
});
