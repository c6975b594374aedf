import { describe, expect, it } from "vitest";
import { isApiError } from "../api-error.ts";
import type { KubeObject } from "../object.ts";
import { servedNode } from "../schema-node.ts";
import { applyObject } from "./apply.ts";
import { recordUpdate } from "./managed-fields.ts";

const LAST_APPLIED = "kubectl.kubernetes.io/last-applied-configuration";
const node = servedNode("Deployment");

function deployment(spec: unknown, annotations?: Record<string, string>): KubeObject {
  return {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "a", ...(annotations && { annotations }) },
    spec,
  };
}

/** Makes the object as kubectl leaves it after client-side apply. */
function clientApplied(spec: unknown): KubeObject {
  const record = `${JSON.stringify(deployment(spec, {}))}\n`;
  const after = deployment(spec, { [LAST_APPLIED]: record });
  return recordUpdate({
    before: undefined,
    after,
    node,
    manager: "kubectl-client-side-apply",
    apiVersion: "apps/v1",
    now: 0,
  });
}

function apply(current: KubeObject, applied: KubeObject, manager = "kubectl"): KubeObject | string {
  try {
    return applyObject({ current, applied, node, manager, force: false, apiVersion: "apps/v1", now: 1000 });
  } catch (error) {
    if (isApiError(error, "Conflict")) return error.message;
    throw error;
  }
}

const recordOf = (object: KubeObject | string) => {
  return typeof object === "string" ? object : object.metadata.annotations?.[LAST_APPLIED];
};

describe("server-side apply by kubectl of what it applied from its own side", () => {
  const current = clientApplied({ replicas: 1, paused: true });

  it("takes over without a conflict, and keeps the record", () => {
    const applied = apply(current, deployment({ replicas: 3, paused: true }));
    expect(applied).toMatchObject({ spec: { replicas: 3, paused: true } });
    expect(recordOf(applied)).toBe(
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"a"},"spec":{"paused":true,"replicas":3}}\n',
    );
  });

  it("is a conflict for another manager, and leaves the record alone", () => {
    expect(apply(current, deployment({ replicas: 3 }), "argo")).toContain("Apply failed with 1 conflict");
    expect(recordOf(apply(current, deployment({ replicas: 1 }), "argo"))).toBe(recordOf(current));
  });

  it("is a conflict where somebody has changed it since", () => {
    const spec = { replicas: 7, paused: true };
    const scaled = recordUpdate({
      before: current,
      after: { ...current, spec },
      node,
      manager: "hpa",
      apiVersion: "apps/v1",
      now: 0,
    });
    expect(apply(scaled, deployment({ replicas: 3, paused: false }))).toBe(
      'Apply failed with 1 conflict: conflict with "hpa" using apps/v1: .spec.replicas',
    );
    expect(apply(scaled, deployment({ paused: false }))).toMatchObject({ spec: { replicas: 7, paused: false } });
  });

  it.each([
    ["is not JSON", "{"],
    ["is of another version", '{"apiVersion":"apps/v1beta1","kind":"Deployment","metadata":{},"spec":{"replicas":1}}'],
    [
      "has fields that the type does not have",
      '{"apiVersion":"apps/v1","kind":"Deployment","metadata":{},"spec":{"replicas":1,"x":1}}',
    ],
    ["is empty", ""],
  ])("is a conflict when the record %s", (_, record) => {
    const broken = { ...current, metadata: { ...current.metadata, annotations: { [LAST_APPLIED]: record } } };
    expect(apply(broken, deployment({ replicas: 3 }))).toContain("Apply failed with 1 conflict");
  });

  it("does not start a record where there is none", () => {
    const plain = recordUpdate({
      before: undefined,
      after: deployment({ replicas: 1 }),
      node,
      manager: "x",
      apiVersion: "apps/v1",
      now: 0,
    });
    expect(recordOf(apply(plain, deployment({ replicas: 1 })))).toBeUndefined();
  });

  it("gives up a record that would be too large", () => {
    const annotations = { note: "x".repeat(200 * 1024) };
    const applied = apply(current, deployment({ replicas: 1, paused: true }, annotations));
    expect(applied).toMatchObject({ metadata: { annotations } });
    expect(recordOf(applied)).toBeUndefined();
  });
});
