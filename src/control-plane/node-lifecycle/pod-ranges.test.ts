import { describe, expect, it, test } from "vitest";
import { typed } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { createPodRangeAllocator, findFreeRange, type PodRangeOptions } from "./pod-ranges.ts";

describe("the next range of pod addresses", () => {
  it.each<[string, PodRangeOptions, string[], string | undefined]>([
    ["the first", { clusterCidr: "10.64.0.0/16" }, [], "10.64.0.0/24"],
    ["the next", { clusterCidr: "10.64.0.0/16" }, ["10.64.0.0/24", "10.64.1.0/24"], "10.64.2.0/24"],
    ["a gap", { clusterCidr: "10.64.0.0/16" }, ["10.64.0.0/24", "10.64.2.0/24"], "10.64.1.0/24"],
    ["past a larger one", { clusterCidr: "10.64.0.0/16" }, ["10.64.0.0/20"], "10.64.16.0/24"],
    ["past smaller ones", { clusterCidr: "10.64.0.0/16" }, ["10.64.0.128/25", "10.64.1.7/32"], "10.64.2.0/24"],
    ["all of it", { clusterCidr: "10.64.0.0/16", nodeMaskSize: 16 }, [], "10.64.0.0/16"],
    ["all of it, which is taken", { clusterCidr: "10.64.0.0/16", nodeMaskSize: 16 }, ["10.64.3.0/24"], undefined],
    ["all of a small one", { clusterCidr: "10.64.0.0/28" }, [], "10.64.0.0/28"],
    ["from the network's beginning", { clusterCidr: "10.64.3.9/16" }, [], "10.64.0.0/24"],
    ["the last", { clusterCidr: "255.255.254.0/23" }, ["255.255.254.0/24"], "255.255.255.0/24"],
    ["none left", { clusterCidr: "10.0.0.0/23" }, ["10.0.0.0/24", "10.0.1.0/24"], undefined],
    ["others' do not matter", { clusterCidr: "10.0.0.0/8" }, ["192.168.0.0/16", "fd00::/64"], "10.0.0.0/24"],
    ["of IPv6", { clusterCidr: "fd00:64::/56" }, ["fd00:64::/64", "10.64.0.0/24"], "fd00:64:0:1::/64"],
    ["of IPv6, all of it", { clusterCidr: "fd00:64::/112", nodeMaskSizeIpv6: 112 }, [], "fd00:64::/112"],
  ])("%s", (_what, options, taken, expected) => {
    expect(findFreeRange(options, taken)).toBe(expected);
  });
});

describe("nodes", () => {
  const setUp = (options: PodRangeOptions) => {
    const bench = createControllerBench();
    bench.start(createPodRangeAllocator(bench.deps, options));
    const add = async (name: string, spec: object = {}) => {
      await bench.create("nodes", { apiVersion: "v1", kind: "Node", metadata: { name }, spec });
      await bench.clock.settle();
    };
    const ranges = () =>
      bench.reader.list("nodes").map((object) => {
        const { metadata, spec } = typed("Node", object);
        return [metadata?.name, spec?.podCIDR, ...(spec?.podCIDRs ?? [])].join(" ").trim();
      });
    return Object.assign(bench, { add, ranges });
  };

  test("each get a range of their own, which they keep", async () => {
    const { add, ranges, writes, clock } = setUp({ clusterCidr: "10.64.0.0/16" });
    await Promise.all([add("a"), add("b", { podCIDR: "10.64.0.0/24", podCIDRs: ["10.64.0.0/24"] }), add("c")]);
    expect(ranges()).toEqual([
      "a 10.64.1.0/24 10.64.1.0/24",
      "b 10.64.0.0/24 10.64.0.0/24",
      "c 10.64.2.0/24 10.64.2.0/24",
    ]);
    const written = writes.length;
    await clock.advance(600_000);
    expect(writes).toHaveLength(written);
  });

  test("get a range of each family, the first family first", async () => {
    const { add, ranges } = setUp({ clusterCidr: "10.64.0.0/16,fd00:64::/56" });
    await add("a");
    await add("b");
    expect(ranges()).toEqual([
      "a 10.64.0.0/24 10.64.0.0/24 fd00:64::/64",
      "b 10.64.1.0/24 10.64.1.0/24 fd00:64:0:1::/64",
    ]);
  });

  test("wait for one where none is left, and say so", async () => {
    const { add, ranges, clock, writer, reader } = setUp({ clusterCidr: "10.64.0.0/16", nodeMaskSize: 16 });
    await add("a");
    await add("b");
    expect(ranges()).toEqual(["a 10.64.0.0/16 10.64.0.0/16", "b"]);
    expect(reader.list("events").map((event) => [event["reason"], event["message"]])).toEqual([
      ["CIDRNotAvailable", "Node b status is now: CIDRNotAvailable"],
    ]);
    await writer.remove({ resource: "nodes", namespace: "", name: "a" });
    await clock.advance(60_000);
    expect(ranges()).toEqual(["b 10.64.0.0/16 10.64.0.0/16"]);
  });
});
