import { expect, test } from "vitest";
import { mayNodeSetLabel } from "./node-names.ts";

test.each([
  ["rack", true],
  ["example.com/rack", true],
  ["notkubernetes.io/rack", true],
  ["kubernetes.io/hostname", true],
  ["kubernetes.io/rack", false],
  ["rack.k8s.io/a", false],
  ["failure-domain.beta.kubernetes.io/zone", true],
  ["topology.kubernetes.io/rack", false],
  ["node.kubernetes.io/rack", true],
  ["a.kubelet.kubernetes.io/rack", true],
  ["node-role.kubernetes.io/control-plane", false],
  ["node-restriction.kubernetes.io/a", false],
  ["a.node-restriction.kubernetes.io/a", false],
])("a node may give itself the label %s: %s", (label, may) => {
  expect(mayNodeSetLabel(label)).toBe(may);
});
