import { beforeEach, expect, test } from "vitest";
import { type KubeObject, typed } from "../../api/object.ts";
import { createStorageBench, node, type StorageBench } from "./__fixtures__/storage-bench.ts";
import { LOCAL_STORAGE_CLASS } from "./local-class.ts";
import { createLocalTopology } from "./local-topology.ts";

const CLASS = "storageclasses.storage.k8s.io local-directory";
const termOf = (key: string, ...values: string[]) => ({ matchLabelExpressions: [{ key, values }] });
const HOSTNAME = "kubernetes.io/hostname";

let bench: StorageBench;
beforeEach(async () => {
  bench = createStorageBench();
  const { metadata, ...rest } = node("n1");
  await bench.put("nodes", { ...rest, metadata: { ...metadata, labels: { [HOSTNAME]: "n1" } } });
});

const topologiesAfter = async (before: object): Promise<unknown> => {
  await bench.put("storageclasses.storage.k8s.io", { ...LOCAL_STORAGE_CLASS, ...before });
  bench.start(createLocalTopology(bench.deps, "n1"));
  await bench.clock.settle();
  return topologies();
};
const topologies = () => {
  const found: KubeObject | undefined = bench.at(CLASS);
  return found && typed("StorageClass", found).allowedTopologies;
};

const OTHERS = [termOf("zone", "z1")];
const TWO = [termOf(HOSTNAME, "n1", "n2")];
test.each([
  ["a class without topologies is bound to the node", {}, [termOf(HOSTNAME, "n1")]],
  ["a host name of before gives way", { allowedTopologies: [termOf(HOSTNAME, "n0")] }, [termOf(HOSTNAME, "n1")]],
  ["topologies of the author stay", { allowedTopologies: OTHERS }, OTHERS],
  ["several host names are the author's", { allowedTopologies: TWO }, TWO],
  ["another provisioner's class stays", { provisioner: "example.com/other" }, undefined],
])("%s", async (_name, before, wanted) => {
  expect(await topologiesAfter(before)).toEqual(wanted);
});

test("the class follows the node's label", async () => {
  await topologiesAfter({});
  await bench.change("nodes n1", ({ metadata, ...object }) => ({
    ...object,
    metadata: { ...metadata, labels: { ...metadata.labels, [HOSTNAME]: "renamed" } },
  }));
  expect(topologies()).toEqual([termOf(HOSTNAME, "renamed")]);
});
