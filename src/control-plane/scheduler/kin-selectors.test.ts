import { expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { createFakeResources } from "../control-loop/__fixtures__/fake-resources.ts";
import { pending } from "./__fixtures__/objects.ts";
import { createKinSelectors } from "./kin-selectors.ts";

const service = (name: string, selector: Record<string, string> | undefined): KubeObject => ({
  apiVersion: "v1",
  kind: "Service",
  metadata: { name, namespace: "default" },
  spec: { ...(selector && { selector }) },
});

test("pods are alike by the services that lead to them and by their controller", async () => {
  const resources = createFakeResources(() => 0);
  const kin = createKinSelectors(resources.reader);
  const textOf = (metadata = {}) =>
    kin.selectorOf(pending({ labels: { app: "web", tier: "front" }, metadata })).toString();
  expect(textOf()).toBe("");
  kin.applyService({ type: "ADDED", object: service("web", { app: "web" }) });
  kin.applyService({ type: "ADDED", object: service("db", { app: "db" }) });
  kin.applyService({ type: "ADDED", object: service("none", undefined) });
  expect(textOf()).toBe("app=web");
  const owned = (apiVersion: string, kind: string) => {
    return { ownerReferences: [{ apiVersion, kind, name: "web", uid: "u", controller: true }] };
  };
  const selector = { matchExpressions: [{ key: "tier", operator: "In", values: ["front"] }] };
  const metadata = { name: "web", namespace: "default" };
  await resources.create("replicasets.apps", {
    apiVersion: "apps/v1",
    kind: "ReplicaSet",
    metadata,
    spec: { selector },
  });
  expect(textOf(owned("apps/v1", "ReplicaSet"))).toBe("app=web,tier in (front)");
  expect(textOf(owned("apps/v1", "StatefulSet"))).toBe("app=web");
  const set = { apiVersion: "v1", kind: "ReplicationController", metadata, spec: { selector: { tier: "front" } } };
  await resources.create("replicationcontrollers", set);
  expect(textOf(owned("v1", "ReplicationController"))).toBe("app=web,tier=front");
  kin.applyService({ type: "DELETED", object: service("web", { app: "web" }) });
  expect(textOf(owned("batch/v1", "Job"))).toBe("");
});
