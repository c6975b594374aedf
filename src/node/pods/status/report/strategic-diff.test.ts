import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { ContainerState, ContainerStatus, PodStatus } from "../../../../api/gen/types.ts";
import { PODS } from "../../../../api/kube-resource.ts";
import { applyStrategicMergePatch } from "../../../../api/patch/strategic-merge.ts";
import { servedNode } from "../../../../api/schema-node.ts";
import { computeStatusPatch, normalizePodStatus } from "./status-patch.ts";
import { diffStrategic, isPartOf } from "./strategic-diff.ts";

const NODE = servedNode("PodStatus");
const ready = (status: string, reason?: string) => ({ type: "Ready", status, ...(reason && { reason }) });

function container(name: string, state: ContainerState, more: Partial<ContainerStatus> = {}): ContainerStatus {
  return { name, image: "", imageID: "", ready: false, restartCount: 0, state, ...more };
}

describe("the patch of a status", () => {
  it.each<[string, PodStatus, PodStatus, object | undefined]>([
    ["of the same is none", { phase: "Running" }, { phase: "Running" }, undefined],
    [
      "sets, and removes what is not said any more",
      { phase: "Pending", reason: "R", message: "M" },
      { phase: "Running", message: "M" },
      { phase: "Running", reason: null },
    ],
    [
      "names of a condition its type and what is different",
      { conditions: [{ type: "a", status: "True" }, ready("False", "NotYet")] },
      { conditions: [{ type: "a", status: "True" }, ready("True")] },
      { conditions: [{ type: "Ready", status: "True", reason: null }] },
    ],
    [
      "deletes conditions and adds others, in order",
      { conditions: [{ type: "a", status: "True" }, ready("True")] },
      {
        conditions: [
          { type: "a", status: "True" },
          { type: "b", status: "False" },
        ],
      },
      {
        "$setElementOrder/conditions": [{ type: "a" }, { type: "b" }],
        conditions: [
          { type: "b", status: "False" },
          { $patch: "delete", type: "Ready" },
        ],
      },
    ],
    [
      "swaps addresses by their order alone",
      { podIPs: [{ ip: "10.0.0.1" }, { ip: "fd00::1" }] },
      { podIPs: [{ ip: "fd00::1" }, { ip: "10.0.0.1" }] },
      { "$setElementOrder/podIPs": [{ ip: "fd00::1" }, { ip: "10.0.0.1" }] },
    ],
    [
      "replaces conditions that cannot be told apart",
      { conditions: [ready("True"), ready("False")] },
      { conditions: [ready("True")] },
      { conditions: [{ $patch: "replace" }, ready("True")] },
    ],
    [
      "replaces the container statuses as a whole",
      { containerStatuses: [container("a", { waiting: {} }), container("b", { running: {} })] },
      { containerStatuses: [container("b", { running: {} }), container("a", { running: {} })] },
      { containerStatuses: [container("a", { running: {} }), container("b", { running: {} })] },
    ],
  ])("%s", (_, current, wanted, patch) => {
    expect(computeStatusPatch(current, wanted)).toEqual(patch);
  });

  it.each<[string, PodStatus, PodStatus]>([
    ["empty fields", { phase: "Running", reason: "", conditions: [] }, { phase: "Running", hostIPs: [] }],
    ["fractions of a second", { startTime: "2026-01-01T00:00:00Z" }, { startTime: "2026-01-01T00:00:00.987654321Z" }],
    [
      "the order of containers",
      { containerStatuses: [container("a", {}), container("b", {})] },
      { containerStatuses: [container("b", {}), container("a", {})] },
    ],
    [
      "an empty last state",
      { containerStatuses: [container("a", { waiting: {} }, { lastState: {} })] },
      { containerStatuses: [container("a", { waiting: {} })] },
    ],
  ])("is none for %s", (_, left, right) => {
    expect(computeStatusPatch(left, right)).toBeUndefined();
    expect(computeStatusPatch(right, left)).toBeUndefined();
  });

  it("tells states apart that are empty", () => {
    const [waiting, running] = [container("a", { waiting: {} }), container("a", { running: {} })];
    expect(computeStatusPatch({ containerStatuses: [waiting] }, { containerStatuses: [running] })).toBeDefined();
  });
});

describe("any patch", () => {
  const text = fc.constantFrom("", "x", "y");
  const time = fc.constantFrom("2026-01-01T00:00:00Z", "2026-01-01T00:00:01Z", "2026-01-01T00:00:01.5Z");
  const optional = { requiredKeys: [] };
  const conditions = fc.uniqueArray(
    fc.record(
      {
        type: fc.constantFrom("a", "b", "c", "Ready"),
        status: fc.constantFrom("True", "False"),
        reason: text,
        message: text,
        lastTransitionTime: time,
      },
      { requiredKeys: ["type", "status"] },
    ),
    { selector: ({ type }) => type, maxLength: 4 },
  );
  const ips = fc.uniqueArray(fc.record({ ip: fc.constantFrom("10.0.0.1", "10.0.0.2", "fd00::1") }), {
    selector: ({ ip }) => ip,
    maxLength: 2,
  });
  const state: fc.Arbitrary<ContainerState> = fc.oneof(
    fc.record({ waiting: fc.record({ reason: text }, optional) }),
    fc.record({ running: fc.record({ startedAt: time }, optional) }),
    fc.record({ terminated: fc.record({ exitCode: fc.constantFrom(0, 1), message: text }) }),
  );
  const containers = fc.uniqueArray(
    fc.tuple(fc.constantFrom("m", "n"), state).map(([name, each]) => container(name, each)),
    { selector: ({ name }) => name, maxLength: 2 },
  );
  const anyStatus: fc.Arbitrary<PodStatus> = fc.record(
    {
      phase: text,
      reason: text,
      startTime: time,
      podIPs: ips,
      hostIPs: ips,
      conditions,
      containerStatuses: containers,
    },
    optional,
  );

  it("makes one status of the other", () => {
    fc.assert(
      fc.property(anyStatus, anyStatus, (current, wanted) => {
        const [from, to] = [normalizePodStatus(current), normalizePodStatus(wanted)];
        const patch = diffStrategic(from, to, NODE) ?? {};
        const patched = PODS.read(applyStrategicMergePatch({ status: current }, { status: patch }, servedNode("Pod")));
        expect(diffStrategic(normalizePodStatus(patched.status ?? {}), to, NODE)).toBeUndefined();
      }),
      { numRuns: 500 },
    );
  });
});

describe("a patch is part of another", () => {
  it.each([
    [{}, { a: 1 }, true],
    [{ a: 1 }, { a: 1, b: 2 }, true],
    [{ a: 1 }, { a: 2 }, false],
    [{ a: null }, { a: null }, true],
    [{ a: null }, {}, false],
    [{ a: { b: 1 } }, { a: { b: 1, c: 2 } }, true],
    [{ a: { b: 1 } }, { a: 1 }, false],
    [{ l: [{ n: "x" }] }, { l: [{ n: "x", v: 1 }] }, true],
    [{ l: [{ n: "x" }] }, { l: [{ n: "x" }, { n: "y" }] }, false],
    [{ l: [{ n: "x" }, { n: "y" }] }, { l: [{ n: "y" }, { n: "x" }] }, false],
    [{ l: [] }, { l: {} }, false],
  ])("%j of %j: %s", (part, whole, expected) => {
    expect(isPartOf(part, whole)).toBe(expected);
  });
});
