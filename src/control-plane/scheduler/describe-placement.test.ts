import { expect, test } from "vitest";
import { cluster, nodeInfo, pending, placed } from "./__fixtures__/objects.ts";
import { describeChoice, describeRefusals } from "./describe-placement.ts";
import { planPlacement } from "./placement.ts";

const GPU = [{ key: "gpu", value: "a100", effect: "NoSchedule" }];
const named = (name: string) => ({ name });

function tell(pod: Parameters<typeof pending>[0], nodes: Parameters<typeof cluster>[0]): string {
  const asked = pending(pod);
  const placement = planPlacement({ pod: asked, cluster: cluster(nodes), nominated: [], readBudgets: () => [] });
  if (placement.kind === "prepare") return "";
  return placement.kind === "bind"
    ? describeChoice(asked, placement.nodeName, placement.search)
    : describeRefusals(asked, placement.refusals);
}

test("a pod that fits nowhere is told which rule refuses which nodes, and what they have", () => {
  const full = nodeInfo(named("full"), [placed("a", { requests: { cpu: "3" } })]);
  const tainted = nodeInfo({ ...named("tainted"), spec: { taints: GPU } });
  expect(tell({ requests: { cpu: "2" } }, [full, tainted])).toBe(
    "NodeResourcesFit refuses full (cpu: asks for 2, 1 of 4 is free): Insufficient cpu; " +
      "TaintToleration refuses tainted {gpu=a100:NoSchedule}: node(s) had untolerated taint(s)",
  );
});

test("a pod that was placed is told before which nodes, and which were refused", () => {
  const tainted = nodeInfo({ ...named("tainted"), spec: { taints: GPU } });
  const busy = nodeInfo(named("busy"), [placed("a", { requests: { cpu: "3" } })]);
  expect(tell({ requests: { cpu: "1" } }, [busy, nodeInfo(named("free")), tainted])).toMatch(
    /^The pod was placed on free, with a score of \d+ before busy \(\d+\); TaintToleration refuses tainted/,
  );
  expect(tell({}, [nodeInfo(named("one"))])).toBe("The pod was placed on one, the only node that fits");
});

test("of a thousand nodes a few are named and the others counted", () => {
  const nodes = Array.from({ length: 1_000 }, (_, index) => nodeInfo(named(`n${String(index).padStart(3, "0")}`)));
  const told = tell({ requests: { cpu: "9" } }, nodes);
  expect(told).toMatch(/^NodeResourcesFit refuses n000 .* and 995 more: Insufficient cpu$/);
  expect(told.length).toBeLessThan(500);
});
