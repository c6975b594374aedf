import { expect, it } from "vitest";
import { explainPod } from "../../explain/explain-pod.ts";
import { formatTable } from "../text-table.ts";
import { formatNodeExplanation, formatPodExplanation } from "./format-explanation.ts";

const NOW = Date.parse("2026-01-01T00:10:00Z");
const step = (seconds: number, reason: string, message: string) => ({
  pod: { namespace: "default", name: "web", uid: "u" },
  at: NOW - 600_000 + seconds * 1_000,
  firstAt: NOW - 600_000 + seconds * 1_000,
  count: 1,
  type: "Normal" as const,
  reason,
  message,
});

it("tells the state first, and then what happened with the time between", () => {
  const records = [
    step(0, "Pulling", 'Pulling image "demo:1"'),
    { ...step(1.5, "Failed", "no such host"), type: "Warning" as const, container: "main", count: 3 },
  ];
  const pod = {
    metadata: { namespace: "default", name: "web", uid: "u" },
    spec: { nodeName: "node-1", containers: [{ name: "main" }] },
    status: {
      phase: "Pending",
      containerStatuses: [
        {
          ...{ name: "main", image: "", imageID: "", ready: false, restartCount: 0 },
          state: { waiting: { reason: "ErrImagePull", message: "no such host" } },
        },
      ],
    },
  };
  const found = explainPod({ namespace: "default", name: "web", pod, records });
  expect(formatPodExplanation(found, NOW).split("\n")).toEqual([
    "Pod default/web is Pending on node-1.",
    "  waits main for 9m58s  ErrImagePull: no such host",
    "    mend: The node does not reach the registry: check its name, the node's network, proxy and the registry's certificate.",
    "",
    "Pod u",
    '2026-01-01T00:00:00.000Z            Pulling: Pulling image "demo:1"',
    "2026-01-01T00:00:01.500Z    +1.5s ! [main] Failed: no such host (3 times until 2026-01-01T00:00:01.500Z)",
  ]);
});

it("tells how long steps took, and what led to what, each further in", () => {
  const causes = [
    { reason: "EvictionRank", message: "Place 1 of 2", at: NOW - 1_000 },
    { reason: "MemoryPressure", message: "memory.available is below its hard threshold", at: NOW - 40_000 },
    { reason: "Reading", message: "memory.available was read as 50Mi", at: NOW - 2_000 },
  ];
  const evicted = {
    ...step(590, "Evicted", "The node was low on resource: memory."),
    type: "Warning" as const,
    causes,
  };
  const pulled = {
    ...step(2, "Pulled", 'Successfully pulled image "a" in 1.2s (2s including waiting).'),
    tookMs: 1_200,
  };
  const records = [{ ...step(1, "SandboxStarted", "Pod sandbox started"), tookMs: 340 }, pulled, evicted];
  const pod = { metadata: { uid: "u" }, spec: { containers: [] }, status: { phase: "Failed", reason: "Evicted" } };
  const lines = formatPodExplanation(explainPod({ namespace: "default", name: "web", pod, records }), NOW).split("\n");
  expect(lines.slice(1, 6)).toEqual([
    "  ended 10s ago  Evicted: The node was low on resource: memory.",
    "    because 1s ago: EvictionRank: Place 1 of 2",
    "      because 40s ago: MemoryPressure: memory.available is below its hard threshold",
    "        because 2s ago: Reading: memory.available was read as 50Mi",
    expect.stringContaining("mend: "),
  ]);
  expect(lines.find((line) => line.includes("SandboxStarted"))).toContain("Pod sandbox started (took 340ms)");
  expect(lines.find((line) => line.includes("Pulled"))).not.toContain("took");
  expect(lines.at(-1)).toBe(
    `${" ".repeat(38)}because Reading: memory.available was read as 50Mi (2026-01-01T00:09:58.000Z)`,
  );
});

it("tells no negative time when the clock was set back", () => {
  const records = [step(900, "Started", "a"), step(10, "Exited", "b"), step(2_000, "BackOff", "c")];
  const found = explainPod({ namespace: "default", name: "web", pod: undefined, records });
  const shown = formatPodExplanation(found, NOW - 3_600_000);
  expect(shown).not.toMatch(/-\d+(ms|s|m)|<invalid>/);
  expect(shown.indexOf("Started")).toBeLessThan(shown.lastIndexOf("Exited: b"));
});

it("shows hostile names in every field without a terminal acting upon them", () => {
  const evil = "\u001b]0;owned\u0007\u001b[2J\r\nx\u202e<script>alert(1)</script>\u009b31m";
  const record = { ...step(0, evil, evil), pod: { namespace: evil, name: evil, uid: evil }, container: evil };
  const pod = {
    metadata: { namespace: evil, name: evil, uid: evil, finalizers: [evil], deletionTimestamp: evil },
    spec: { nodeName: evil, containers: [{ name: evil }] },
    status: {
      phase: evil,
      containerStatuses: [
        {
          ...{ name: evil, image: evil, imageID: evil, ready: false, restartCount: 1 },
          state: { waiting: { reason: evil, message: evil } },
          lastState: { terminated: { exitCode: 1, reason: evil, message: evil } },
        },
      ],
    },
  };
  const found = explainPod({ namespace: evil, name: evil, pod, records: [record], gaps: [evil] });
  const terminating = explainPod({ namespace: evil, name: evil, pod: { ...pod, metadata: {} }, records: [] });
  const condition = { type: evil, status: evil, reason: evil, message: evil, lastTransitionTime: evil };
  const node = { kind: "NodeExplanation", version: 1, node: evil, podCount: 2 } as const;
  const shown = [
    formatPodExplanation(found, NOW),
    formatNodeExplanation({ ...node, conditions: [condition], troubles: [found, terminating] }, NOW),
    formatTable(["NAME"], [[evil]]),
  ].join("\n");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u202e]/);
  expect(shown).toContain("\\u001b]0;owned\\u0007");
  for (const line of shown.split("\n")) expect(line).not.toMatch(/^x/);
});
