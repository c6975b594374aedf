import { describe, expect, it } from "vitest";
import { createMetrics } from "../../../base/metrics.ts";
import { createFakeHost } from "../../../host/fake/create-fake-host.ts";
import { readNumaNodes } from "./read-numa-nodes.ts";
import { createTopologyPolicy } from "./topology-policy.ts";

const SETTINGS = { scope: "container", preferClosestNumaNodes: false, maxNumaNodes: 8 } as const;

/** A machine whose kernel shows these NUMA nodes, with the distances that each tells. */
function createMachine(distances: Readonly<Record<number, string>>) {
  const { clock, files } = createFakeHost();
  for (const [node, told] of Object.entries(distances)) {
    files.put(`/sys/devices/system/node/node${node}/distance`, `${told}\n`);
    files.put("/sys/devices/system/node/online", "0\n");
  }
  return { clock, files, metrics: createMetrics() };
}

describe("the NUMA nodes of a machine", () => {
  it("are those of the kernel, with their distances, also where numbers are left out", async () => {
    const { nodes, distances } = await readNumaNodes(createMachine({ 0: "10 21", 8: "21 10" }).files);
    expect(nodes).toEqual([0, 8]);
    expect(distances.get(8)?.get(0)).toBe(21);
  });

  it("are one where the kernel knows none", async () => {
    expect((await readNumaNodes(createMachine({}).files)).nodes).toEqual([0]);
  });

  it("are refused where the kernel's words make no sense", async () => {
    const { files } = createMachine({ 0: "10", 1: "21 10" });
    await expect(readNumaNodes(files)).rejects.toThrow("node0/distance does not tell 2 distances");
  });
});

describe("the policy of alignment", () => {
  it("needs no NUMA nodes where nothing is aligned", async () => {
    const policy = await createTopologyPolicy(createMachine({ 0: "nonsense" }), { ...SETTINGS, policy: "none" });
    expect(policy.merge).toBeUndefined();
  });

  it("looks at distances only where it is told to", async () => {
    const deps = createMachine({ 0: "10" });
    const near = await createTopologyPolicy(deps, { ...SETTINGS, policy: "restricted", preferClosestNumaNodes: true });
    expect(near.merge).toEqual({ policy: "restricted", nodes: [0], distances: new Map([[0, new Map([[0, 10]])]]) });
  });

  it("refuses a machine with too many nodes", async () => {
    const row = Array(9).fill("10").join(" ");
    const deps = createMachine(Object.fromEntries(Array.from({ length: 9 }, (_, node) => [node, row])));
    await expect(createTopologyPolicy(deps, { ...SETTINGS, policy: "best-effort" })).rejects.toThrow(
      "topologyManagerPolicy best-effort: unsupported on machines with more than 8 NUMA Nodes",
    );
  });
});
