import { describe, expect, test } from "vitest";
import type { ResourceQuotaSpec } from "../../api/gen/types.ts";
import { type KubeObject, typed } from "../../api/object.ts";
import { createFakeClock } from "../../host/fake/fake-clock.ts";
import type { AdmissionRequest } from "../ports/request.ts";
import { pod, readerOf, refusalOf, requestFor } from "./__fixtures__/admission-bench.ts";
import { createResourceQuota } from "./resource-quota.ts";

interface QuotaParts extends ResourceQuotaSpec {
  used?: Record<string, string>;
}

/** A quota that has been counted. */
function quota(name: string, { used, ...spec }: QuotaParts): KubeObject {
  const status = { hard: spec.hard, ...(used && { used }) };
  return { apiVersion: "v1", kind: "ResourceQuota", metadata: { name, namespace: "a" }, spec, status };
}

const pluginFor = (...quotas: KubeObject[]) =>
  createResourceQuota(readerOf({ resourcequotas: quotas }), createFakeClock());

/** As `requestFor`, with a kind whose objects are stored. */
function request(target: string, parts: Partial<AdmissionRequest>): AdmissionRequest {
  const { kind: _kind, subresource: _subresource, ...rest } = parts;
  const made = requestFor(target, rest);
  return { ...made, kind: { ...made.kind, verbs: ["create", "delete"] } };
}

/** What the quotas have in use after the request, by name. */
function charge(plugin: ReturnType<typeof createResourceQuota>, asked: AdmissionRequest) {
  plugin.validate?.(asked);
  const writes = plugin.accompany?.(asked) ?? [];
  return Object.fromEntries(
    writes.map(({ object }) => [object.metadata.name, typed("ResourceQuota", object).status?.used]),
  );
}

const small = pod({ containers: [{ name: "c", image: "i", resources: { requests: { cpu: "600m" } } }] });

describe("a creation", () => {
  test("within the quota is counted", () => {
    const plugin = pluginFor(
      quota("q", { hard: { pods: "2", "requests.cpu": "1" }, used: { pods: "1", "requests.cpu": "0" } }),
    );
    expect(charge(plugin, request("pods", { object: small }))).toEqual({ q: { pods: "2", "requests.cpu": "600m" } });
  });

  test("beyond the quota is refused in upstream's words, with what is exceeded alone", () => {
    const hard = { pods: "5", "requests.cpu": "1", cpu: "1" };
    const plugin = pluginFor(quota("q", { hard, used: { pods: "1", "requests.cpu": "500m", cpu: "500m" } }));
    const { code, message } = refusalOf(plugin, request("pods", { object: small }));
    expect(code).toBe(403);
    expect(message).toBe(
      'pods "p" is forbidden: exceeded quota: q, requested: cpu=600m,requests.cpu=600m, used: cpu=500m,requests.cpu=500m, limited: cpu=1,requests.cpu=1',
    );
  });

  test("is counted by every quota that concerns it, and by no other", () => {
    const plugin = pluginFor(
      quota("all", { hard: { pods: "5" }, used: { pods: "3" } }),
      quota("best-effort", { hard: { pods: "0" }, used: { pods: "0" }, scopes: ["BestEffort"] }),
      quota("secrets", { hard: { secrets: "0" }, used: { secrets: "0" } }),
    );
    expect(charge(plugin, request("pods", { object: small }))).toEqual({ all: { pods: "4" } });
  });

  test("of a pod that does not say what it needs is refused where that is limited", () => {
    const plugin = pluginFor(quota("q", { hard: { "limits.cpu": "1", memory: "1Gi" }, used: {} }));
    expect(refusalOf(plugin, request("pods", { object: small })).message).toBe(
      'pods "p" is forbidden: failed quota: q: must specify limits.cpu for: c; memory for: c',
    );
  });

  test("waits until the quota has been counted", () => {
    const plugin = pluginFor(quota("q", { hard: { "count/secrets": "1", secrets: "1" } }));
    const secret = { apiVersion: "v1", kind: "Secret", metadata: { name: "s", namespace: "a" } };
    expect(refusalOf(plugin, request("secrets", { object: secret })).message).toBe(
      'secrets "s" is forbidden: status unknown for quota: q, resources: count/secrets,secrets',
    );
  });

  test("of a custom object is counted by its kind", () => {
    const plugin = pluginFor(
      quota("q", { hard: { "count/crontabs.example.com": "1" }, used: { "count/crontabs.example.com": "1" } }),
    );
    const tab = { apiVersion: "example.com/v1", kind: "CronTab", metadata: { name: "t", namespace: "a" } };
    expect(refusalOf(plugin, request("crontabs.example.com", { object: tab })).message).toContain(
      "exceeded quota: q, requested: count/crontabs.example.com=1, used: count/crontabs.example.com=1, limited: count/crontabs.example.com=1",
    );
  });
});

describe("an update", () => {
  const service = (type: string): KubeObject => {
    return {
      apiVersion: "v1",
      kind: "Service",
      metadata: { name: "s", namespace: "a" },
      spec: { type, ports: [{ port: 80 }] },
    };
  };
  const limited = quota("q", {
    hard: { services: "1", "services.nodeports": "1" },
    used: { services: "1", "services.nodeports": "1" },
  });

  test("is counted by what it adds", () => {
    const toNodePort = { operation: "UPDATE", object: service("NodePort"), current: service("ClusterIP") } as const;
    expect(refusalOf(pluginFor(limited), request("services", toNodePort)).message).toContain(
      "exceeded quota: q, requested: services.nodeports=1, used: services.nodeports=1, limited: services.nodeports=1",
    );
    const same = { operation: "UPDATE", object: service("NodePort"), current: service("NodePort") } as const;
    expect(charge(pluginFor(limited), request("services", same))).toEqual({});
  });

  test("of a pod matters only when it gets other requests or another scope", () => {
    const full = { hard: { pods: "0" }, used: { pods: "0" }, scopes: ["Terminating"] };
    const ending = pod({ activeDeadlineSeconds: 5 });
    const update = (target: string, object: KubeObject) =>
      request(target, { operation: "UPDATE", object, current: pod() });
    expect(refusalOf(pluginFor(quota("q", full)), update("pods", ending)).message).toContain("requested: pods=1");
    expect(charge(pluginFor(quota("q", full)), update("pods/status", ending))).toEqual({});
    expect(
      charge(pluginFor(quota("q", { hard: { cpu: "1" }, used: { cpu: "0" } })), update("pods/resize", small)),
    ).toEqual({
      q: { cpu: "600m" },
    });
  });

  test("of a status is counted and never refused", () => {
    const claim = (storage: string): KubeObject => ({
      apiVersion: "v1",
      kind: "PersistentVolumeClaim",
      metadata: { name: "c", namespace: "a" },
      spec: { resources: { requests: { storage: "1Gi" } } },
      status: { allocatedResources: { storage } },
    });
    const plugin = pluginFor(quota("q", { hard: { "requests.storage": "1Gi" }, used: { "requests.storage": "1Gi" } }));
    const grown = request("persistentvolumeclaims/status", {
      operation: "UPDATE",
      object: claim("2Gi"),
      current: claim("1Gi"),
    });
    expect(charge(plugin, grown)).toEqual({ q: { "requests.storage": "2Gi" } });
  });
});

test("what is not stored, and events, are not counted", () => {
  const plugin = pluginFor(quota("q", { hard: { "count/events": "0", "count/bindings": "0" }, used: {} }));
  const object = { apiVersion: "v1", kind: "Event", metadata: { name: "e", namespace: "a" } };
  expect(charge(plugin, request("events", { object }))).toEqual({});
  expect(charge(plugin, requestFor("bindings", { object }))).toEqual({});
});
