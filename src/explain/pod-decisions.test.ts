import { expect, it } from "vitest";
import { explainPod } from "./explain-pod.ts";
import { addDecisions, toPodDecisions } from "./pod-decisions.ts";

const record = (at: number, reason: string, message: string, uid = "u") => ({
  pod: { namespace: "default", name: "web", uid },
  ...{ at, firstAt: at, count: 1, type: "Normal" as const, reason, message },
});
const asked = { namespace: "default", name: "web" };
const pending = {
  metadata: { ...asked, uid: "u" },
  spec: { containers: [{ name: "main" }] },
  status: { phase: "Pending" },
};

it("tells who ended a pod that is gone before what its node tells, and all steps in their order", () => {
  const found = explainPod({
    ...asked,
    pod: undefined,
    records: [record(1, "Started", "a"), record(3, "Killing", "b")],
  });
  const decisions = toPodDecisions([record(0, "Scheduled", "c"), record(2, "DeletionRequested", "by alice")], ["gap"]);
  const { ends, steps, gaps } = addDecisions(found, decisions);
  expect(ends.map(({ message }) => message)).toEqual(["by alice", "b"]);
  expect(steps.map(({ reason }) => reason)).toEqual(["Scheduled", "Started", "DeletionRequested", "Killing"]);
  expect(gaps).toEqual(["gap"]);
});

it("keeps what each recorded in its order when the clock jumps back and forward", () => {
  const records = [record(50, "PodAdmitted", ""), record(9_000, "Started", ""), record(60, "Exited", "")];
  const decided = [
    record(40, "Scheduled", ""),
    record(8_000, "DeletionRequested", ""),
    record(30, "RemovedFromApi", ""),
  ];
  const found = explainPod({ ...asked, pod: undefined, records });
  const { steps } = addDecisions(found, toPodDecisions(decided, []));
  const told = steps.map(({ reason }) => reason);
  const ofNode = told.filter((reason) => records.some((one) => one.reason === reason));
  expect(ofNode).toEqual(["PodAdmitted", "Started", "Exited"]);
  expect(told.filter((reason) => !ofNode.includes(reason))).toEqual([
    "Scheduled",
    "DeletionRequested",
    "RemovedFromApi",
  ]);
  expect(told[0]).toBe("Scheduled");
});

it("knows a pod that no node ever had, and does not blame it for the end of an earlier one", () => {
  const gone = explainPod({ ...asked, pod: undefined, records: [] });
  expect(addDecisions(gone, toPodDecisions([record(1, "DeletionRequested", "by alice")], [])).pod.uid).toBe("u");
  const present = explainPod({ ...asked, pod: pending, records: [] });
  expect(addDecisions(present, toPodDecisions([record(1, "DeletionRequested", "x", "before")], [])).ends).toEqual([]);
});

it("tells rule by rule why a pod waits for a node, each with its mend", () => {
  const refused = "NodeResourcesFit refuses a: Insufficient memory; TaintToleration refuses b {gpu=x:NoSchedule}: no";
  const present = explainPod({ ...asked, pod: pending, records: [] });
  const { waits } = addDecisions(present, toPodDecisions([record(1, "NodesRefused", refused)], []));
  expect(waits.slice(1).map(({ mend }) => mend)).toEqual([
    expect.stringMatching(/requests of memory/),
    expect.stringMatching(/toleration for the taint gpu,/),
  ]);
});

it("does not tell of refused nodes once the pod has one", () => {
  const placed = { ...pending, spec: { ...pending.spec, nodeName: "a" } };
  const found = addDecisions(
    explainPod({ ...asked, pod: placed, records: [] }),
    toPodDecisions([record(1, "NodesRefused", "x")], []),
  );
  expect(found.waits.map(({ reason }) => reason)).not.toContain("NodesRefused");
});
