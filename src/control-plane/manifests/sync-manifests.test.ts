import { beforeEach, describe, expect, test } from "vitest";
import { forbiddenError } from "../../api/api-error.ts";
import type { KubeObject } from "../../api/object.ts";
import { type ControllerBench, createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createEventRecorder } from "../control-loop/record-events.ts";
import type { ResourceApplier } from "../ports/resources.ts";
import { RECORDS_NAMESPACE } from "./manifest-record.ts";
import type { FileObjects } from "./plan-manifests.ts";
import { type SyncDeps, syncManifests } from "./sync-manifests.ts";

const RESOURCES: Readonly<Record<string, { resource: string; namespaced: boolean }>> = {
  ConfigMap: { resource: "configmaps", namespaced: true },
  Namespace: { resource: "namespaces", namespaced: false },
};
const SIGNAL = new AbortController().signal;

let bench: ControllerBench;
let writesLeft: number;
/** Another process each time, which knows nothing of the one before. */
let startProcess: () => SyncDeps;
beforeEach(() => {
  bench = createControllerBench();
  writesLeft = Number.POSITIVE_INFINITY;
  const killed = () => {
    if (writesLeft <= 0) throw new Error("killed");
    writesLeft -= 1;
  };
  const { writer, reader } = bench.deps;
  const applier: ResourceApplier = {
    resolve: (_version, kind) => RESOURCES[kind],
    async apply(object) {
      killed();
      const place = RESOURCES[object.kind] ?? { resource: "", namespaced: true };
      const namespace = place.namespaced ? (object.metadata.namespace ?? "default") : "";
      const wanted = { ...object, metadata: { ...object.metadata, ...(place.namespaced && { namespace }) } };
      const { resource } = place;
      const current = reader.get({ resource, namespace, name: object.metadata.name ?? "" });
      return current === undefined ? await writer.create(resource, wanted) : await writer.update(resource, wanted);
    },
  };
  startProcess = () => {
    const dying: typeof writer = {
      async create(...args) {
        killed();
        return await writer.create(...args);
      },
      async update(...args) {
        killed();
        return await writer.update(...args);
      },
      async remove(...args) {
        killed();
        await writer.remove(...args);
      },
    };
    const events = createEventRecorder(bench.deps, "test");
    return { ...bench.deps, writer: dying, applier, events, done: new Map() };
  };
});

const configMap = (name: string, data: object = {}): KubeObject => {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "default" }, data };
};
const file = (name: string, ...objects: KubeObject[]): FileObjects => ({ file: name, objects });
const sync = async (deps: SyncDeps, ...files: FileObjects[]) => await syncManifests(deps, files, SIGNAL);
const names = () => bench.names("configmaps", "default");

/** The number of writes until the pass is whole, each of which may be the last one of a process. */
async function killAtEachWrite(files: readonly FileObjects[], prepare: () => Promise<void>, check: () => void) {
  for (let writes = 0; ; writes += 1) {
    await prepare();
    writesLeft = writes;
    const isWhole = await sync(startProcess(), ...files).then(
      () => true,
      () => false,
    );
    writesLeft = Number.POSITIVE_INFINITY;
    expect(await sync(startProcess(), ...files)).toBe(true);
    check();
    await sync(startProcess());
    expect(names()).toEqual([]);
    if (isWhole) return writes;
  }
}

describe("a kill at any write", () => {
  test("while a file is applied loses no track of what was applied", async () => {
    const writes = await killAtEachWrite(
      [file("a.yaml", configMap("one"), configMap("two"))],
      async () => undefined,
      () => expect(names()).toEqual(["one", "two"]),
    );
    expect(writes).toBeGreaterThanOrEqual(4);
  });

  test("while a file takes the place of another keeps the objects of both in order", async () => {
    const writes = await killAtEachWrite(
      [file("b.yaml", configMap("two"), configMap("three"))],
      async () => void (await sync(startProcess(), file("a.yaml", configMap("one"), configMap("two")))),
      () => expect(names()).toEqual(["three", "two"]),
    );
    expect(writes).toBeGreaterThanOrEqual(6);
  });
});

test("a file of pods alone is not on record, also one that could not be read before", async () => {
  const deps = startProcess();
  const records = () => bench.names("configmaps", RECORDS_NAMESPACE);
  await sync(deps, file("pods.yaml"), { file: "bad.yaml", objects: [], problem: "document 1: no" });
  expect(records()).toHaveLength(1);
  await sync(deps, file("pods.yaml"), file("bad.yaml"));
  expect(records()).toEqual([]);
});

test("a file that did not change is applied once by a process, and once again by the next", async () => {
  const one = file("a.yaml", configMap("one", { a: "1" }));
  const deps = startProcess();
  await sync(deps, one);
  const found = bench.reader.get({ resource: "configmaps", namespace: "default", name: "one" });
  await bench.writer.update("configmaps", { ...configMap("one", { a: "changed" }), metadata: found?.metadata ?? {} });
  await sync(deps, one);
  const data = () => bench.reader.get({ resource: "configmaps", namespace: "default", name: "one" })?.["data"];
  expect(data()).toEqual({ a: "changed" });
  await sync(startProcess(), one);
  expect(data()).toEqual({ a: "1" });
});

test("a deletion that is refused is tried again, with the object on record", async () => {
  const deps = startProcess();
  await sync(deps, file("a.yaml", configMap("one")));
  bench.refuse = ({ verb, object }) =>
    verb === "delete" && object.metadata.name === "one"
      ? forbiddenError({ group: "", resource: "configmaps" }, "one", "not today")
      : undefined;
  expect(await sync(deps)).toBe(false);
  expect(names()).toEqual(["one"]);
  bench.refuse = () => undefined;
  expect(await sync(deps)).toBe(true);
  expect(names()).toEqual([]);
});

test("a namespace goes when all that is left in it goes by itself", async () => {
  const deps = startProcess();
  const team: KubeObject = { apiVersion: "v1", kind: "Namespace", metadata: { name: "team" } };
  await sync(deps, file("a.yaml", team, configMap("one")));
  const inTeam = (resource: string, name: string, more: object = {}) =>
    bench.create(resource, { apiVersion: "v1", kind: "X", metadata: { name, namespace: "team", ...more } });
  await inTeam("serviceaccounts", "default");
  await inTeam("configmaps", "kube-root-ca.crt");
  await inTeam("events", "news");
  await inTeam("replicasets.apps", "web-1", { uid: "rs", ownerReferences: [{ uid: "deployment that is gone" }] });
  await inTeam("pods", "web-1-a", { ownerReferences: [{ uid: "rs" }] });
  await inTeam("pods", "lonely");
  await bench.clock.settle();
  expect(await sync(deps)).toBe(false);
  expect(bench.names("namespaces")).toEqual(["team"]);
  await bench.writer.remove({ resource: "pods", namespace: "team", name: "lonely" }, { gracePeriodSeconds: 0 });
  await bench.clock.settle();
  expect(await sync(deps)).toBe(true);
  expect(bench.names("namespaces")).toEqual([]);
});
