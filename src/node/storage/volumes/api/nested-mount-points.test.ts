import { expect, it } from "vitest";
import { computeNestedMountPoints } from "./nested-mount-points.ts";

const container = (...mounts: Array<[name: string, mountPath: string]>) => ({
  name: "c",
  volumeMounts: mounts.map(([name, mountPath]) => ({ name, mountPath })),
});

// pkg/volume/util/nested_volumes.go
it.each([
  ["none", [container(["conf", "/etc/app"], ["data", "/data"])], []],
  ["one", [container(["conf", "/etc/app"], ["data", "/etc/app/data"])], ["data"]],
  ["deep", [container(["data", "/etc/app/a/b/"], ["conf", "/etc/app/"])], ["a/b"]],
  ["the outermost of several", [container(["conf", "/e"], ["x", "/e/a"], ["y", "/e/a/b"], ["z", "/e/c"])], ["a", "c"]],
  ["names that begin alike", [container(["conf", "/etc/app"], ["data", "/etc/apps/data"])], []],
  ["alike beneath", [container(["conf", "/e"], ["x", "/e/a"], ["y", "/e/a-b"])], ["a", "a-b"]],
  ["mounted twice", [container(["conf", "/a"], ["conf", "/b"], ["x", "/a/x"], ["y", "/b/y"])], ["x", "y"]],
  ["within itself", [container(["conf", "/a"], ["conf", "/a/b"])], ["b"]],
  ["another container's mounts do not count", [container(["conf", "/a"]), container(["x", "/a/x"])], []],
  [
    "the same in two containers",
    [container(["conf", "/a"], ["x", "/a/x"]), container(["conf", "/a"], ["x", "/a/x"])],
    ["x"],
  ],
  ["a path that only seems to be beneath", [container(["conf", "/a"], ["x", "/a/../b"])], []],
])("%s", (_case, containers, expected) => {
  expect(computeNestedMountPoints({ spec: { containers } }, "conf")).toEqual(expected);
});

it("refuses a mount point outside of the container", () => {
  const containers = [container(["conf", "../../etc"], ["x", "../../etc/x"])];
  expect(() => computeNestedMountPoints({ spec: { containers } }, "conf")).toThrow(
    "invalid container mount point ../../etc",
  );
});
