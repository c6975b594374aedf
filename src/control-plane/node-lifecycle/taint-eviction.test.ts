import { describe, expect, test } from "vitest";
import type { Taint, Toleration } from "../../api/gen/types.ts";
import { typed } from "../../api/object.ts";
import { createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import { computeStayMs, createTaintEviction } from "./taint-eviction.ts";

const UNREACHABLE: Taint = { key: "node.kubernetes.io/unreachable", effect: "NoExecute" };
const FOR_FIVE_MINUTES: Toleration = {
  key: UNREACHABLE.key,
  operator: "Exists",
  effect: "NoExecute",
  tolerationSeconds: 300,
};

describe("how long a pod stays", () => {
  const other: Taint = { key: "other", effect: "NoExecute" };
  test.each<[string, Taint[], Toleration[], number]>([
    ["no taint", [], [], Number.POSITIVE_INFINITY],
    ["not tolerated", [UNREACHABLE], [], 0],
    ["tolerated for ever", [UNREACHABLE], [{ operator: "Exists" }], Number.POSITIVE_INFINITY],
    ["tolerated for a while", [UNREACHABLE], [FOR_FIVE_MINUTES], 300_000],
    ["one of two tolerated", [UNREACHABLE, other], [FOR_FIVE_MINUTES], 0],
    ["both, one for longer", [UNREACHABLE, other], [FOR_FIVE_MINUTES, { key: "other", operator: "Exists" }], 300_000],
    ["tolerated for less than nothing", [UNREACHABLE], [{ ...FOR_FIVE_MINUTES, tolerationSeconds: -1 }], 0],
  ])("%s", (_case, taints, tolerations, expected) => {
    expect(computeStayMs(taints, tolerations)).toBe(expected);
  });
});

function setUp() {
  const bench = createControllerBench();
  const { create, writer, reader, clock } = bench;
  const stop = bench.start(createTaintEviction(bench.deps));
  const node = (taints: Taint[]) => ({ apiVersion: "v1", kind: "Node", metadata: { name: "n1" }, spec: { taints } });
  const taint = async (...taints: Taint[]) => {
    await writer.update("nodes", node(taints));
    await clock.settle();
  };
  const createNode = (...taints: Taint[]) => create("nodes", node(taints));
  const createPod = async (name: string, tolerations: Toleration[]) => {
    const spec = { nodeName: "n1", tolerations };
    await create("pods", { apiVersion: "v1", kind: "Pod", metadata: { name, namespace: "default" }, spec, status: {} });
    await clock.settle();
  };
  const podOf = (name: string) => {
    const found = reader.get({ resource: "pods", namespace: "default", name });
    return found && typed("Pod", found);
  };
  const isLeaving = (name: string) => podOf(name)?.metadata?.deletionTimestamp !== undefined;
  const events = () => reader.list("events").map((event) => `${event["reason"]} ${event["message"]}`);
  return Object.assign(bench, { stop, createNode, createPod, taint, podOf, isLeaving, events });
}

describe("a pod on a node that is tainted", () => {
  test("goes at once when it does not tolerate it, and says why", async () => {
    const { createNode, createPod, taint, podOf, events } = setUp();
    await createNode();
    await createPod("a", []);
    await createPod("tolerant", [{ operator: "Exists" }]);
    await taint(UNREACHABLE);
    expect(podOf("a")).toMatchObject({
      metadata: { deletionGracePeriodSeconds: 30 },
      status: {
        conditions: [
          {
            type: "DisruptionTarget",
            status: "True",
            reason: "DeletionByTaintManager",
            message: "Taint manager: deleting due to NoExecute taint",
          },
        ],
      },
    });
    expect(podOf("tolerant")?.metadata?.deletionTimestamp).toBeUndefined();
    expect(events()).toEqual(["TaintManagerEviction Marking for deletion Pod default/a"]);
  });

  test("goes when its time is over", async () => {
    const { createNode, createPod, clock, isLeaving } = setUp();
    await createNode(UNREACHABLE);
    await createPod("a", [FOR_FIVE_MINUTES]);
    await clock.advance(299_999);
    expect(isLeaving("a")).toBe(false);
    await clock.advance(1);
    expect(isLeaving("a")).toBe(true);
  });

  test("stays when the taint goes in time, and counts anew when it comes again", async () => {
    const { createNode, createPod, taint, clock, isLeaving, events } = setUp();
    await createNode(UNREACHABLE);
    await createPod("a", [FOR_FIVE_MINUTES]);
    await clock.advance(200_000);
    await taint();
    expect(events()).toEqual(["TaintManagerEviction Cancelling deletion of Pod default/a"]);
    await clock.advance(200_000);
    await taint(UNREACHABLE);
    await clock.advance(299_000);
    expect(isLeaving("a")).toBe(false);
    await clock.advance(1_000);
    expect(isLeaving("a")).toBe(true);
  });

  test("does not pay for time in which nobody looked", async () => {
    const { createNode, createPod, stop, start, deps, clock, isLeaving } = setUp();
    await createNode(UNREACHABLE);
    await createPod("a", [FOR_FIVE_MINUTES]);
    await stop();
    await clock.advance(3_600_000);
    start(createTaintEviction(deps));
    await clock.advance(299_000);
    expect(isLeaving("a")).toBe(false);
    await clock.advance(1_000);
    expect(isLeaving("a")).toBe(true);
  });

  test("leaves no timer when it is gone", async () => {
    const { createNode, createPod, writer, clock } = setUp();
    await createNode(UNREACHABLE);
    await createPod("a", [FOR_FIVE_MINUTES]);
    await writer.remove({ resource: "pods", namespace: "default", name: "a" }, { gracePeriodSeconds: 0 });
    await clock.advance(300_000);
    expect(clock.pendingTimers).toBe(0);
  });
});
