import { expect, it } from "vitest";
import { podUid } from "../../../api/pods.ts";
import { apiPod, createDesired, mirrorOf, staticPod } from "./__fixtures__/desired.ts";
import { createPodReports } from "./pod-reports.ts";

const web = staticPod("hash-1");
const mirror = mirrorOf(web, "mirror-1");

function createRig() {
  const told: string[] = [];
  const desired = createDesired({ pods: [web, apiPod("api-1")], mirrors: [mirror] });
  const reports = createPodReports({
    desired,
    lives: { end: (pod) => void told.push(`ended ${podUid(pod)}`) },
    sender: {
      reconcile: (uid) => void told.push(`reconcile ${uid}`),
      finished: (pod) => void told.push(`finished ${podUid(pod)}`),
      forget: (uid) => void told.push(`sender forgets ${uid}`),
      podUids: () => ["hash-1", "api-1"],
    },
    startLatency: {
      show: (pod) => void told.push(`show ${podUid(pod)}`),
      forget: (uid) => void told.push(`latency forgets ${uid}`),
      podUids: () => ["api-1", "api-2"],
    },
  });
  return { desired, reports, told };
}

it("knows a mirror by its static pod", () => {
  const { reports, told } = createRig();
  reports.show(mirror);
  reports.show(apiPod("api-1"));
  expect(told).toEqual(["show mirror-1", "reconcile hash-1", "show api-1", "reconcile api-1"]);
});

it("does not watch the start of a mirror whose static pod is not known", () => {
  const { desired, reports, told } = createRig();
  desired.wanted.pods = [];
  reports.show(mirror);
  expect(told).toEqual(["reconcile mirror-1"]);
});

it("ends the mirror's life before the end of the pod is sent", () => {
  const { reports, told } = createRig();
  reports.finished(web);
  expect(told).toEqual(["ended hash-1", "finished hash-1"]);
});

it("forgets what is sent of a pod only when no source names it", () => {
  const { reports, told } = createRig();
  reports.forget("api-1");
  reports.forget("gone");
  expect(told).toEqual(["latency forgets api-1", "latency forgets gone", "sender forgets gone"]);
  expect(reports.podUids()).toEqual(["hash-1", "api-1", "api-2"]);
});
