import { expect, it } from "vitest";
import { podCgroupOf } from "./pod-cgroup.ts";

it.each([
  ["/kubepods/burstable/poda-b/c1", "/kubepods/burstable/poda-b"],
  [
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice/cri-containerd-c1.scope",
    "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-poda_b.slice",
  ],
  ["/kubepods/podother/c1", undefined],
  ["/k8s.io/c1", undefined],
  ["/c1", undefined],
])("the cgroup above %s is the pod's: %s", (containerPath, expected) => {
  expect(podCgroupOf("a-b", containerPath)).toBe(expected);
});
