import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { removeRuntime } from "../../src/cluster/containerd/remove-runtime.ts";
import { startContainerd } from "../../src/cluster/containerd/start-containerd.ts";
import { findProcesses } from "../../src/cluster/processes/process-identity.ts";
import { claimNetwork } from "../machine/claims.ts";

let directory: string;
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-start-"));
});
afterEach(async () => {
  await removeRuntime(directory);
  await rm(directory, { recursive: true, force: true });
});

it("is given up at once where the start is, however long it takes, and leaves no process", async () => {
  const network = await claimNetwork();
  const binary = join(directory, "containerd");
  const script =
    '#!/bin/sh\n[ "$1" = --version ] && echo "containerd containerd.io v1.7.0 0" && exit\nexec tail -f "$0"\n';
  await writeFile(binary, script, { mode: 0o755 });
  const stopping = new AbortController();
  const started = startContainerd({ directory, binary, ...network, log: silentLog, signal: stopping.signal });
  const outcome = expect(started).rejects.toThrow(expect.objectContaining({ name: "AbortError" }));
  const children = async () => await findProcesses(([program, , path]) => program === "tail" && path === binary);
  await expect.poll(async () => (await children()).length, { timeout: 20_000 }).toBe(1);
  stopping.abort();
  await outcome;
  expect(await children()).toEqual([]);
});
