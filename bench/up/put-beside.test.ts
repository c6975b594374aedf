import { describe, expect, it } from "vitest";
import { findGoPrograms, timed } from "../measure.ts";
import { putBeside } from "./put-beside.ts";
import { findStandIns } from "./stand-ins/stand-in.ts";

const measured = (name: string, ...values: number[]) => timed({ case: "up-endpoints", name }, values);
const PROXY = findStandIns("up-endpoints", { KUBE_PROXY_BIN: "/proxy" });

describe("putBeside", () => {
  it("puts what has the same name beside ours, with the program's name", () => {
    const [first, second] = putBeside([measured("a", 1), measured("b", 2)], PROXY, [
      measured("b", 4),
      measured("a", 3),
    ]);
    expect(first?.summary.median).toBe(1);
    expect(first?.beside).toEqual([{ name: "Go kube-proxy", summary: { samples: 1, median: 3, p99: 3 } }]);
    expect(second?.beside?.[0]?.summary.median).toBe(4);
  });

  it("leaves alone what the other cluster has not, and leaves out what only that has", () => {
    const [only, ...more] = putBeside([measured("a", 1)], PROXY, [measured("b", 2)]);
    expect(only).toEqual(measured("a", 1));
    expect(more).toEqual([]);
  });

  it("names all programs that did it together, so that the report finds them", () => {
    const all = findStandIns("up-idle", { KUBE_PROXY_BIN: "/a", COREDNS_BIN: "/b", KUBE_CONTROLLER_MANAGER_BIN: "/c" });
    const [measure = measured("none")] = putBeside([measured("a", 1)], all, [measured("a", 2)]);
    expect(findGoPrograms(measure)?.name).toBe("Go kube-proxy, CoreDNS, Go kube-controller-manager");
  });
});
