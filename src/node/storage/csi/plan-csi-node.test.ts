import { describe, expect, it } from "vitest";
import type { CSINode, CSINodeDriver } from "../../../api/gen/types.ts";
import { nodeInfo } from "./__fixtures__/stub-drivers.ts";
import type { CsiFacts } from "./csi-node-facts.ts";
import { planCsiNode, withoutChangedDrivers } from "./plan-csi-node.ts";

const MIGRATED =
  "kubernetes.io/aws-ebs,kubernetes.io/azure-disk,kubernetes.io/azure-file,kubernetes.io/cinder,kubernetes.io/gce-pd,kubernetes.io/portworx-volume,kubernetes.io/vsphere-volume";
const ANNOTATION = "storage.alpha.kubernetes.io/migrated-plugins";
const node = { name: "n", uid: "u" };
const owner = { apiVersion: "v1", kind: "Node", name: "n", uid: "u" };
const facts = (drivers: Record<string, ReturnType<typeof nodeInfo>>, removed: string[] = []): CsiFacts => ({
  drivers: new Map(Object.entries(drivers)),
  removed: new Set(removed),
});
const csiNode = (drivers: CSINodeDriver[], metadata: CSINode["metadata"] = {}): CSINode => ({
  apiVersion: "storage.k8s.io/v1",
  kind: "CSINode",
  metadata: {
    name: "n",
    resourceVersion: "7",
    ownerReferences: [owner],
    annotations: { [ANNOTATION]: MIGRATED },
    ...metadata,
  },
  spec: { drivers },
});

it("is made as upstream makes it", () => {
  const topology = { zone: "z", rack: "r" };
  expect(planCsiNode(undefined, node, facts({ a: nodeInfo("1", { topology, maxVolumes: 5n }) }))).toEqual({
    apiVersion: "storage.k8s.io/v1",
    kind: "CSINode",
    metadata: { name: "n", ownerReferences: [owner], annotations: { [ANNOTATION]: MIGRATED } },
    spec: { drivers: [{ name: "a", nodeID: "1", topologyKeys: ["rack", "zone"], allocatable: { count: 5 } }] },
  });
});

it.each<[limit: bigint | undefined, count: number | undefined]>([
  [undefined, undefined],
  [0n, undefined],
  [-1n, undefined],
  [1n, 1],
  [2_147_483_647n, 2_147_483_647],
  [9_223_372_036_854_775_807n, 2_147_483_647],
])("a limit of %s is a count of %s", (maxVolumes, count) => {
  const [driver] = planCsiNode(undefined, node, facts({ a: nodeInfo("1", { maxVolumes }) })).spec.drivers;
  expect(driver?.allocatable?.count).toBe(count);
});

describe("an existing one", () => {
  const a = { name: "a", nodeID: "1", topologyKeys: ["z"], allocatable: { count: 3 } };
  const other = { name: "other", nodeID: "x", topologyKeys: [] };
  const known = nodeInfo("1", { topology: { z: "1" }, maxVolumes: 3n });

  it.each<[what: string, existing: CSINodeDriver[], facts: CsiFacts, planned: CSINodeDriver[]]>([
    ["keeps drivers of before", [other], facts({ a: known }), [other, a]],
    ["loses the drivers that are gone", [other, a], facts({}, ["a"]), [other]],
    [
      "keeps the place of a driver that changed",
      [a, other],
      facts({ a: nodeInfo("2") }),
      [{ name: "a", nodeID: "2", topologyKeys: [] }, other],
    ],
    ["has its limit changed", [a], facts({ a: { ...known, maxVolumes: 2n } }), [{ ...a, allocatable: { count: 2 } }]],
    [
      "has its limit removed",
      [a],
      facts({ a: { ...known, maxVolumes: undefined } }),
      [{ name: "a", nodeID: "1", topologyKeys: ["z"] }],
    ],
  ])("%s", (_what, existing, what, planned) => {
    const result = planCsiNode(csiNode(existing), node, what);
    expect(result.spec.drivers).toEqual(planned);
    expect(result.metadata?.resourceVersion).toBe("7");
  });

  it.each<[what: string, current: CSINode, facts: CsiFacts]>([
    ["nothing differs", csiNode([a, other]), facts({ a: known })],
    [
      "the keys are in another order",
      csiNode([{ ...a, topologyKeys: ["z", "b"] }]),
      facts({
        a: { ...known, topology: { b: "", z: "" } },
      }),
    ],
    ["there are no keys, said otherwise", csiNode([{ name: "a", nodeID: "1" }]), facts({ a: nodeInfo("1") })],
    [
      "the plugins are in another order",
      csiNode([], {
        annotations: { [ANNOTATION]: MIGRATED.split(",").reverse().join(",") },
      }),
      facts({}),
    ],
  ])("is left alone when %s", (_what, current, what) => {
    expect(planCsiNode(current, node, what)).toBe(current);
  });

  it("gets the annotation and the owner that it should have, and keeps others", () => {
    const stranger = { apiVersion: "v1", kind: "Thing", name: "t", uid: "t" };
    const current = csiNode([], {
      annotations: { [ANNOTATION]: "kubernetes.io/aws-ebs", mine: "1" },
      ownerReferences: [{ ...owner, uid: "of the node before" }, stranger],
    });
    expect(planCsiNode(current, node, facts({})).metadata).toMatchObject({
      annotations: { [ANNOTATION]: MIGRATED, mine: "1" },
      ownerReferences: [stranger, owner],
    });
  });

  it("can be planned without the drivers that are to change", () => {
    const planned = planCsiNode(csiNode([a, other]), node, facts({ a: nodeInfo("2"), b: nodeInfo("3") }));
    expect(withoutChangedDrivers(csiNode([a, other]), planned).spec.drivers.map(({ name }) => name)).toEqual([
      "other",
      "b",
    ]);
  });
});
