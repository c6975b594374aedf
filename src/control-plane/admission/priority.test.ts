import { describe, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { admit, admitPod, pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createPriority, SYSTEM_PRIORITY_CLASSES } from "./priority.ts";

const CRITICAL: Record<string, string> = { "scheduler.alpha.kubernetes.io/critical-pod": "" };

const priorityClass = (name: string, value: number, more: object = {}): KubeObject => {
  return { apiVersion: "scheduling.k8s.io/v1", kind: "PriorityClass", metadata: { name }, value, ...more };
};
const worldOf = (...classes: readonly KubeObject[]) => readerOf({ "priorityclasses.scheduling.k8s.io": classes });
const high = priorityClass("high", 1000, { preemptionPolicy: "Never" });
const preset = priorityClass("preset", 10, { globalDefault: true, preemptionPolicy: "PreemptLowerPriority" });

describe("the priority of a new pod", () => {
  const plugin = createPriority(worldOf(high));
  const specOf = (object: KubeObject, admission = plugin) => admitPod(admission, requestFor("pods", { object })).spec;

  test("is its class's, with the preemption policy", () => {
    expect(specOf(pod({ priorityClassName: "high" }))).toMatchObject({ priority: 1000, preemptionPolicy: "Never" });
  });

  test("is 0 without a class", () => {
    const spec = specOf(pod());
    expect(spec).toMatchObject({ priority: 0 });
    expect(spec).not.toHaveProperty("priorityClassName");
  });

  test("is the default class's without one of its own, and the class is named then", () => {
    const admission = createPriority(worldOf(high, preset));
    expect(specOf(pod(), admission)).toMatchObject({
      priority: 10,
      priorityClassName: "preset",
      preemptionPolicy: "PreemptLowerPriority",
    });
    expect(specOf(pod({ priorityClassName: "high" }), admission)).toMatchObject({ priority: 1000 });
  });

  test("is the lowest default's when older data holds several", () => {
    const lower = priorityClass("lower", -5, { globalDefault: true });
    expect(specOf(pod(), createPriority(worldOf(preset, lower)))).toMatchObject({ priorityClassName: "lower" });
  });

  test.each([
    ["system-cluster-critical", 2_000_000_000],
    ["system-node-critical", 2_000_001_000],
  ])("of %s is %d, in every namespace and before the class is stored", (name, value) => {
    const object = pod({ priorityClassName: name });
    expect(specOf(object)).toMatchObject({ priorityClassName: name, priority: value });
    const stored = createPriority(worldOf(...SYSTEM_PRIORITY_CLASSES));
    expect(specOf(object, stored)).toMatchObject({ priority: value, preemptionPolicy: "PreemptLowerPriority" });
  });

  test("is refused for a class that does not exist", () => {
    const error = refusalOf(plugin, requestFor("pods", { object: pod({ priorityClassName: "none" }) }));
    expect(error.message).toBe('pods "p" is forbidden: no PriorityClass with name none was found');
    expect(error.code).toBe(403);
  });

  test("is not the author's to choose, unless it is the very number", () => {
    const object = pod({ priorityClassName: "high", priority: 2_000_000_000 });
    expect(refusalOf(plugin, requestFor("pods", { object })).message).toBe(
      'pods "p" is forbidden: the integer value of priority (2000000000) must not be provided in pod spec; priority admission controller computed 1000 from the given PriorityClass name',
    );
    expect(refusalOf(plugin, requestFor("pods", { object: pod({ priority: 5 }) })).message).toContain(
      "computed 0 from",
    );
    expect(specOf(pod({ priorityClassName: "high", priority: 1000 }))).toMatchObject({ priority: 1000 });
  });

  test("comes with the class's preemption policy, without any class that of preempting, and with no other", () => {
    const object = pod({ priorityClassName: "high", preemptionPolicy: "PreemptLowerPriority" });
    expect(refusalOf(plugin, requestFor("pods", { object })).message).toBe(
      'pods "p" is forbidden: the string value of PreemptionPolicy (PreemptLowerPriority) must not be provided in pod spec; priority admission controller computed Never from the given PriorityClass name',
    );
    expect(specOf(pod({}))).toMatchObject({ priority: 0, preemptionPolicy: "PreemptLowerPriority" });
    const never = pod({ preemptionPolicy: "Never" });
    expect(refusalOf(plugin, requestFor("pods", { object: never })).message).toContain("computed PreemptLowerPriority");
  });

  test("is not looked at in subresources", () => {
    const object = { apiVersion: "v1", kind: "Binding", metadata: { name: "p" } };
    expect(admit(plugin, requestFor("pods/binding", { object }))).toBe(object);
  });
});

describe("the legacy annotation of critical pods", () => {
  const on = createPriority(worldOf(high), { legacyCriticalPodAnnotation: true });
  const off = createPriority(worldOf(high));
  const priorityOf = (
    plugin: typeof on,
    { namespace = "kube-system", annotations = CRITICAL, priorityClassName = "" } = {},
  ) => {
    const object = pod({ priorityClassName }, { namespace, annotations });
    return admitPod(plugin, requestFor("pods", { namespace, object })).spec?.priority;
  };

  test.each([
    ["in kube-system, with the gate on", on, {}, 2_000_000_000],
    ["with the gate off, as upstream since 1.16", off, {}, 0],
    ["in another namespace", on, { namespace: "a" }, 0],
    ["with a value", on, { annotations: { "scheduler.alpha.kubernetes.io/critical-pod": "true" } }, 0],
    ["on a pod that has a class", on, { priorityClassName: "high" }, 1000],
    ["absent", on, { annotations: {} }, 0],
  ])("%s", (_when, plugin, parts, priority) => {
    expect(priorityOf(plugin, parts)).toBe(priority);
  });

  test("names the class, so that the node agent sees a critical pod as any other", () => {
    const object = pod({}, { namespace: "kube-system", annotations: CRITICAL });
    const admitted = admitPod(on, requestFor("pods", { namespace: "kube-system", object }));
    expect(admitted.spec?.priorityClassName).toBe("system-cluster-critical");
  });

  test("does not excuse a number of the author's own", () => {
    const object = pod({ priority: 7 }, { namespace: "kube-system", annotations: CRITICAL });
    expect(refusalOf(on, requestFor("pods", { namespace: "kube-system", object })).code).toBe(403);
  });
});

test("an update by a client that does not know the fields keeps them", () => {
  const current = pod({ priorityClassName: "high", priority: 1000, preemptionPolicy: "Never" });
  const request = requestFor("pods", { operation: "UPDATE", object: pod({ priorityClassName: "high" }), current });
  expect(admitPod(createPriority(worldOf()), request).spec).toMatchObject({
    priority: 1000,
    preemptionPolicy: "Never",
  });
});

describe("a priority class", () => {
  const request = (object: KubeObject, operation: "CREATE" | "UPDATE" = "CREATE") =>
    requestFor("priorityclasses.scheduling.k8s.io", { operation, namespace: "", object });

  test("may be the default when no other is", () => {
    expect(() => admit(createPriority(worldOf(high)), request(preset))).not.toThrow();
    expect(() => admit(createPriority(worldOf(preset)), request(preset, "UPDATE"))).not.toThrow();
    const second = priorityClass("second", 1, { globalDefault: true });
    for (const operation of ["CREATE", "UPDATE"] as const) {
      expect(refusalOf(createPriority(worldOf(preset)), request(second, operation)).message).toBe(
        'priorityclasses.scheduling.k8s.io "second" is forbidden: PriorityClass preset is already marked as default. Only one default can exist',
      );
    }
  });

  test.each([
    [priorityClass("too-high", 1_000_000_001), "maximum allowed value of a user defined priority is 1000000000"],
    [priorityClass("system-mine", 1), "error: system-mine is not a known system priority class"],
    [priorityClass("system-node-critical", 1), "error: value of system-node-critical PriorityClass must be 2000001000"],
    [
      priorityClass("system-node-critical", 2_000_001_000, { globalDefault: true }),
      "error: globalDefault of system-node-critical PriorityClass must be false",
    ],
  ])("stays out of the system's names and values: $metadata.name", (object, detail) => {
    const error = refusalOf(createPriority(worldOf()), request(object));
    expect(error.code).toBe(422);
    expect(error.message).toContain(detail);
  });

  test("of the system passes, and so does the highest of a user", () => {
    const plugin = createPriority(worldOf());
    for (const object of [...SYSTEM_PRIORITY_CLASSES, priorityClass("top", 1_000_000_000)]) {
      expect(() => admit(plugin, request(object))).not.toThrow();
    }
  });
});
