import { expect, test } from "vitest";
import { BUILT_IN_KINDS } from "./built-in-kinds.ts";
import { createKindTable, listNamespacedResources, resolveKind } from "./kind-table.ts";

const kinds = createKindTable(BUILT_IN_KINDS);

test.each([
  ["v1", "Pod", { resource: "pods", namespaced: true }],
  ["apps/v1", "Deployment", { resource: "deployments.apps", namespaced: true }],
  ["v1", "Node", { resource: "nodes", namespaced: false }],
  ["events.k8s.io/v1", "Event", { resource: "events", namespaced: true }],
  ["apps/v2", "Deployment", undefined],
])("objects of %s, %s are found where they are stored", (apiVersion, kind, expected) => {
  expect(resolveKind(kinds, apiVersion, kind)).toEqual(expected);
});

test("a namespace is emptied of all that can be deleted in it", () => {
  const resources = listNamespacedResources(kinds);
  expect(resources).toEqual(
    expect.arrayContaining(["pods", "events", "deployments.apps", "leases.coordination.k8s.io"]),
  );
  for (const other of ["nodes", "bindings", "events.events.k8s.io"]) expect(resources).not.toContain(other);
});
