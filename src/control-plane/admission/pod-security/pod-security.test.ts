import { describe, expect, test } from "vitest";
import type { PodSpec } from "../../../api/gen/types.ts";
import type { KubeObject } from "../../../api/object.ts";
import type { AdmissionRequest } from "../../ports/request.ts";
import { admit, pod, readerOf, refusalOf, requestFor } from "../__fixtures__/admission-bench.ts";
import { createPodSecurity } from "./pod-security.ts";

const LABEL = "pod-security.kubernetes.io";

function namespace(labels: Record<string, string>): KubeObject {
  const prefixed = Object.entries(labels).map(([name, value]) => [`${LABEL}/${name}`, value]);
  return { apiVersion: "v1", kind: "Namespace", metadata: { name: "a", labels: Object.fromEntries(prefixed) } };
}

const pluginFor = (labels: Record<string, string>, pods: readonly KubeObject[] = []) => {
  return createPodSecurity(readerOf({ namespaces: [namespace(labels)], pods }));
};

function warningsOf(plugin: ReturnType<typeof createPodSecurity>, target: string, parts: Partial<AdmissionRequest>) {
  const warnings: string[] = [];
  const { kind: _kind, subresource: _subresource, ...rest } = parts;
  admit(plugin, requestFor(target, { ...rest, warn: (message) => warnings.push(message) }));
  return warnings;
}

const HOST_NETWORK: Partial<PodSpec> = { hostNetwork: true };
const DETAIL = "host namespaces (hostNetwork=true)";

describe("a pod", () => {
  test("that violates the enforced standard is refused in upstream's words", () => {
    const request = requestFor("pods", { object: pod(HOST_NETWORK) });
    const error = refusalOf(pluginFor({ enforce: "baseline" }), request);
    expect(error.code).toBe(403);
    expect(error.message).toBe(`pods "p" is forbidden: violates PodSecurity "baseline:latest": ${DETAIL}`);
    const dated = refusalOf(pluginFor({ enforce: "baseline", "enforce-version": "v1.28" }), request);
    expect(dated.message).toContain(`violates PodSecurity "baseline:v1.28": ${DETAIL}`);
  });

  test("that violates the standard to warn by is let in with a warning", () => {
    const plugin = pluginFor({ warn: "baseline" });
    expect(warningsOf(plugin, "pods", { object: pod(HOST_NETWORK) })).toEqual([
      `would violate PodSecurity "baseline:latest": ${DETAIL}`,
    ]);
    expect(warningsOf(plugin, "pods", { object: pod() })).toEqual([]);
  });

  test.each<[string, Record<string, string>]>([
    ["no labels", {}],
    ["privileged", { enforce: "privileged" }],
    ["auditing alone, which has no log to go to", { audit: "restricted" }],
  ])("in a namespace with %s is let in silently", (_name, labels) => {
    expect(warningsOf(pluginFor(labels), "pods", { object: pod(HOST_NETWORK) })).toEqual([]);
  });

  test("is judged as restricted where the label to enforce cannot be read", () => {
    const { message } = refusalOf(pluginFor({ enforce: "strict" }), requestFor("pods", { object: pod() }));
    expect(message).toContain('violates PodSecurity "restricted:latest": allowPrivilegeEscalation != false');
  });

  test("is judged again only when its containers or images change", () => {
    const plugin = pluginFor({ enforce: "baseline" });
    const current = pod(HOST_NETWORK);
    const update = (object: KubeObject, target = "pods") => {
      return requestFor(target, { operation: "UPDATE", object, current });
    };
    const labelled = pod(HOST_NETWORK, { labels: { a: "b" } });
    const other = pod({ ...HOST_NETWORK, containers: [{ name: "c", image: "other" }] });
    const debugged = pod({ ...HOST_NETWORK, ephemeralContainers: [{ name: "e", image: "i" }] });
    expect(() => admit(plugin, update(labelled))).not.toThrow();
    expect(() => admit(plugin, update(other, "pods/status"))).not.toThrow();
    expect(refusalOf(plugin, update(other)).message).toContain(DETAIL);
    expect(refusalOf(plugin, update(debugged, "pods/ephemeralcontainers")).message).toContain(DETAIL);
  });
});

const TEMPLATE = { spec: pod(HOST_NETWORK)["spec"] };

test.each<[string, string, object]>([
  ["podtemplates", "PodTemplate", { template: TEMPLATE }],
  ["replicationcontrollers", "ReplicationController", { spec: { template: TEMPLATE } }],
  ["replicasets.apps", "ReplicaSet", { spec: { template: TEMPLATE } }],
  ["deployments.apps", "Deployment", { spec: { template: TEMPLATE } }],
  ["statefulsets.apps", "StatefulSet", { spec: { template: TEMPLATE } }],
  ["daemonsets.apps", "DaemonSet", { spec: { template: TEMPLATE } }],
  ["jobs.batch", "Job", { spec: { template: TEMPLATE } }],
  ["cronjobs.batch", "CronJob", { spec: { jobTemplate: { spec: { template: TEMPLATE } } } }],
])("the template of %s is warned about, by the enforced standard where no other is named", (resource, kind, parts) => {
  const object = { apiVersion: "v1", kind, metadata: { name: "w", namespace: "a" }, ...parts };
  const warning = `would violate PodSecurity "baseline:v1.30": ${DETAIL}`;
  const enforced = { enforce: "baseline", "enforce-version": "v1.30" };
  expect(warningsOf(pluginFor(enforced), resource, { object })).toEqual([warning]);
  expect(warningsOf(pluginFor({ ...enforced, warn: "privileged" }), resource, { object })).toEqual([]);
  expect(warningsOf(pluginFor(enforced), `${resource}/status`, { object })).toEqual([]);
});

describe("a namespace", () => {
  test("with labels that cannot be read is refused, unless they were there before", () => {
    const plugin = pluginFor({});
    const wrong = namespace({ enforce: "strict", "warn-version": "1.30" });
    const error = refusalOf(plugin, requestFor("namespaces", { object: wrong }));
    expect(error.code).toBe(422);
    expect(error.message).toBe(
      `Any "a" is invalid: [metadata.labels[${LABEL}/enforce]: Invalid value: "strict": must be one of privileged, baseline, restricted, metadata.labels[${LABEL}/warn-version]: Invalid value: "1.30": must be "latest" or "v1.x"]`,
    );
    const kept = requestFor("namespaces", { operation: "UPDATE", object: wrong, current: wrong });
    expect(() => admit(plugin, kept)).not.toThrow();
  });

  const owned = (name: string) => {
    const owner = { apiVersion: "apps/v1", kind: "ReplicaSet", name: "r", uid: "u", controller: true };
    return pod(HOST_NETWORK, { name, ownerReferences: [owner] });
  };

  test("that becomes stricter is told which of its pods it would not take any more", () => {
    const privileged = pod(
      { containers: [{ name: "c", image: "i", securityContext: { privileged: true } }] },
      { name: "z" },
    );
    const pods = [owned("c"), owned("b"), owned("d"), pod({}, { name: "fine" }), privileged];
    const request = {
      operation: "UPDATE",
      object: namespace({ enforce: "baseline" }),
      current: namespace({}),
    } as const;
    expect(warningsOf(pluginFor({}, pods), "namespaces", request)).toEqual([
      'existing pods in namespace "a" violate the new PodSecurity enforce level "baseline:latest"',
      "b (and 2 other pods): host namespaces",
      "z: privileged",
    ]);
  });

  test.each<[string, Record<string, string>, Record<string, string>]>([
    ["stays as it is", { enforce: "baseline" }, { enforce: "baseline" }],
    ["becomes milder", { enforce: "restricted" }, { enforce: "baseline" }],
    ["becomes privileged", { enforce: "restricted", "enforce-version": "v1.30" }, { enforce: "privileged" }],
    ["only warns", {}, { warn: "restricted" }],
  ])("that %s has no pods judged", (_name, before, after) => {
    const request = { operation: "UPDATE", object: namespace(after), current: namespace(before) } as const;
    expect(warningsOf(pluginFor({}, [owned("a")]), "namespaces", request)).toEqual([]);
  });

  test("with very many pods has a part of them judged, one of each controller first", () => {
    const pods = [
      ...Array.from({ length: 3001 }, (_, index) => owned(`p${index}`)),
      pod(HOST_NETWORK, { name: "single" }),
    ];
    const request = {
      operation: "UPDATE",
      object: namespace({ enforce: "baseline" }),
      current: namespace({}),
    } as const;
    const [bound, , line] = warningsOf(pluginFor({}, pods), "namespaces", request);
    expect(bound).toBe("new PodSecurity enforce level only checked against the first 3000 of 3002 existing pods");
    expect(line).toBe("p0 (and 2999 other pods): host namespaces");
  });
});
