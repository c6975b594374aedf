import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { podUid } from "../../../api/pods.ts";
import { type LogFields, silentLog } from "../../../base/log.ts";
import { createFakeHost, type FakeHost } from "../../../host/fake/create-fake-host.ts";
import { createManifestObjects, type ManifestObjects } from "../../cluster/refs/manifest-objects.ts";
import { createFileSource } from "./file-source.ts";
import type { SourceSnapshot } from "./source-snapshot.ts";

const DIRECTORY = "/manifests";
const NEVER = new AbortController().signal;

let host: FakeHost;
let controller: AbortController;
let running: Promise<void>;
let objects: ManifestObjects;
let snapshots: SourceSnapshot[];
let errors: LogFields[];
let told: string[];

beforeEach(() => {
  host = createFakeHost();
  controller = new AbortController();
  running = Promise.resolve();
  [snapshots, errors, told] = [[], [], []];
});

afterEach(async () => {
  controller.abort();
  await running;
});

async function start(): Promise<void> {
  const { clock, files } = host;
  const log = { ...silentLog, error: (_message: string, fields: LogFields = {}) => void errors.push(fields) };
  objects = createManifestObjects({ log, onChanged: (uid) => void told.push(uid) });
  const emit = (snapshot: SourceSnapshot) => void snapshots.push(snapshot);
  const options = { path: DIRECTORY, nodeName: "node-1" };
  running = createFileSource({ clock, files, log, emit, objects }, options).run(controller.signal);
  await clock.advance(100);
}

async function put(name: string, ...documents: object[]): Promise<void> {
  const texts = documents.map((document) => JSON.stringify({ apiVersion: "v1", ...document }));
  host.files.put(`${DIRECTORY}/${name}.yaml`, texts.join("\n---\n"));
  await host.clock.advance(200);
}

const configMap = (data: object, metadata: object = {}) => ({
  kind: "ConfigMap",
  metadata: { name: "app", ...metadata },
  data,
});
const secret = (fields: object) => ({ kind: "Secret", metadata: { name: "login" }, ...fields });
const pod = (spec: object, annotations: object = {}) => ({
  kind: "Pod",
  metadata: { name: "web", annotations },
  spec: { containers: [{ name: "main", image: "busybox" }], ...spec },
});
const MOUNTING = { volumes: [{ name: "config", configMap: { name: "app" } }] };
const RESTARTING = pod(MOUNTING, { "nodelet/restart-on-change": "true" });
const readMap = async (name = "app", namespace = "default") => (await objects.configMap(namespace, name, NEVER)).data;
const lastPod = () => snapshots.at(-1)?.pods[0];
const lastUid = () => podUid(lastPod() ?? {});

describe("config maps and secrets beside static pods", () => {
  it("can be named in every way by pods of their namespace, in whatever file they stand", async () => {
    await put("a", pod(MOUNTING), secret({ stringData: { user: "ada" } }));
    await put("b", { kind: "List", items: [{ apiVersion: "v1", ...configMap({ colour: "blue" }) }] });
    await start();
    expect([errors, snapshots.length, lastPod()?.metadata?.name]).toEqual([[], 1, "web-node-1"]);
    expect(await readMap()).toEqual({ colour: "blue" });
    const { data, type } = await objects.secret("default", "login", NEVER);
    expect([data, type]).toEqual([{ user: Buffer.from("ada").toString("base64") }, "Opaque"]);
    await expect(readMap("app", "other")).rejects.toMatchObject({
      reason: "NotFound",
      message: 'configmap "app" not found: put a ConfigMap of namespace "other" beside the pod\'s manifest',
    });
  });

  it.each<[string, object]>([
    ["an environment", { containers: [{ name: "a", image: "b", envFrom: [{ configMapRef: { name: "app" } }] }] }],
    [
      "a variable",
      {
        containers: [
          { name: "a", image: "b", env: [{ name: "V", valueFrom: { configMapKeyRef: { name: "app", key: "k" } } }] },
        ],
      },
    ],
    ["a volume", MOUNTING],
    ["a projected volume", { volumes: [{ name: "v", projected: { sources: [{ configMap: { name: "app" } }] } }] }],
  ])("tell a pod that names them in %s when they change, and no other pod", async (_what, spec) => {
    await put("map", configMap({ k: "1" }));
    await put("web", pod(spec), { ...pod({}), metadata: { name: "other" } });
    await start();
    told = [];
    await put("map", configMap({ k: "2" }));
    expect([told, snapshots.length]).toEqual([[lastUid()], 1]);
    expect(await readMap()).toEqual({ k: "2" });
    told = [];
    await put("map", configMap({ k: "2" }, { namespace: "default" }));
    expect(told).toEqual([]);
    host.files.delete(`${DIRECTORY}/map.yaml`);
    await host.clock.advance(200);
    expect(told).toEqual([lastUid()]);
    await expect(readMap()).rejects.toThrow('configmap "app" not found');
  });

  it.each<[string, object, string]>([
    ["a key that is no name of a file", configMap({ "a/b": "" }), "document 2: data[a/b]: Invalid value"],
    ["one key twice", { ...configMap({ a: "" }), binaryData: { a: "" } }, "document 2: data[a]: Invalid value"],
    ["too much", configMap({ a: "x".repeat(1024 * 1024 + 1) }), "document 2: Too long: may not be more than"],
    ["no base64", { ...configMap({}), binaryData: { a: "?" } }, "document 2: binaryData[a]: expected base64"],
    ["no metadata", { kind: "ConfigMap" }, 'got kind "ConfigMap" of apiVersion "v1" without metadata'],
    ["no text", configMap({ a: 5 }), "document 2: data[a]: expected string, got integer 5"],
    ["a name that is a path", configMap({}, { name: "../a" }), "document 2: metadata.name: Invalid value"],
  ])("with %s are refused with file, document and field, and stay as they were", async (_what, bad, error) => {
    await put("map", pod(MOUNTING), configMap({ colour: "blue" }));
    await start();
    const before = lastUid();
    await put("map", pod(MOUNTING), bad);
    expect(errors).toEqual([{ file: `${DIRECTORY}/map.yaml`, objectsKept: 1, error: expect.stringContaining(error) }]);
    expect(await readMap()).toEqual({ colour: "blue" });
    expect([snapshots.length, lastUid()]).toEqual([1, before]);
  });

  it.each([
    secret({ data: { pin: "hunter2?" } }),
    secret({ data: { pin: 4711 } }),
    secret({ stringData: { pin: 4711 } }),
  ])("do not come into the log (%#)", async (bad) => {
    await put("secret", bad);
    await start();
    expect(errors).toEqual([expect.objectContaining({ error: expect.stringContaining("[pin]: expected") })]);
    expect(JSON.stringify(errors)).not.toMatch(/hunter2|4711/);
  });

  it("of one name count once: the first does, and the other is named with its place", async () => {
    await put("a", configMap({ from: "a" }));
    await put("b", configMap({ from: "b" }));
    await start();
    await host.clock.advance(60_000);
    expect(await readMap()).toEqual({ from: "a" });
    const [error, ...more] = errors;
    expect([error?.["origin"], error?.["error"], more]).toEqual([
      "/manifests/b.yaml, document 1",
      "/manifests/a.yaml, document 1 has it too",
      [],
    ]);
  });
});

describe("a pod that asks to be made anew", () => {
  it("is another pod with other content, and the same one with the same", async () => {
    await put("web", RESTARTING);
    await put("map", configMap({ k: "1" }));
    await start();
    const first = lastUid();
    await put("map", configMap({ k: "2" }));
    const second = lastUid();
    expect(second).not.toBe(first);
    expect(lastPod()?.metadata?.annotations?.["kubernetes.io/config.hash"]).toBe(second);
    await put("map", configMap({ k: "1" }, { labels: { of: "none" } }));
    expect([lastUid(), snapshots.length]).toEqual([first, 3]);
    await host.clock.advance(60_000);
    expect(snapshots).toHaveLength(3);
  });

  it("stays while the object is gone or broken", async () => {
    await put("web", RESTARTING);
    await put("map", configMap({ k: "1" }));
    await start();
    const first = lastUid();
    await put("map", configMap({ "k/": "2" }));
    host.files.delete(`${DIRECTORY}/map.yaml`);
    await host.clock.advance(200);
    await put("map", configMap({ k: "1" }));
    expect([lastUid(), snapshots.length]).toEqual([first, 1]);
  });

  it("waits for a manifest that could not be read, which may hold the object", async () => {
    await put("web", RESTARTING);
    await put("map", configMap({ k: "1" }));
    let fails = true;
    host.files.intercept(({ operation, phase, path }) => {
      if (fails && operation === "read" && phase === "before" && path.endsWith("map.yaml")) throw new Error("EIO");
    });
    await start();
    expect(snapshots.map(({ pods, isPartial }) => [pods.length, isPartial])).toEqual([[0, true]]);
    fails = false;
    await host.clock.advance(20_000);
    expect(snapshots.map(({ pods, isPartial }) => [pods.length, isPartial])).toEqual([
      [0, true],
      [1, undefined],
    ]);
  });
});
