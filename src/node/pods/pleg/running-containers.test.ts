import { expect, it } from "vitest";
import {
  emptyPodRuntimeStatus,
  type PodRuntimeStatus,
  type RuntimePod,
} from "../../runtime/reading/pod-runtime-status.ts";
import { createRunningContainers } from "./running-containers.ts";

type State = RuntimePod["containers"][number]["state"];

function listedPod(uid: string, states: readonly State[]): [string, RuntimePod] {
  const containers = states.map((state, index) => {
    return { id: `${uid}-${index}`, sandboxId: "", name: `c${index}`, attempt: 0, state, createdAt: 0 };
  });
  return [uid, { uid, name: uid, namespace: "default", sandboxes: [], containers }];
}

function readPod(uid: string, states: readonly State[]): PodRuntimeStatus {
  const container = {
    sandboxId: "",
    createdAt: 0,
    startedAt: 0,
    finishedAt: 0,
    exitCode: 0,
    hash: "",
    restartCount: 0,
    image: "",
    imageId: "",
    reason: "",
    message: "",
    logPath: "/logs",
  };
  const containers = states.map((state, index) => ({ ...container, id: `${uid}-${index}`, name: `c${index}`, state }));
  return { ...emptyPodRuntimeStatus({ uid, name: uid, namespace: "default" }, 0), containers };
}

const pods = new Map([
  listedPod("1", ["running", "exited", "running"]),
  listedPod("2", ["created", "unknown"]),
  listedPod("3", ["running"]),
]);
const read = new Map([["1", readPod("1", ["exited", "running"])]]);
const running = createRunningContainers({ cache: { latest: (uid) => read.get(uid) }, pleg: { pods: () => pods } });

it("tells the running containers of a pod that was read, and none of another", () => {
  expect(running.ofPod("1").map(({ id }) => id)).toEqual(["1-1"]);
  expect(running.ofPod("3")).toEqual([]);
  expect(["1", "3"].map(running.runsContainers)).toEqual([true, false]);
});

it("tells by the runtime's list which pods and containers run", () => {
  expect(["1", "2", "3", "4"].map(running.isListed)).toEqual([true, false, true, false]);
  expect([...running.list()]).toEqual([
    { id: "1-0", logPath: "/logs" },
    { id: "1-2", logPath: undefined },
    { id: "3-0", logPath: undefined },
  ]);
});
