import { expect, it } from "vitest";
import type { Pod } from "../../api/gen/types.ts";
import type { ExplainedStep } from "../../explain/explanation.ts";
import { computeWaterfall } from "./waterfall.ts";

const pod: Pod = {
  metadata: { name: "web", uid: "u", creationTimestamp: "1970-01-01T00:00:01Z" },
  spec: { containers: [{ name: "main" }] },
  status: {
    conditions: [{ type: "PodScheduled", status: "True", lastTransitionTime: "1970-01-01T00:00:02Z" }],
  },
};

/** Each word is a reason, its time in milliseconds and perhaps a container, with colons between them. */
function stepsOf(text: string, uid = "u"): ExplainedStep[] {
  return text.split(" ").map((word) => {
    const [reason = "", ms = "0", container] = word.split(":");
    const at = new Date(Number(ms)).toISOString();
    return { at, firstAt: at, count: 1, type: "Normal", reason, message: "", uid, ...(container && { container }) };
  });
}

const draw = (text: string, uid?: string) =>
  computeWaterfall(pod, stepsOf(text, uid), 9_000)?.steps.map(({ what, from, until }) => `${what} ${from}-${until}`);

it("lets each step begin where the one that it needs has ended", () => {
  const text =
    "VolumesReady:2100 SandboxStarted:2500 Pulling:2500:main Pulled:4000:main Created:4100:main Started:4150:main PodReady:5000";
  expect(draw(text)).toEqual([
    "scheduling 1000-2000",
    "volumes 2000-2100",
    "sandbox 2100-2500",
    "image 2500-4000",
    "create 4000-4100",
    "start 4100-4150",
    "ready 4150-5000",
  ]);
});

it("knows the records of a static pod, which the node keeps under another UID than its mirror's", () => {
  const annotations = { "kubernetes.io/config.mirror": "hash" };
  const mirror = { ...pod, metadata: { ...pod.metadata, annotations } };
  const steps = stepsOf("VolumesReady:2100 SandboxStarted:2500", "hash");
  const shown = computeWaterfall(mirror, steps, 9_000)?.steps.map(
    ({ what, from, until }) => `${what} ${from}-${until}`,
  );
  expect(shown).toEqual(["scheduling 2100-2100", "volumes 2100-2100", "sandbox 2100-2500"]);
});

it("leaves a pull open that goes on", () => {
  expect(draw("SandboxStarted:2500 Pulling:2600:main")?.at(-1)).toBe("image 2600-undefined");
  expect(computeWaterfall(pod, stepsOf("Pulling:2600:main"), 9_000)?.until).toBe(9_000);
});

it("does not take the API server's whole seconds for later than what the node did", () => {
  expect(draw("VolumesReady:1400 SandboxStarted:1500")).toEqual([
    "scheduling 1000-1400",
    "volumes 1400-1400",
    "sandbox 1400-1500",
  ]);
});

it("takes the measured time of a step", () => {
  const steps = stepsOf("SandboxStarted:2500 Created:4100:main").map((step) => ({ ...step, tookMs: 100 }));
  const drawn = computeWaterfall(pod, steps, 9_000)?.steps.map(({ what, from, until }) => `${what} ${from}-${until}`);
  expect(drawn?.at(-1)).toBe("create 4000-4100");
});

it.each([
  ["back", "VolumesReady:2100 SandboxStarted:900 Pulling:800:main Pulled:700:main Created:710:main Started:720:main"],
  ["forward and back", "VolumesReady:900000 SandboxStarted:2500 Pulling:2600:main Pulled:100:main"],
])("makes no step end before it began when the clock jumps %s", (_where, text) => {
  const drawn = computeWaterfall(pod, stepsOf(text), 50);
  for (const { from, until } of drawn?.steps ?? []) {
    expect(from).toBeGreaterThanOrEqual(drawn?.from ?? 0);
    expect(until ?? from).toBeGreaterThanOrEqual(from);
    expect(drawn?.until).toBeGreaterThanOrEqual(until ?? from);
  }
  expect(drawn?.steps.map(({ what }) => what).slice(0, 4)).toEqual(["scheduling", "volumes", "sandbox", "image"]);
});

it("draws the first start alone, and nothing of an earlier pod", () => {
  expect(draw("Started:3000:main Exited:4000:main Started:8000:main")?.at(-1)).toBe("start 2000-3000");
  expect(draw("Started:3000:main", "before")).toEqual(["scheduling 1000-2000"]);
});

it("knows nothing of a pod without times", () => {
  expect(computeWaterfall({ metadata: { name: "web" } }, [], 9_000)).toBeUndefined();
});
