import { expect, it } from "vitest";
import type { Event, Pod } from "../../api/gen/types.ts";
import type { PodExplanation } from "../../explain/explanation.ts";
import { computeCgroupTree } from "./cgroup-tree.ts";
import { formatBytes, formatCores, formatCount } from "./format-amount.ts";
import { computeLife } from "./life.ts";
import { MAX_EVENTS } from "./live-message.ts";
import { createLogLines } from "./log-lines.ts";
import type { NodeUse } from "./node-use.ts";
import { createObjectTables } from "./object-table.ts";
import { describePod } from "./pod-summary.ts";
import { addSample, computePressure } from "./pressure.ts";
import { computeServices } from "./service-table.ts";
import { computeTicks, formatShortTime } from "./time-axis.ts";

const MIB = 1_024 ** 2;
const use = (more: Partial<NodeUse> = {}): NodeUse => ({
  node: "n",
  at: 1_000,
  cpuNanoCores: 1e9,
  memory: { availableBytes: 300 * MIB, workingSetBytes: 700 * MIB },
  nodeFs: { availableBytes: 50, capacityBytes: 1_000, inodesFree: 5, inodes: 10 },
  imageFs: { availableBytes: undefined, capacityBytes: undefined, inodesFree: undefined, inodes: undefined },
  pids: { used: 100, most: 1_000 },
  pods: [],
  system: [],
  thresholds: [
    { signal: "memory.available", amount: 100 * MIB, share: undefined, isHard: true },
    { signal: "nodefs.available", amount: undefined, share: 0.1, isHard: true },
  ],
  gaps: [],
  ...more,
});

it("draws what is left of each resource that is known, with its thresholds", () => {
  const curves = computePressure([use(), use({ at: 2_000 })]);
  expect(curves.map(({ signal, isMet, limits }) => [signal, isMet, limits[0]?.amount])).toEqual([
    ["memory.available", false, 100 * MIB],
    ["nodefs.available", true, 100],
    ["nodefs.inodesFree", false, undefined],
    ["pid.available", false, undefined],
  ]);
  expect(curves[0]).toMatchObject({ times: [1, 2], capacity: 1_000 * MIB });
});

it("keeps four hours of samples, of one node", () => {
  let samples: NodeUse[] = [];
  for (let at = 0; at < 2_000; at++) samples = addSample(samples, use({ at }));
  expect([samples.length, samples[0]?.at]).toEqual([1_440, 560]);
  expect(addSample(samples, use({ node: "other" }))).toHaveLength(1);
});

it("puts pods into the cgroups of their classes, with what they ask for and use", () => {
  const pod = (uid: string, resources: object): Pod => ({
    metadata: { namespace: "default", name: uid, uid },
    spec: { nodeName: "n", containers: [{ name: "main", resources }] },
    status: { phase: "Running" },
  });
  const equal = { cpu: "1", memory: "1Mi" };
  const pods = [
    pod("g", { requests: equal, limits: equal }),
    pod("b", { requests: { memory: "2Mi" } }),
    pod("e", {}),
    { ...pod("over", {}), status: { phase: "Succeeded" } },
  ];
  const uses = [{ uid: "b", cpuNanoCores: 5, memoryBytes: 7, pids: 1, containers: [] }];
  const [root] = computeCgroupTree(pods, use({ pods: uses }));
  expect(root?.children.map(({ name }) => name)).toEqual(["default/g", "burstable", "besteffort"]);
  expect(root?.children[0]).toMatchObject({ cpu: { request: 1e9, limit: 1e9 }, memory: { limit: MIB } });
  expect(root?.children[1]).toMatchObject({
    memory: { request: 2 * MIB, use: 7 },
    children: [{ memory: { limit: undefined } }],
  });
});

it("finds the use of a static pod, which the node tells under another UID than its mirror's", () => {
  const annotations = { "kubernetes.io/config.mirror": "hash" };
  const mirror = {
    metadata: { namespace: "default", name: "m", uid: "u", annotations },
    spec: { nodeName: "n", containers: [] },
  };
  const told = { uid: "hash", cpuNanoCores: 5, memoryBytes: 6, pids: 1, containers: [] };
  const [root] = computeCgroupTree([mirror], use({ pods: [told] }));
  expect(root?.children.at(-1)?.children).toMatchObject([{ name: "default/m", cpu: { use: 5 }, memory: { use: 6 } }]);
});

it("joins services with the endpoints of their slices, and says when none is ready", () => {
  const metadata = { namespace: "default", name: "web" };
  const slice = {
    metadata: { ...metadata, name: "web-1", labels: { "kubernetes.io/service-name": "web" } },
    addressType: "IPv4",
    endpoints: [{ addresses: ["10.0.0.1"], conditions: { ready: false }, targetRef: { kind: "Pod", name: "web-0" } }],
  };
  const [row] = computeServices([{ metadata, spec: { selector: { app: "web" }, ports: [{ port: 80 }] } }], [slice]);
  expect(row).toMatchObject({ key: "default/web", isDry: true, ports: ["80/TCP"], endpoints: [{ pod: "web-0" }] });
});

it("draws a life until now, and that of a pod that is gone until its last record", () => {
  const step = (reason: string, ms: number, container?: string) => ({
    ...{ at: new Date(ms).toISOString(), firstAt: new Date(ms).toISOString(), count: 1, type: "Normal" },
    ...{ reason, message: "", uid: "u", ...(container !== undefined && { container }) },
  });
  const explanation: PodExplanation = {
    ...{ kind: "PodExplanation", version: 1, isReady: true, waits: [], ends: [], gaps: [], state: "Running" },
    pod: { namespace: "default", name: "web", uid: "u", node: "n" },
    steps: [step("Started", 2_000, "main"), step("PodReady", 3_000), step("Exited", 5_000, "main")],
  };
  const spans = (life: ReturnType<typeof computeLife>) =>
    life?.lanes.map(({ container, spans }) => [container, spans.map(({ state, from, until }) => [state, from, until])]);
  expect(spans(computeLife(explanation, 9_000))).toEqual([
    [
      "",
      [
        ["waiting", 2_000, 3_000],
        ["ready", 3_000, 9_000],
      ],
    ],
    [
      "main",
      [
        ["running", 2_000, 5_000],
        ["done", 5_000, 9_000],
      ],
    ],
  ]);
  // A clock that jumps: the order is that of the records, and no span is of negative length or before the axis begins.
  const jumped = [step("Started", 8_000, "main"), step("PodReady", 3_000), step("Exited", 1_000, "main")];
  const life = computeLife({ ...explanation, steps: jumped }, 500);
  expect(life?.lanes[1]?.spans.map(({ state }) => state)).toEqual(["running", "done"]);
  for (const { from, until } of life?.lanes.flatMap((lane) => lane.spans) ?? []) {
    expect([until >= from, from >= (life?.from ?? 0), until <= (life?.until ?? 0)]).toEqual([true, true, true]);
  }
  expect(computeLife({ ...explanation, state: "Gone" }, 9_000)?.until).toBe(5_000);
  expect(computeLife({ ...explanation, steps: [] }, 9_000)).toBeUndefined();
});

it.each([
  [0, 5, [0]],
  [2_300, 5, [0, 500, 1_000, 1_500, 2_000]],
  [7 * 86_400_000, 6, [0, 172_800_000, 345_600_000, 518_400_000]],
  [Number.NaN, 5, [0]],
])("an axis of %d ms has at most %d round times", (length, most, expected) => {
  expect(computeTicks(length, most).map(({ offsetMs }) => offsetMs)).toEqual(expected);
});

it("has few ticks on an axis of years", () => {
  expect(computeTicks(20 * 365 * 86_400_000, 6).length).toBeLessThanOrEqual(7);
});

it.each([
  [formatShortTime(340), "340 ms"],
  [formatShortTime(1_250), "1.25 s"],
  [formatShortTime(125_000), "2 min 5 s"],
  [formatShortTime(90_000_000), "1 d 1 h"],
  [formatBytes(1_342_177_280), "1.25 GiB"],
  [formatBytes(-1), "0 B"],
  [formatCores(250e6), "250m"],
  [formatCores(1.5e9), "1.5"],
  [formatCount(1_234_567), "1\u202f234\u202f567"],
])("writes %s", (text, expected) => expect(text).toBe(expected));

it("keeps the last lines of a log, as text that nothing acts upon", () => {
  const lines = createLogLines();
  lines.add("\u001b[31mred\u001b[0m\r\nbell\u0007\tand \u202eback\n<b>open");
  expect(lines.text()).toBe("red\nbell\\u0007\tand \\u202eback\n<b>open");
  lines.add("\nx".repeat(30_000));
  expect(lines.text().split("\n").length).toBeLessThanOrEqual(5_001);
  lines.add("y".repeat(1e6));
  expect(lines.text().split("\n").at(-1)?.length).toBeLessThanOrEqual(4_097);
});

it("forgets what a new stream does not tell, and the oldest events", () => {
  const tables = createObjectTables();
  const event = (uid: string): Event => ({ metadata: { uid }, involvedObject: {} });
  tables.begin();
  tables.apply({ type: "put", kind: "events", objects: [event("a"), event("b")] });
  tables.apply({ type: "synced", kind: "events" });
  tables.begin();
  tables.apply({ type: "put", kind: "events", objects: [event("b")] });
  expect([...tables.table("events").objects.keys()]).toEqual(["a", "b"]);
  tables.apply({ type: "synced", kind: "events" });
  expect([...tables.table("events").objects.keys()]).toEqual(["b"]);
  for (let one = 0; one < 2 * MAX_EVENTS; one++) {
    tables.apply({ type: "put", kind: "events", objects: [event(`n${one}`)] });
  }
  expect(tables.table("events").objects.size).toBe(MAX_EVENTS);
  expect([...tables.table("events").objects.keys()].at(-1)).toBe(`n${2 * MAX_EVENTS - 1}`);
});

it("tells a pod on its way from one that somebody should look at", () => {
  const waiting = (reason: string): Pod => ({
    metadata: { namespace: "default", name: "web" },
    spec: { nodeName: "n", containers: [{ name: "main" }] },
    status: {
      phase: "Pending",
      containerStatuses: [
        { name: "main", image: "", imageID: "", ready: false, restartCount: 0, state: { waiting: { reason } } },
      ],
    },
  });
  expect(describePod(waiting("ContainerCreating"))).toMatchObject({ tone: "wait", trouble: undefined });
  expect(describePod(waiting("ImagePullBackOff"))).toMatchObject({
    tone: "bad",
    trouble: { reason: "ImagePullBackOff" },
  });
});
