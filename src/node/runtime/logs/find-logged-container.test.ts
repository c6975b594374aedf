import { expect, it } from "vitest";
import type { ContainerStatus, PodStatus } from "../../../api/gen/types.ts";
import { findLoggedContainer } from "./find-logged-container.ts";

const base: ContainerStatus = { name: "main", image: "", imageID: "", ready: true, restartCount: 0 };
const ended = (containerID = "") => ({ terminated: { exitCode: 0, ...(containerID && { containerID }) } });
const waiting = (reason: string) => ({ waiting: { reason } });
const which = 'container "main" in pod "web"';

it.each<[string, Partial<ContainerStatus> | undefined, boolean, string]>([
  ["no status", undefined, false, `${which} is not available`],
  [
    "running",
    { containerID: "containerd://now", state: { running: {} }, lastState: ended("containerd://b") },
    false,
    "containerd://now",
  ],
  ["ended", { state: ended("containerd://now"), lastState: ended("containerd://before") }, false, "containerd://now"],
  [
    "ended, and the next never began",
    { state: ended(), lastState: ended("containerd://before") },
    false,
    "containerd://before",
  ],
  ["ended without an id", { state: ended() }, false, `${which} is terminated`],
  [
    "waits after an end",
    { state: waiting("CrashLoopBackOff"), lastState: ended("containerd://b") },
    false,
    "containerd://b",
  ],
  ["waits after an end without an id", { state: waiting("x"), lastState: ended() }, false, `${which} is terminated`],
  ["waits", { state: waiting("ContainerCreating") }, false, `${which} is waiting to start: ContainerCreating`],
  ["no image", { state: waiting("ErrImagePull") }, false, `${which} is waiting to start: image can't be pulled`],
  [
    "no image, later",
    { state: waiting("ImagePullBackOff") },
    false,
    `${which} is waiting to start: trying and failing to pull image`,
  ],
  ["no state", {}, false, `${which} is waiting to start - no logs yet`],
  ["previous", { state: { running: {} }, lastState: ended("containerd://before") }, true, "containerd://before"],
  ["no previous", { state: { running: {} } }, true, `previous terminated ${which} not found`],
  ["previous without an id", { lastState: ended() }, true, `previous terminated ${which} not found`],
])("%s", (_what, status, previous, expected) => {
  const statuses = status === undefined ? [] : [{ ...base, ...status }];
  for (const kind of ["containerStatuses", "initContainerStatuses", "ephemeralContainerStatuses"] as const) {
    const podStatus: PodStatus = { [kind]: statuses };
    const found = findLoggedContainer(podStatus, { pod: "web", container: "main", previous });
    expect(found.kind === "found" ? found.containerId : found.message).toBe(expected);
  }
});
