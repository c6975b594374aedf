import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  cgroupPathOf,
  describeName,
  nameOfAllPods,
  nameOfClass,
  nameOfPod,
  partsOfDriverPath,
  podUidOf,
  quoteName,
} from "./cgroup-name.ts";

const UID = "1234-abcd-5678-efgh";

describe("names of cgroups", () => {
  const allPods = nameOfAllPods("/");
  it.each([
    [nameOfPod(nameOfClass(allPods, "Guaranteed"), UID), `/kubepods/pod${UID}`],
    [nameOfPod(nameOfClass(allPods, "Burstable"), UID), `/kubepods/burstable/pod${UID}`],
    [nameOfPod(nameOfClass(allPods, "BestEffort"), UID), `/kubepods/besteffort/pod${UID}`],
    [nameOfClass(nameOfAllPods("/a/b/"), "Burstable"), "/a/b/kubepods/burstable"],
    [[], "/"],
  ])("%j is %s in the file system", (name, path) => {
    expect(cgroupPathOf(name, "cgroupfs")).toBe(path);
  });

  it.each([
    [nameOfPod(nameOfClass(allPods, "Guaranteed"), UID), "/kubepods.slice/kubepods-pod1234_abcd_5678_efgh.slice"],
    [
      nameOfPod(nameOfClass(allPods, "Burstable"), UID),
      "/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod1234_abcd_5678_efgh.slice",
    ],
    [nameOfAllPods("/node-1"), "/node_1.slice/node_1-kubepods.slice"],
    [[], "/"],
  ])("%j is %s where systemd makes them", (name, path) => {
    expect(cgroupPathOf(name, "systemd")).toBe(path);
  });

  it.each(["", "a/b", "../..", "a_b"])("no pod of the UID %j has one", (uid) => {
    expect(() => nameOfPod(allPods, uid)).toThrow(/invalid character in component/);
  });

  it("lead back to the pod, with either driver", () => {
    const uids = fc.stringMatching(/^[0-9a-f]{1,12}(-[0-9a-f]{1,12}){0,4}$/);
    const drivers = fc.constantFrom("cgroupfs", "systemd");
    fc.assert(
      fc.property(uids, drivers, (uid, driver) => {
        const path = cgroupPathOf(nameOfPod(nameOfClass(allPods, "BestEffort"), uid), driver);
        expect(podUidOf(path.slice(path.lastIndexOf("/") + 1), driver)).toBe(uid);
      }),
    );
  });

  it.each([
    ["/kube.slice/kube-own.slice", "systemd", ["kube", "own"]],
    ["system.slice", "systemd", ["system"]],
    ["/system", "systemd", ["system"]],
    ["/node_1.slice", "systemd", ["node-1"]],
    ["/", "systemd", []],
    ["/kube/own.slice", "cgroupfs", ["kube", "own.slice"]],
  ] as const)("%s is configured for %s", (path, driver, name) => {
    expect(partsOfDriverPath(path, driver)).toEqual(name);
  });

  it.each(["burstable", "besteffort", "pod", "0123456789abcdef", "kubepods-podx.slice"])(
    "%s is no pod's in the file system",
    (directory) => {
      expect(podUidOf(directory, "cgroupfs")).toBeUndefined();
    },
  );

  it("are printed as Go prints them", () => {
    expect(describeName(["kubepods", "burstable", "podx"])).toBe("[kubepods burstable podx]");
    expect(quoteName(["kubepods", "burstable"])).toBe('["kubepods" "burstable"]');
  });
});
