import { beforeEach, expect, test } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import {
  type ControllerBench,
  configMap,
  createControllerBench,
} from "../control-loop/__fixtures__/run-controllers.ts";
import type { ForeignAnswer, ForeignQuestion, ForeignResources } from "../ports/foreign-reads.ts";
import { createResourceQuotaController } from "./resource-quotas.ts";

const QUOTA = { resource: "resourcequotas", namespace: "a", name: "q" };
let bench: ControllerBench;
let served: string[];

const NONE = { group: "things.example.com", version: "v1", resources: undefined };
let foreign: ForeignResources;
let answers: Record<string, unknown>;

beforeEach(() => {
  foreign = NONE;
  answers = {};
  bench = createControllerBench();
  served = ["configmaps", "pods", "resourcequotas"];
  const servers = {
    foreignResources: () => [foreign],
    async readForeign({ path }: ForeignQuestion): Promise<ForeignAnswer> {
      const found = answers[path];
      return await Promise.resolve(
        found === undefined ? { kind: "unserved" } : { kind: "answered", status: 200, text: JSON.stringify(found) },
      );
    },
  };
  bench.start(createResourceQuotaController({ ...bench.deps, ...servers, namespacedResources: () => served }));
});

const quota = (hard: Record<string, string>): KubeObject => {
  return { apiVersion: "v1", kind: "ResourceQuota", metadata: { name: "q", namespace: "a" }, spec: { hard } };
};
const pod = (name: string, phase = "Running"): KubeObject => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "a" },
  spec: { containers: [] },
  status: { phase },
});
const status = () => {
  const found = bench.reader.get(QUOTA);
  return found && typed("ResourceQuota", found).status;
};

test("a new quota is counted, and again when its limits change", async () => {
  await bench.create("configmaps", configMap("c"));
  const created = await bench.create("resourcequotas", quota({ configmaps: "5", "count/absent.example.com": "1" }));
  await bench.clock.settle();
  expect(status()).toEqual({ hard: { configmaps: "5", "count/absent.example.com": "1" }, used: { configmaps: "1" } });
  await bench.writer.update("resourcequotas", { ...created, metadata: QUOTA, spec: { hard: { resourcequotas: "2" } } });
  await bench.clock.settle();
  expect(status()).toEqual({ hard: { resourcequotas: "2" }, used: { resourcequotas: "1" } });
});

test("what goes, and a pod that ends, is counted no more", async () => {
  await bench.create("pods", pod("runs"));
  await bench.create("pods", pod("ends"));
  await bench.create("configmaps", configMap("c"));
  await bench.create("resourcequotas", quota({ pods: "5", "count/pods": "5", configmaps: "5" }));
  await bench.clock.settle();
  expect(status()?.used).toEqual({ pods: "2", "count/pods": "2", configmaps: "1" });
  await bench.writer.remove({ resource: "configmaps", namespace: "a", name: "c" });
  await bench.writer.update("pods", pod("ends", "Succeeded"), "status");
  await bench.clock.settle();
  expect(status()?.used).toEqual({ pods: "1", "count/pods": "2", configmaps: "0" });
});

test("a quota for objects of a kind that comes later is counted when it comes", async () => {
  await bench.create("resourcequotas", quota({ "count/crontabs.example.com": "1" }));
  await bench.clock.settle();
  expect(status()?.used).toEqual({});
  served.push("crontabs.example.com");
  const definition = {
    apiVersion: "apiextensions.k8s.io/v1",
    kind: "CustomResourceDefinition",
    metadata: { name: "d" },
  };
  await bench.create("customresourcedefinitions.apiextensions.k8s.io", definition);
  await bench.clock.settle();
  expect(status()?.used).toEqual({ "count/crontabs.example.com": "0" });
});

test("a count that was lost is made up for within minutes, and a right one is not written again", async () => {
  await bench.create("resourcequotas", quota({ configmaps: "5" }));
  await bench.create("configmaps", configMap("c"));
  await bench.clock.advance(5 * 60_000);
  expect(status()?.used).toEqual({ configmaps: "1" });
  const { length } = bench.writes;
  await bench.clock.advance(20 * 60_000);
  expect(bench.writes).toHaveLength(length);
});

test("objects of API servers of others are counted each half minute, and keep their number while these are silent", async () => {
  const name = "count/widgets.things.example.com";
  await bench.create("resourcequotas", quota({ [name]: "5", configmaps: "1" }));
  await bench.clock.settle();
  expect(status()?.used).toEqual({ configmaps: "0" });
  const widgets = { name: "widgets", singularName: "widget", namespaced: true, kind: "Widget", verbs: ["list"] };
  foreign = { ...NONE, resources: [widgets, { ...widgets, name: "widgets/status" }] };
  const first = "namespaces/a/widgets?limit=500";
  answers = {
    [first]: { metadata: { continue: "a b" }, items: [{}, {}] },
    [`${first}&continue=a%20b`]: { metadata: {}, items: [{}] },
  };
  await bench.clock.advance(30_000);
  expect(status()?.used).toEqual({ configmaps: "0", [name]: "3" });
  answers = { [first]: { metadata: { continue: "c", remainingItemCount: 7 }, items: [{}] } };
  await bench.clock.advance(30_000);
  expect(status()?.used).toEqual({ configmaps: "0", [name]: "8" });
  answers = {};
  await bench.clock.advance(30_000);
  expect(status()?.used).toEqual({ configmaps: "0", [name]: "8" });
});
