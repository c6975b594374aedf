import { afterEach, describe, expect, it } from "vitest";
import type { Container, Node, Pod, PodSpec } from "../../../api/gen/types.ts";
import { CONFIG_SOURCE_ANNOTATION } from "../../../api/well-known.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock } from "../../../host/fake/fake-clock.ts";
import { createDepartures } from "./departures.ts";
import { createFit, type RoomInMaking } from "./fit.ts";
import { createFreshNode } from "./fresh-node.ts";

const NODE: Node = {
  metadata: { name: "n1", labels: { "kubernetes.io/os": "linux", disk: "ssd" } },
  spec: {
    taints: [
      { key: "gone", effect: "NoExecute" },
      { key: "soft", effect: "NoSchedule" },
    ],
  },
  status: { allocatable: { cpu: "2", memory: "1Gi", pods: "3", "example.com/gpu": "1", "ephemeral-storage": "10Gi" } },
};
const tolerations = [{ key: "gone", operator: "Exists" }];

const asking = (requests: Record<string, string>, more: Partial<Container> = {}): Partial<PodSpec> => ({
  containers: [{ name: "main", resources: { requests }, ...more }],
});
const makePod = (spec: Partial<PodSpec> = {}, more: Pick<Pod, "metadata" | "status"> = {}): Pod => ({
  metadata: { uid: "u", name: "web", namespace: "ns", ...more.metadata },
  spec: { containers: [{ name: "main" }], tolerations, nodeName: "n1", ...spec },
  ...(more.status && { status: more.status }),
});
const others = (...specs: Array<Partial<PodSpec>>): Pod[] =>
  specs.map((spec, index) => makePod(spec, { metadata: { uid: `other-${index}` } }));

const NO_ROOM: RoomInMaking = {
  claimants: () => [],
  isAwaited: () => false,
  isOverdue: () => false,
  queue: () => undefined,
};

const NO_DEPARTURES = { isLeaving: () => false, queue: () => undefined };

interface Case {
  readonly pod: Pod;
  readonly others?: readonly Pod[];
  readonly expected: { reason: string; message: string } | undefined;
}

const outOf = (name: string, amounts: string) => ({
  reason: `OutOf${name}`,
  message: `Node didn't have enough resource: ${name}, ${amounts}`,
});
const failed = (name: string, why: string) => ({ reason: name, message: `Predicate ${name} failed: ${why}` });
const NO_PORTS = failed("NodePorts", "node(s) didn't have free ports for the requested pod ports");
const NO_AFFINITY = failed("NodeAffinity", "node(s) didn't match Pod's node affinity/selector");
const port = (hostPort: number, more: object = {}) => asking({}, { ports: [{ containerPort: 1, hostPort, ...more }] });

describe("a pod is held against what the node has", () => {
  it.each<[string, Case]>([
    ["nothing wanted", { pod: makePod(), expected: undefined }],
    [
      "cpu that is left",
      { pod: makePod(asking({ cpu: "1500m" })), others: others(asking({ cpu: "500m" })), expected: undefined },
    ],
    [
      "cpu that others have",
      {
        pod: makePod(asking({ cpu: "1500m" })),
        others: others(asking({ cpu: "501m" })),
        expected: outOf("cpu", "requested: 1500, used: 501, capacity: 2000"),
      },
    ],
    [
      "memory",
      {
        pod: makePod(asking({ memory: "2Gi" })),
        expected: outOf("memory", "requested: 2147483648, used: 0, capacity: 1073741824"),
      },
    ],
    [
      "local storage",
      {
        pod: makePod(asking({ "ephemeral-storage": "11Gi" })),
        expected: outOf("ephemeral-storage", "requested: 11811160064, used: 0, capacity: 10737418240"),
      },
    ],
    [
      "a device that another has",
      {
        pod: makePod(asking({ "example.com/gpu": "1" })),
        others: others(asking({ "example.com/gpu": "1" })),
        expected: outOf("example.com/gpu", "requested: 1, used: 1, capacity: 1"),
      },
    ],
    [
      "a device that the node does not know",
      { pod: makePod(asking({ "example.com/fpga": "1" })), expected: undefined },
    ],
    [
      "huge pages that there are none of",
      {
        pod: makePod(asking({ "hugepages-2Mi": "2Mi" })),
        expected: outOf("hugepages-2Mi", "requested: 2097152, used: 0, capacity: 0"),
      },
    ],
    [
      "a place",
      {
        pod: makePod(asking({ cpu: "3" })),
        others: others({}, {}, {}),
        expected: outOf("pods", "requested: 1, used: 3, capacity: 3"),
      },
    ],
    ["itself, let in before", { pod: makePod(port(80)), others: [makePod(port(80))], expected: undefined }],
    ["a port that another has", { pod: makePod(port(80)), others: others(port(80)), expected: NO_PORTS }],
    [
      "a port of one address",
      { pod: makePod(port(80, { hostIP: "10.0.0.1" })), others: others(port(80)), expected: NO_PORTS },
    ],
    [
      "the port of another protocol",
      { pod: makePod(port(80, { protocol: "UDP" })), others: others(port(80)), expected: undefined },
    ],
    ["a label that it has", { pod: makePod({ nodeSelector: { disk: "ssd" } }), expected: undefined }],
    ["a label that it has not", { pod: makePod({ nodeSelector: { disk: "hdd" } }), expected: NO_AFFINITY }],
    [
      "another node",
      {
        pod: makePod({ nodeName: "n2" }),
        expected: failed("NodeName", "node(s) didn't match the requested node name"),
      },
    ],
    [
      "to be spared of nothing",
      {
        pod: makePod({ tolerations: [] }),
        expected: failed("TaintToleration", "node(s) had taints that the pod didn't tolerate"),
      },
    ],
    [
      "nothing of taints, being static",
      {
        pod: makePod(
          { tolerations: [] },
          { metadata: { uid: "u", annotations: { [CONFIG_SOURCE_ANNOTATION]: "file" } } },
        ),
        expected: undefined,
      },
    ],
    [
      "another system by its label",
      {
        pod: makePod({}, { metadata: { uid: "u", labels: { "kubernetes.io/os": "windows" } } }),
        expected: {
          reason: "PodOSSelectorNodeLabelDoesNotMatch",
          message: "Failed to admit pod as the `kubernetes.io/os` label doesn't match node label",
        },
      },
    ],
    [
      "another system",
      {
        pod: makePod({ os: { name: "windows" } }),
        expected: { reason: "PodOSNotSupported", message: "Failed to admit pod as the OS field doesn't match node OS" },
      },
    ],
    [
      "groups that the runtime cannot give",
      {
        pod: makePod({ securityContext: { supplementalGroupsPolicy: "Strict" } }),
        expected: {
          reason: "SupplementalGroupsPolicyNotSupported",
          message: "SupplementalGroupsPolicy=Strict is not supported in this node",
        },
      },
    ],
    [
      "more than there is, and runs already",
      { pod: makePod(asking({ cpu: "9" }), { status: { phase: "Running" } }), expected: undefined },
    ],
  ])("%s", (_what, { pod, others: admitted = [], expected }) => {
    const judge = createFit({
      node: () => NODE,
      admittedPods: () => admitted,
      supportsSupplementalGroupsPolicy: () => false,
      freshNode: undefined,
      room: NO_ROOM,
      departures: NO_DEPARTURES,
    });
    expect(judge(pod)).toEqual(expected);
  });
});

describe("labels and taints that somebody changed a moment ago", () => {
  const stops: Array<() => Promise<void>> = [];
  afterEach(async () => {
    for (const stop of stops.splice(0)) await stop();
  });

  function createRig(readings: Array<Node | Error>) {
    const clock = createFakeClock();
    const decidable: string[] = [];
    const freshNode = createFreshNode({
      clock,
      log: silentLog,
      onRead: (uid) => decidable.push(uid),
      async readNode() {
        const next = readings.shift() ?? new Error("asked too often");
        if (next instanceof Error) throw next;
        return next;
      },
    });
    const stopping = new AbortController();
    const run = freshNode.run(stopping.signal).catch(() => undefined);
    stops.push(async () => {
      stopping.abort();
      await run;
    });
    const judge = createFit({
      node: () => NODE,
      admittedPods: () => [],
      supportsSupplementalGroupsPolicy: () => true,
      freshNode,
      room: NO_ROOM,
      departures: NO_DEPARTURES,
    });
    return { clock, decidable, judge, readings };
  }
  const labelled: Node = { ...NODE, metadata: { name: "n1", labels: { zone: "a" } } };
  const pod = makePod({ nodeSelector: { zone: "a" } });

  it.each<[string, Node, ReturnType<ReturnType<typeof createFit>>]>([
    ["are read before the pod is refused", labelled, undefined],
    ["and where they are not there it is", NODE, NO_AFFINITY],
  ])("%s", async (_what, node, verdict) => {
    const { clock, decidable, judge } = createRig([node]);
    expect(judge(pod)).toBe("undecided");
    await clock.settle();
    expect(decidable).toEqual(["u"]);
    expect(judge(pod)).toEqual(verdict);
  });

  it.each<[string, Node, ReturnType<ReturnType<typeof createFit>>]>([
    ["that are gone keep no pod away", { ...NODE, spec: {} }, undefined],
    [
      "that are still there do",
      NODE,
      {
        reason: "TaintToleration",
        message: "Predicate TaintToleration failed: node(s) had taints that the pod didn't tolerate",
      },
    ],
  ])("%s", async (_what, node, verdict) => {
    const { clock, judge } = createRig([node]);
    const intolerant = makePod({ tolerations: [] });
    expect(judge(intolerant)).toBe("undecided");
    await clock.settle();
    expect(judge(intolerant)).toEqual(verdict);
  });

  it("are waited for while the API server is away", async () => {
    const { clock, decidable, judge, readings } = createRig([new Error("away"), new Error("away"), labelled]);
    expect(judge(pod)).toBe("undecided");
    await clock.advance(2_999);
    expect([decidable, readings.length]).toEqual([[], 1]);
    await clock.advance(1);
    expect(decidable).toEqual(["u"]);
    expect(judge(pod)).toBeUndefined();
  });

  it("are not asked for where something else is missing too", () => {
    const { judge } = createRig([]);
    expect(judge(makePod({ nodeSelector: { zone: "a" }, ...asking({ cpu: "9" }) }))).toMatchObject({
      reason: "OutOfcpu",
    });
  });
});

describe("where pods end that were deleted by force", () => {
  const setUp = (isAwaited: (uid: string) => boolean = () => false) => {
    const decidable: string[] = [];
    const waitsForRoom: string[] = [];
    const isNamed = (uid: string) => uid !== "other-0";
    const departures = createDepartures({ isNamed, onDecidable: (uid) => void decidable.push(uid) });
    let admitted = others(asking({ cpu: "1" }), asking({ cpu: "1" }));
    const judge = createFit({
      node: () => NODE,
      admittedPods: () => admitted,
      supportsSupplementalGroupsPolicy: () => false,
      freshNode: undefined,
      room: { ...NO_ROOM, isAwaited, queue: (uid) => void waitsForRoom.push(uid) },
      departures,
    });
    const end = (uid: string) => {
      admitted = admitted.filter(({ metadata }) => metadata?.uid !== uid);
      departures.ended();
    };
    return { judge, end, decidable, waitsForRoom };
  };

  it("a pod that will fit without them waits for the last of them, and is asked about once for each", () => {
    const { judge, end, decidable } = setUp();
    const pod = makePod(asking({ cpu: "1" }));
    expect(judge(pod)).toBe("undecided");
    end("other");
    expect(decidable).toEqual(["u"]);
    expect(judge(pod)).toBe("undecided");
    end("other-0");
    expect(decidable).toEqual(["u", "u"]);
    expect(judge(pod)).toBeUndefined();
    end("other-1");
    expect(decidable).toEqual(["u", "u"]);
  });

  it("a pod that will not fit then either is refused", () => {
    const { judge, end, decidable } = setUp();
    const pod = makePod(asking({ cpu: "1001m" }));
    expect(judge(pod)).toEqual(outOf("cpu", "requested: 1001, used: 2000, capacity: 2000"));
    end("other-0");
    expect(decidable).toEqual([]);
  });

  it("a pod that needs what critical pods wait for, too, waits for both", () => {
    const { judge, end, decidable, waitsForRoom } = setUp((uid) => uid === "other-1");
    expect(judge(makePod(asking({ cpu: "2" })))).toBe("undecided");
    end("other-0");
    expect([decidable, waitsForRoom]).toEqual([["u"], []]);
    expect(judge(makePod(asking({ cpu: "2" })))).toBe("undecided");
    expect(waitsForRoom).toEqual(["u"]);
  });
});

describe("where room is being made for critical pods", () => {
  const judgeWith = (admitted: readonly Pod[], room: Partial<RoomInMaking> = {}) =>
    createFit({
      node: () => NODE,
      admittedPods: () => admitted,
      supportsSupplementalGroupsPolicy: () => false,
      freshNode: undefined,
      room: { ...NO_ROOM, ...room },
      departures: NO_DEPARTURES,
    });
  const critical = (spec: Partial<PodSpec>) => makePod({ ...spec, priority: 2_000_000_000 });
  const full = others(asking({ cpu: "1500m" }), asking({ cpu: "500m", memory: "1Gi" }));

  it("a critical pod is not refused for what it lacks: others may give it back", () => {
    expect(judgeWith(full)(critical(asking({ cpu: "1", memory: "1" })))).toEqual({
      missing: [
        { resource: "cpu", amount: 1000n },
        { resource: "memory", amount: 1n },
      ],
    });
  });

  it("a critical pod that could not run anyway is refused for that alone", () => {
    const verdict = judgeWith(full)(critical({ ...asking({ cpu: "1" }), nodeSelector: { disk: "hdd" } }));
    expect(verdict).toEqual(NO_AFFINITY);
  });

  it("nobody else gets what is a critical pod's", () => {
    const claimant = makePod(asking({ cpu: "2" }), { metadata: { uid: "claimant", name: "claimant" } });
    const judge = judgeWith([], { claimants: () => [claimant] });
    expect(judge(makePod(asking({ cpu: "1" })))).toEqual(outOf("cpu", "requested: 1000, used: 2000, capacity: 2000"));
    expect(judge(claimant)).toBeUndefined();
  });

  it.each([
    ["who will fit when the victims are gone waits for that", "400m", "undecided", ["u"]],
    ["who will not fit then either is refused", "501m", outOf("cpu", "requested: 501, used: 3000, capacity: 2000"), []],
  ])("%s", (_what, cpu, expected, queued) => {
    const queue: string[] = [];
    const claimant = makePod(asking({ cpu: "1500m" }), { metadata: { uid: "claimant", name: "claimant" } });
    const room = {
      claimants: () => [claimant],
      isAwaited: (uid: string) => uid.startsWith("other-"),
      queue: (uid: string) => void queue.push(uid),
    };
    const victims = others(asking({ cpu: "1500m" }));
    expect(judgeWith(victims, room)(makePod(asking({ cpu })))).toEqual(expected);
    expect(queue).toEqual(queued);
  });

  it("what should have ended long ago keeps no critical pod out, but others", () => {
    const judge = judgeWith(full, { isOverdue: () => true });
    expect(judge(critical(asking({ cpu: "2" })))).toBeUndefined();
    expect(judge(makePod(asking({ cpu: "2" })))).toMatchObject({ reason: "OutOfcpu" });
  });

  it("a static pod takes the place, and the ports, of the one whose name it has", () => {
    const asStatic = (uid: string, spec: Partial<PodSpec>) =>
      makePod(spec, { metadata: { uid, annotations: { [CONFIG_SOURCE_ANNOTATION]: "file" } } });
    const before = asStatic("before", { ...asking({ cpu: "2" }, { ports: [{ containerPort: 1, hostPort: 80 }] }) });
    expect(judgeWith([before])(asStatic("after", before.spec ?? {}))).toBeUndefined();
  });
});
