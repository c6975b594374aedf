import { expect, it } from "vitest";
import { createFakeCgroups } from "../../../../host/fake/fake-cgroups.ts";
import { listNonContainerGroups } from "./list-non-container-groups.ts";

const POD = { uid: "a-b", name: "web", namespace: "shop" };

async function treeOf(...paths: string[]) {
  const { tree } = createFakeCgroups();
  for (const path of paths) await tree.make(path);
  return tree;
}

it.each([
  [
    "/kubepods",
    ["/kubepods/poda-b/c1", "/kubepods/burstable/podgone", "/kubepods/besteffort", "/kubepods/system"],
    ["/kubepods", "/kubepods/poda-b of web", "/kubepods/burstable", "/kubepods/besteffort"],
  ],
  [
    "/kubepods.slice",
    [
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice",
      "/kubepods.slice/kubepods-besteffort.slice",
      "/kubepods.slice/poda-b",
    ],
    [
      "/kubepods.slice",
      "/kubepods.slice/kubepods-burstable.slice",
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice of web",
      "/kubepods.slice/kubepods-besteffort.slice",
    ],
  ],
])("beneath %s there are classes and the pods that are measured", async (allPods, paths, expected) => {
  const groups = listNonContainerGroups(await treeOf(...paths), { allPods, daemons: [], pods: [POD] });
  expect(groups.map(({ path, pod }) => (pod === undefined ? path : `${path} of ${pod.name}`))).toEqual(expected);
});

it("daemons are listed once each, and the root is not", async () => {
  const daemons = ["/system", undefined, "/", "/system", "/kubelet"];
  const groups = listNonContainerGroups(await treeOf(), { allPods: undefined, daemons, pods: [] });
  expect(groups.map(({ path }) => path)).toEqual(["/system", "/kubelet"]);
});
