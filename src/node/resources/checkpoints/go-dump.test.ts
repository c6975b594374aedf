import { describe, expect, it } from "vitest";
import { computeGoChecksum, dumpGoValue, type GoTyped, goList, goMap, goStruct, goText } from "./go-dump.ts";

/** Upstream's checkpoint of the CPU manager, whose tests tell the checksums of some (cpumanager/state). */
function cpuCheckpoint(cpuSet: string, entries: Readonly<Record<string, Readonly<Record<string, string>>>>): GoTyped {
  return {
    type: "*state.CPUManagerCheckpoint",
    value: goStruct([
      ["PolicyName", "string", goText("none")],
      ["DefaultCPUSet", "string", goText(cpuSet)],
      ["Entries", "map[string]map[string]string", goMap(entries, (ofPod) => goMap(ofPod, goText))],
      ["Checksum", "checksum.Checksum", goText(0)],
    ]),
  };
}

describe("the checksum of upstream's checkpoints", () => {
  it.each([
    ["no entries", cpuCheckpoint("4-6", {}), 354655845],
    ["entries", cpuCheckpoint("1-3", { pod: { container2: "1-3", container1: "4-6" } }), 3610638499],
  ])("is that of Go with %s", (_what, value, checksum) => {
    expect(computeGoChecksum(value)).toBe(checksum);
  });

  it("tells nil from nothing, and names types outside of lists and maps only", () => {
    const lists = goStruct([
      ["A", "[]string", goList(undefined, goText)],
      ["B", "[]string", goList([], goText)],
      ["C", "[][]string", goList([["x", "y"], []], (one) => goList(one, goText))],
      ["D", "map[string]int", goMap<number>(undefined, goText)],
      ["E", "map[string]int", goMap({ b: 2, a: 1 }, goText)],
    ]);
    expect(dumpGoValue({ type: "main.T", value: lists })).toBe(
      "(main.T){A:([]string)<nil> B:([]string)[] C:([][]string)[[x y] []] D:(map[string]int)<nil> E:(map[string]int)map[a:1 b:2]}",
    );
  });
});
