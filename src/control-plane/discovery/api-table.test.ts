import { expect, test } from "vitest";
import { TABLE } from "./__fixtures__/api-table.ts";
import { listGroups } from "./api-table.ts";

test("versions come in Kubernetes' order: stable before beta before alpha, newer first, then whatever else by name", () => {
  const inOrder = ["v10", "v2", "v1", "v11beta2", "v10beta3", "v3beta1", "v12alpha1", "v11alpha2", "foo1", "foo10"];
  const [pods] = TABLE.kinds;
  const kinds = inOrder.toSorted().flatMap((version) => (pods ? [{ ...pods, group: "x.example.com", version }] : []));
  expect(listGroups({ kinds })).toEqual([{ name: "x.example.com", versions: inOrder }]);
});

test("built-in groups come in upstream's order, before others by name", () => {
  const names = ["z.example.com", "rbac.authorization.k8s.io", "a.example.com", "apps", "events.k8s.io", ""];
  const [row] = TABLE.kinds;
  const kinds = names.flatMap((group) => (row ? [{ ...row, group }] : []));
  expect(listGroups({ kinds }).map(({ name }) => name)).toEqual([
    "",
    "apps",
    "events.k8s.io",
    "rbac.authorization.k8s.io",
    "a.example.com",
    "z.example.com",
  ]);
});

test("groups of other API servers come by their priority, and so do the versions of a group", () => {
  const [row] = TABLE.kinds;
  const kinds = row ? [{ ...row, group: "b.example.com", version: "v1" }] : [];
  const other = (group: string, version: string, groupPriority: number, versionPriority: number) => {
    return { group, version, groupPriority, versionPriority, resources: undefined };
  };
  const foreign = [
    other("a.example.com", "v1", 500, 15),
    other("z.example.com", "v1alpha1", 2000, 200),
    other("z.example.com", "v1", 1000, 15),
  ];
  expect(listGroups({ kinds, foreign })).toEqual([
    { name: "z.example.com", versions: ["v1alpha1", "v1"] },
    { name: "b.example.com", versions: ["v1"] },
    { name: "a.example.com", versions: ["v1"] },
  ]);
});
