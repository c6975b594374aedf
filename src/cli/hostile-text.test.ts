import { expect, it } from "vitest";
import type { NodeCondition, Pod } from "../api/gen/types.ts";
import type { NodeImage } from "../cluster/images/node-images.ts";
import type { ManifestRow } from "../cluster/status/manifest-report.ts";
import type { NodeReport } from "../cluster/status/node-report.ts";
import type { NodeExplanation } from "../explain/explain-node.ts";
import type { ExplainedCause, ExplainedStep, PodExplanation, Reason } from "../explain/explanation.ts";
import { createFakeClock } from "../host/fake/fake-clock.ts";
import { formatNodeExplanation, formatPending, formatPodExplanation } from "./explain/format-explanation.ts";
import { formatImages } from "./images.ts";
import { formatPodTable } from "./pod-table.ts";
import { createProgress } from "./progress.ts";
import { formatManifests, formatReport } from "./status.ts";

/** What a terminal acts upon, what turns the direction of writing, what ends lines, and what a browser would run. */
const EVIL = "\u001b]0;owned\u0007\u001b[2J\r\nx\u202e\u200b\u009b31m<script>alert(1)</script>";

/** Every field of a type: one that is added to it must be added to the samples below, or they are not of the type. */
type Whole<T> = { readonly [K in keyof T]-?: Exclude<T[K], undefined> };

const cause: Whole<ExplainedCause> = { reason: "r", message: "m", at: "a" };
const reason: Whole<Reason> = { reason: "r", message: "m", container: "c", at: "a", mend: "m", causes: [cause] };
const step: Whole<ExplainedStep> = {
  ...{ at: "a", firstAt: "f", count: 3, type: "t", reason: "r", message: "m", container: "c", uid: "u" },
  ...{ tookMs: 5, causes: [cause] },
};
const explanation: Whole<PodExplanation> = {
  ...{ kind: "PodExplanation", version: 1, state: "s", isReady: false },
  pod: { namespace: "n", name: "n", uid: "u", node: "n" },
  ...{ waits: [reason], ends: [reason], steps: [step, { ...step, uid: "other" }, step, step, step, step], gaps: ["g"] },
};
const condition: Whole<NodeCondition> = {
  ...{ type: "t", status: "s", reason: "r", message: "m", lastTransitionTime: "l", lastHeartbeatTime: "l" },
};
const node: Whole<NodeExplanation> = {
  ...{ kind: "NodeExplanation", version: 1, node: "n", podCount: 2 },
  ...{ conditions: [condition], troubles: [explanation] },
};
const pod: Pod = {
  metadata: { namespace: "n", name: "n", uid: "u", creationTimestamp: "c" },
  spec: { nodeName: "n", containers: [{ name: "c", image: "i" }] },
  status: {
    ...{ phase: "p", reason: "r", message: "m", podIP: "i", podIPs: [{ ip: "i" }] },
    containerStatuses: [
      {
        ...{ name: "c", image: "i", imageID: "i", ready: false, restartCount: 1 },
        state: { waiting: { reason: "r", message: "m" } },
        lastState: { terminated: { exitCode: 1, reason: "r", message: "m", finishedAt: "f" } },
      },
    ],
  },
};
const report: Whole<NodeReport> = {
  revision: "1",
  node: { name: "n", conditions: [condition], runtime: { name: "n", version: "v" } },
  pods: [pod],
  events: [],
  manifestProblems: [{ file: "f", message: "m" }],
};
const image: Whole<NodeImage> = { id: "i", names: ["n"], digests: ["d"], sizeBytes: 1, inUse: false, isKept: false };
const manifest: Whole<ManifestRow> = { file: "f", status: "Applied", objects: 1, message: "m" };

/** The same with hostile text in the place of each text, however deep. */
function poison<T>(value: T): T;
function poison(value: unknown): unknown {
  if (typeof value === "string") return EVIL;
  if (Array.isArray(value)) return value.map((item) => poison(item));
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, poison(each)]));
}

const NOW = Date.parse("2026-01-01T00:00:00Z");
const SHOWN: ReadonlyArray<readonly [what: string, show: () => string]> = [
  ["explain pod", () => formatPodExplanation(poison(explanation), NOW)],
  ["explain pod of one that is gone", () => formatPodExplanation({ ...poison(explanation), state: "Gone" }, NOW)],
  ["explain node", () => formatNodeExplanation(poison(node), NOW)],
  ["explain pending", () => formatPending([poison(explanation)], NOW)],
  ["status", () => formatReport(poison(report), { isWide: true, api: "the API" })],
  ["status of manifests", () => formatManifests([poison(manifest)])],
  ["pods", () => formatPodTable([poison(pod)], NOW, true)],
  ["images ls", () => formatImages([poison(image), { ...poison(image), names: [] }])],
  ["progress", () => showProgress(undefined)],
  ["progress on a terminal", () => showProgress(80).replaceAll("\r\u001b[K", "")],
];

function showProgress(columns: number | undefined): string {
  let text = "";
  const write = (more: string) => {
    text += more;
  };
  const progress = createProgress(createFakeClock(), { write, columns, format: "text" });
  progress.line(EVIL);
  progress.waiting(EVIL, () => EVIL);
  progress.waiting(undefined);
  return text;
}

it.each(SHOWN)("%s: hostile text in every field does nothing to a terminal", (_what, show) => {
  const shown = show();
  expect(shown).toContain("\\u001b]0;owned\\u0007");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: they are what must not be there.
  expect(shown.replaceAll("\n", "")).not.toMatch(/[\u0000-\u001f\u007f-\u009f\u200b\u202e]/);
});
