import { describe, expect, it } from "vitest";
import { formatFieldError } from "../../../api/field-error.ts";
import type { KubeObject } from "../../../api/object.ts";
import { APPS_KINDS } from "./apps-kinds.ts";

const WORKLOADS = APPS_KINDS.filter(({ kind }) => kind !== "ControllerRevision").map((row) => [row.kind, row] as const);
const HOST_NETWORK = WORKLOADS.filter(([kind]) => kind !== "StatefulSet");

const labels = { app: "web" };
const workload = (kind: string, spec: object = {}, pod: object = {}): KubeObject => ({
  apiVersion: "apps/v1",
  kind,
  metadata: { name: "web", namespace: "default" },
  spec: {
    selector: { matchLabels: labels },
    template: { metadata: { labels }, spec: { containers: [{ name: "c", image: "nginx" }], ...pod } },
    ...spec,
  },
});

describe("workloads on the host network", () => {
  const containers = [{ name: "c", image: "nginx", ports: [{ containerPort: 80 }] }];
  it.each(HOST_NETWORK)(
    "%s: the ports need not say that they are the host's, and are stored as they were sent",
    (kind, row) => {
      const object = workload(kind, {}, { hostNetwork: true, containers });
      const defaulted = row.strategy.default?.(object) ?? object;
      expect(row.strategy.validate?.(defaulted)).toEqual([]);
      expect(defaulted).toMatchObject({
        spec: { template: { spec: { containers: [{ ports: [{ containerPort: 80 }] }] } } },
      });
      expect(defaulted).not.toHaveProperty("spec.template.spec.containers[0].ports[0].hostPort");
    },
  );

  it.each(HOST_NETWORK)("%s: a port that says it is another of the host's is refused", (kind, row) => {
    const other = [{ name: "c", image: "nginx", ports: [{ containerPort: 80, hostPort: 81 }] }];
    const object = workload(kind, {}, { hostNetwork: true, containers: other });
    const errors = row.strategy.validate?.(row.strategy.default?.(object) ?? object);
    expect((errors ?? []).map(formatFieldError)).toEqual([
      "spec.template.spec.containers[0].ports[0].hostPort: Invalid value: 81: must match `containerPort` when `hostNetwork` is true",
    ]);
  });
});

describe("workloads that a Go client writes back", () => {
  it.each(WORKLOADS)("%s: nothing in other words is no change of what may not change", (kind, row) => {
    const { strategy } = row;
    const before = strategy.default?.(workload(kind)) ?? workload(kind);
    const selector = { matchLabels: labels, matchExpressions: [] };
    const after = { ...before, spec: { ...Object(before["spec"]), selector } };
    expect(strategy.validateUpdate?.(after, before)).toEqual([]);
    expect(strategy.validateUpdate?.(before, after)).toEqual([]);
  });

  it.each(WORKLOADS)("%s: another selector is", (kind, row) => {
    const next = workload(kind, { selector: { matchLabels: { app: "other" } } });
    expect(row.strategy.validateUpdate?.(next, workload(kind))).toHaveLength(1);
  });

  it("a stateful set keeps its claims, whose empty fields do not count", () => {
    const row = APPS_KINDS.find(({ kind }) => kind === "StatefulSet");
    const claim = { metadata: { name: "data" }, spec: { resources: { requests: { storage: "1Gi" } } } };
    const set = (size: string, metadata: object = {}) => {
      const spec = { resources: { requests: { storage: size } } };
      const volumeClaimTemplates = [{ metadata: { ...claim.metadata, ...metadata }, spec }];
      return workload("StatefulSet", { serviceName: "", volumeClaimTemplates });
    };
    const spelled = set("1Gi", { creationTimestamp: null, annotations: {} });
    expect(row?.strategy.validateUpdate?.(spelled, set("1Gi"))).toEqual([]);
    expect((row?.strategy.validateUpdate?.(set("2Gi"), set("1Gi")) ?? []).map(formatFieldError)).toEqual([
      "spec: Forbidden: updates to statefulset spec for fields other than 'replicas', 'ordinals', 'template', 'updateStrategy', 'revisionHistoryLimit', 'persistentVolumeClaimRetentionPolicy' and 'minReadySeconds' are forbidden",
    ]);
  });
});
