import { describe, expect, test } from "vitest";
import type { LimitRangeItem } from "../../api/gen/types.ts";
import { type KubeObject, untyped } from "../../api/object.ts";
import { admit, admitPod, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createLimitRanger } from "./limit-ranger.ts";

const pluginFor = (...limits: LimitRangeItem[]) =>
  createLimitRanger(
    readerOf({
      limitranges: [
        untyped({ apiVersion: "v1", kind: "LimitRange", metadata: { name: "l", namespace: "a" }, spec: { limits } }),
        untyped({
          apiVersion: "v1",
          kind: "LimitRange",
          metadata: { name: "elsewhere", namespace: "b" },
          spec: { limits: [{ type: "Container", max: { cpu: "1m" } }] },
        }),
      ],
    }),
  );
const container = (name: string, requests?: Record<string, string>, limits?: Record<string, string>) => {
  return { name, resources: { ...(requests && { requests }), ...(limits && { limits }) } };
};
const claim = (storage: string): KubeObject =>
  untyped({
    apiVersion: "v1",
    kind: "PersistentVolumeClaim",
    metadata: { name: "claim", namespace: "a" },
    spec: { resources: { requests: { storage } } },
  });

describe("defaults of a namespace's limit ranges", () => {
  const plugin = pluginFor({
    type: "Container",
    default: { cpu: "500m", memory: "1Gi" },
    defaultRequest: { cpu: "100m" },
  });

  test("fill what containers leave out, and the pod says so", () => {
    const object = pod({
      containers: [container("c"), container("d", { cpu: "200m" }, { cpu: "1" })],
      initContainers: [{ name: "i" }],
    });
    const { spec, metadata } = admitPod(plugin, requestFor("pods", { object }));
    expect(spec?.containers.map(({ resources }) => resources)).toEqual([
      { requests: { cpu: "100m" }, limits: { cpu: "500m", memory: "1Gi" } },
      { requests: { cpu: "200m" }, limits: { cpu: "1", memory: "1Gi" } },
    ]);
    expect(spec?.initContainers?.[0]?.resources?.requests).toEqual({ cpu: "100m" });
    expect(metadata?.annotations?.["kubernetes.io/limit-ranger"]).toBe(
      "LimitRanger plugin set: cpu request for container c; cpu, memory limit for container c; memory limit for container d; cpu request for init container i; cpu, memory limit for init container i",
    );
  });

  test("leave alone what is complete, what is updated and what is elsewhere", () => {
    const full = pod({ containers: [container("c", { cpu: "1" }, { cpu: "1", memory: "1Gi" })] });
    expect(admit(plugin, requestFor("pods", { object: full }))).toBe(full);
    const bare = pod();
    expect(admit(plugin, requestFor("pods", { operation: "UPDATE", object: bare, current: bare }))).toBe(bare);
    expect(admit(plugin, requestFor("pods", { namespace: "c", object: bare }))).toBe(bare);
  });
});

describe("bounds of a namespace's limit ranges", () => {
  test.each<[string, LimitRangeItem, ReturnType<typeof container>[], string]>([
    [
      "a limit above the maximum",
      { type: "Container", max: { memory: "1Gi" } },
      [container("c", { memory: "1Gi" }, { memory: "1536Mi" })],
      "maximum memory usage per Container is 1Gi, but limit is 1536Mi",
    ],
    [
      "no limit where there is a maximum",
      { type: "Container", max: { cpu: "1" } },
      [container("c")],
      "maximum cpu usage per Container is 1.  No limit is specified",
    ],
    [
      "a request below the minimum",
      { type: "Container", min: { cpu: "100m" } },
      [container("c", { cpu: "50m" })],
      "minimum cpu usage per Container is 100m, but request is 50m",
    ],
    [
      "no request where there is a minimum",
      { type: "Container", min: { cpu: "100m" } },
      [container("c")],
      "minimum cpu usage per Container is 100m.  No request is specified",
    ],
    [
      "the pod's sum above its maximum",
      { type: "Pod", max: { cpu: "1" } },
      [container("c", {}, { cpu: "600m" }), container("d", {}, { cpu: "600m" })],
      "maximum cpu usage per Pod is 1, but limit is 1200m",
    ],
    [
      "too wide a gap between request and limit",
      { type: "Container", maxLimitRequestRatio: { memory: "2" } },
      [container("c", { memory: "100Mi" }, { memory: "250Mi" })],
      "memory max limit to request ratio per Container is 2, but provided ratio is 2.500000",
    ],
    [
      "no request where there is a ratio",
      { type: "Container", maxLimitRequestRatio: { cpu: "2" } },
      [container("c", {}, { cpu: "1" })],
      "cpu max limit to request ratio per Container is 2, but no request is specified or request is 0",
    ],
    [
      "more than one of these",
      { type: "Container", min: { cpu: "100m" }, max: { memory: "1Gi" } },
      [container("c", { cpu: "50m" }, { memory: "2Gi" })],
      "[minimum cpu usage per Container is 100m, but request is 50m, maximum memory usage per Container is 1Gi, but limit is 2Gi]",
    ],
  ])("refuse %s", (_what, item, containers, detail) => {
    const request = requestFor("pods", { object: pod({ containers }) });
    const error = refusalOf(pluginFor(item), request);
    expect(error.message).toBe(`pods "p" is forbidden: ${detail}`);
    expect(error.code).toBe(403);
  });

  test("let through what lies exactly on them", () => {
    const plugin = pluginFor(
      { type: "Container", min: { cpu: "100m" }, max: { cpu: "1" }, maxLimitRequestRatio: { cpu: "10" } },
      { type: "Pod", max: { cpu: "2" } },
    );
    const containers = [container("c", { cpu: "0.1" }, { cpu: "1000m" }), container("d", { cpu: "1" }, { cpu: "1" })];
    expect(() => admit(plugin, requestFor("pods", { object: pod({ containers }) }))).not.toThrow();
  });

  test("do not count a pod's overhead, which is not the author's", () => {
    const plugin = pluginFor({ type: "Pod", max: { cpu: "1" } });
    const object = pod({ overhead: { cpu: "1" }, containers: [container("c", {}, { cpu: "1" })] });
    expect(() => admit(plugin, requestFor("pods", { object }))).not.toThrow();
  });

  test("hold for a resize, too", () => {
    const plugin = pluginFor({ type: "Container", max: { cpu: "1" } });
    const object = pod({ containers: [container("c", { cpu: "2" }, { cpu: "2" })] });
    const current = pod({ containers: [container("c", { cpu: "1" }, { cpu: "1" })] });
    expect(refusalOf(plugin, requestFor("pods/resize", { operation: "UPDATE", object, current })).message).toContain(
      "maximum cpu usage per Container is 1, but limit is 2",
    );
  });

  test.each([
    ["500Mi", "minimum storage usage per PersistentVolumeClaim is 1Gi, but request is 500Mi"],
    ["3Gi", "maximum storage usage per PersistentVolumeClaim is 2Gi, but request is 3Gi"],
  ])("hold for claims: %s", (storage, detail) => {
    const plugin = pluginFor({ type: "PersistentVolumeClaim", min: { storage: "1Gi" }, max: { storage: "2Gi" } });
    const target = "persistentvolumeclaims";
    for (const parts of [{}, { operation: "UPDATE", current: claim("1Gi") }] as const) {
      const error = refusalOf(plugin, requestFor(target, { ...parts, object: claim(storage) }));
      expect(error.message).toBe(`persistentvolumeclaims "claim" is forbidden: ${detail}`);
    }
    expect(() => admit(plugin, requestFor(target, { object: claim("2Gi") }))).not.toThrow();
  });
});
