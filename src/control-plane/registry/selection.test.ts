import { describe, expect, it } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { nodeKind } from "../kinds/core/node.ts";
import { podKind } from "../kinds/core/pod/pod.ts";
import type { StoredObject } from "../ports/object-store.ts";
import { selectionOf } from "./selection.ts";

function stored(object: KubeObject): StoredObject {
  const { namespace = "", name = "" } = object.metadata;
  return { key: `${namespace}/${name}`, revision: 1, object, json: Buffer.from(JSON.stringify(object)) };
}

const pod = (name: string, nodeName: string, labels?: Record<string, string>) =>
  stored({
    apiVersion: "v1",
    kind: "Pod",
    metadata: { name, namespace: "a", ...(labels && { labels }) },
    spec: { nodeName, containers: [] },
    status: { phase: "Running" },
  });

describe("a selection of pods", () => {
  const web = pod("web", "node-1", { app: "web" });
  const plain = pod("plain", "node-2");

  it.each([
    { label: "", field: "", selected: ["web", "plain"] },
    { label: "app=web", field: "", selected: ["web"] },
    { label: "app!=web", field: "", selected: ["plain"] },
    { label: "", field: "spec.nodeName=node-2", selected: ["plain"] },
    { label: "", field: "metadata.name=web,metadata.namespace=a", selected: ["web"] },
    { label: "", field: "metadata.namespace=b", selected: [] },
    { label: "app", field: "status.phase!=Running", selected: [] },
  ])("by label $label and field $field", ({ label, field, selected }) => {
    const selection = selectionOf(podKind, { label, field });
    // Each version is selected twice, because the remembered values must be the same as the ones that were read.
    for (let look = 0; look < 2; look++) {
      const matching = [web, plain].filter((object) => selection.matches(object));
      expect(matching.map(({ object }) => object.metadata.name)).toEqual(selected);
    }
  });

  it("sees a new version as that is", () => {
    const selection = selectionOf(podKind, { label: "", field: "spec.nodeName=node-1" });
    expect(selection.matches(pod("plain", "", {}))).toBe(false);
    expect(selection.matches(pod("plain", "node-1", {}))).toBe(true);
  });

  it("refuses fields that the kind does not offer", () => {
    expect(() => selectionOf(podKind, { label: "", field: "spec.image=a" })).toThrow(/not supported/);
  });
});

describe("a selection of objects without a namespace", () => {
  const node = stored({ apiVersion: "v1", kind: "Node", metadata: { name: "node-1" }, spec: {} });

  it("works by name, and does not know namespaces", () => {
    expect(selectionOf(nodeKind, { label: "", field: "metadata.name=node-1" }).matches(node)).toBe(true);
    expect(() => selectionOf(nodeKind, { label: "", field: "metadata.namespace=a" })).toThrow(/not supported/);
  });
});
