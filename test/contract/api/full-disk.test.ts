import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { runControlPlane } from "../../../src/cluster/control-plane/run-control-plane.ts";
import type { RunningControlPlane } from "../../../src/cluster/control-plane/serve-control-plane.ts";
import { mayMount } from "../host-mount-rights.ts";
import { createLineLog, type LoggedLine } from "../journal-harness.ts";
import { type Answer, type ApiClient, createApiClient } from "./client.ts";
import { credentialsOf } from "./credentials-of.ts";
import { configMap } from "./objects.ts";

const CONFIG_MAPS = "/api/v1/namespaces/default/configmaps";
/** The journal keeps 16 MiB for itself. */
const SMALL = "28m";
const LARGE = "96m";
const PODS = "/api/v1/namespaces/default/pods";
const PENDING_POD = {
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name: "a" },
  spec: { containers: [{ name: "main", image: "example.com/none:1" }] },
};
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
  function copyDisk(name = "copy", source = disk): string {
    const path = mountDisk(name);
    run("cp", ["--archive", `${source}/.`, path]);
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
  async function fill(
    api: ApiClient,
    prefix = "filler",
  ): Promise<{ acknowledged: string[]; refusal: Answer | undefined }> {
    const acknowledged: string[] = [];
    for (let index = 0; index < MAX_WRITES; index++) {
      const answer = await write(api, `${prefix}-${index}`);
      if (answer.status !== 201) return { acknowledged, refusal: answer };
      acknowledged.push(`${prefix}-${index}`);
    }
    return { acknowledged, refusal: undefined };
  }

  const untilWritten = async (api: ApiClient, name: string) =>
    await vi.waitFor(async () => expect(await write(api, name)).toMatchObject({ status: 201 }), { timeout: 20_000 });

  async function end(): Promise<void> {
    client?.close();
    await running?.close();
    running = undefined;
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
        message: expect.stringMatching(/no space left on the disk of .*\/disk\/store: make room there/),
      },
    });
    expect(acknowledged.length).toBeGreaterThan(5);
    expect(logged).toContainEqual(
      expect.objectContaining({ level: "error", message: expect.stringMatching(/The disk is full/) }),
    );
    // Reads, of what was acknowledged and of nothing else.
    expect(await fillers(api)).toEqual([...acknowledged].sort());
    const seen = await watch.take(acknowledged.length);
    expect(seen.map(({ object }) => nameIn(object))).toEqual(acknowledged);
    for (let index = 0; index < 3; index++) expect(await write(api, `refused-${index}`)).toMatchObject({ status: 500 });
    expect(await api.json("GET", "/readyz")).toMatchObject({ status: 200 });
    // There is room again, and nothing is restarted.
    remount(disk, `size=${LARGE}`);
    await untilWritten(api, "after");
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
    await untilWritten(api, "after");
  });

  it("deletes and keeps small objects up to date, also after a kill", async () => {
    const { acknowledged } = await fill(await startWithPod(disk));
    const killed = copyDisk("killed");
    await end();
    takeTheRest(killed);
    await useReserve(await start(killed), acknowledged.slice(0, 5));
    const killedAgain = copyDisk("killed-again", killed);
    await end();
    const again = await start(killedAgain);
    expect(await fillers(again)).toEqual(acknowledged.slice(5).sort());
    expect(await again.json("GET", `${PODS}/a`)).toMatchObject({ body: { status: { phase: "Failed" } } });
  });

  it("deletes and keeps small objects up to date when it was full before the start", async () => {
    const api = await startWithPod(disk);
    const names = ["one", "two", "three"];
    for (const name of names) expect(await write(api, name)).toMatchObject({ status: 201 });
    await end();
    takeTheRest(disk);
    await useReserve(await start(disk), names);
  });

  async function startWithPod(place: string): Promise<ApiClient> {
    const api = await start(place);
    await vi.waitFor(async () => expect(await api.json("POST", PODS, PENDING_POD)).toMatchObject({ status: 201 }));
    return api;
  }

  /** Only deletions and small changes are written, and they are there when they are read. */
  async function useReserve(api: ApiClient, victims: readonly string[]): Promise<void> {
    expect((await fill(api, `more-${victims[0]}`)).refusal).toMatchObject({ status: 500 });
    expect(await api.json("POST", CONFIG_MAPS, configMap("small"))).toMatchObject({ status: 500 });
    for (const name of victims) {
      expect(await api.json("DELETE", `${CONFIG_MAPS}/${name}`)).toMatchObject({ status: 200 });
    }
    const status = { status: { phase: "Failed", message: `seen ${Math.random()}` } };
    for (let index = 0; index < 50; index++) {
      expect(await api.patch("merge", `${PODS}/a/status`, status)).toMatchObject({ status: 200 });
    }
    const left = await fillers(api);
    for (const name of victims) expect(left).not.toContain(name);
  }

  /** Somebody else's file takes every byte that is left. */
  function takeTheRest(place: string): void {
    for (const bytes of [64 * 1024, 4_096]) {
      const file = openSync(join(place, `other-${bytes}`), "w");
      try {
        for (;;) writeSync(file, Buffer.alloc(bytes, "x"));
      } catch {
        // The disk is full now.
      } finally {
        closeSync(file);
      }
    }
  }

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
