import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { runControlPlane } from "../../../src/cluster/control-plane/run-control-plane.ts";
import type { RunningControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { mayMount } from "../host-mount-rights.ts";
import { createLineLog, type LoggedLine } from "../journal-harness.ts";
import { type Answer, type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./harness.ts";
import { configMap } from "./objects.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
const SMALL = "8m";
const LARGE = "96m";
const PADDING = "x".repeat(200_000);
/** More than fits. */
const MAX_WRITES = 200;

describe.skipIf(!mayMount())("a control plane whose disk is full (needs root with CAP_SYS_ADMIN)", () => {
  let parent: string;
  let disk: string;
  let running: RunningControlPlane | undefined;
  let client: ApiClient | undefined;
  let logged: LoggedLine[];
  const mounted: string[] = [];

  beforeEach(() => {
    parent = mkdtempSync(join(tmpdir(), "nodelet-full-disk-"));
    disk = mountDisk("disk");
    logged = [];
  });
  afterEach(async () => {
    client?.close();
    await running?.close();
    running = undefined;
    // Lazily: the database's library holds its files until its statements are collected as garbage.
    for (const path of mounted.splice(0)) run("umount", ["--lazy", path]);
    rmSync(parent, { recursive: true });
  });

  function run(command: string, args: readonly string[]): void {
    const { status, stderr } = spawnSync(command, args, { encoding: "utf8" });
    if (status !== 0) throw new Error(`${command} ${args.join(" ")}: ${stderr}`);
  }
  const remount = (path: string, option: string) => run("mount", ["-o", `remount,${option}`, path]);

  function mountDisk(name: string): string {
    const path = join(parent, name);
    mkdirSync(path);
    run("mount", ["-t", "tmpfs", "-o", `size=${SMALL}`, "nodelet-full-disk", path]);
    mounted.push(path);
    return path;
  }

  /** What a control plane that was killed now would find, on another disk that is as full. */
  function copyDisk(): string {
    const path = mountDisk("copy");
    run("cp", ["--archive", `${disk}/.`, path]);
    return path;
  }

  async function start(directory: string): Promise<ApiClient> {
    const place = { directory, kubeconfig: join(parent, "kubeconfig") };
    const serving = { address: "127.0.0.1", port: 0, serviceCidr: "10.96.0.0/16", version: "0.0.0" };
    running = await runControlPlane({ ...serving, ...place }, createLineLog(logged));
    await running.ready;
    client = createApiClient(credentialsOf(running.kubeconfig));
    return client;
  }

  const write = (api: ApiClient, name: string) => api.json("POST", CONFIG_MAPS, configMap(name, { padding: PADDING }));

  /** Returns what was acknowledged, and the first refusal. */
  async function fill(api: ApiClient): Promise<{ acknowledged: string[]; refusal: Answer | undefined }> {
    const acknowledged: string[] = [];
    for (let index = 0; index < MAX_WRITES; index++) {
      const answer = await write(api, `filler-${index}`);
      if (answer.status !== 201) return { acknowledged, refusal: answer };
      acknowledged.push(`filler-${index}`);
    }
    return { acknowledged, refusal: undefined };
  }

  const names = async (api: ApiClient) =>
    (await api.list(CONFIG_MAPS)).items.map(({ metadata }) => metadata.name ?? "");
  const fillers = async (api: ApiClient) => (await names(api)).filter((name) => name.startsWith("filler-")).sort();

  it("refuses writes and says why, reads and watches on, and goes on by itself once there is room", async () => {
    const api = await start(disk);
    const watch = await api.watch(CONFIG_MAPS, { resourceVersion: (await api.list(CONFIG_MAPS)).resourceVersion });
    const { acknowledged, refusal } = await fill(api);
    expect(refusal).toMatchObject({
      status: 500,
      body: {
        kind: "Status",
        status: "Failure",
        reason: "InternalError",
        message: expect.stringMatching(/disk is full/),
      },
    });
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(logged).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringMatching(/could not be written/) }),
    );
    // Reads, of what was acknowledged and of nothing else.
    expect(await fillers(api)).toEqual([...acknowledged].sort());
    const seen = await watch.take(acknowledged.length);
    expect(seen.map(({ object }) => nameIn(object))).toEqual(acknowledged);
    for (let index = 0; index < 3; index++) expect(await write(api, `refused-${index}`)).toMatchObject({ status: 500 });
    expect(await api.json("GET", "/readyz")).toMatchObject({ status: 200 });
    // There is room again, and nothing is restarted.
    remount(disk, `size=${LARGE}`);
    expect(await write(api, "after")).toMatchObject({ status: 201 });
    const next = await watch.take(1);
    expect(nameIn(next[0]?.object)).toBe("after");
    expect((await names(api)).filter((name) => name.startsWith("refused-"))).toEqual([]);
  });

  it("has all that it acknowledged when it starts again, on a disk that is as full", async () => {
    const { acknowledged } = await fill(await start(disk));
    const copy = copyDisk();
    await running?.close();
    client?.close();
    const api = await start(copy);
    expect(await fillers(api)).toEqual([...acknowledged].sort());
    remount(copy, `size=${LARGE}`);
    await vi.waitFor(async () => expect(await write(api, "after")).toMatchObject({ status: 201 }), { timeout: 20_000 });
  });

  it("deletes when somebody else's file filled the disk, and that file is gone", async () => {
    const api = await start(disk);
    expect(await write(api, "kept")).toMatchObject({ status: 201 });
    const other = join(disk, "others");
    const filled = Buffer.alloc(64 * 1024, "x");
    try {
      for (let index = 0; ; index++) writeFileSync(`${other}-${index}`, filled);
    } catch {
      // Full.
    }
    expect((await fill(api)).refusal).toMatchObject({ status: 500 });
    for (let index = 0; index < MAX_WRITES; index++) rmSync(`${other}-${index}`, { force: true });
    expect(await api.json("DELETE", `${CONFIG_MAPS}/kept`)).toMatchObject({ status: 200 });
  });

  it("does not start on a disk that is read-only, and names what it cannot write", async () => {
    await start(disk);
    const copy = copyDisk();
    await running?.close();
    client?.close();
    remount(copy, "ro");
    await expect(start(copy)).rejects.toThrow(/read-only|EROFS/i);
    remount(copy, "rw");
    await start(copy);
  });
});

function nameIn(object: unknown): unknown {
  return isRecord(object) && isRecord(object["metadata"]) ? object["metadata"]["name"] : undefined;
}
