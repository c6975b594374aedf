import { describe, expect, it } from "vitest";
import type { Container } from "../../../api/gen/types.ts";
import { computeContainerHash, isSameContainer } from "./container-hash.ts";

const CONTAINER: Container = { name: "test_container", image: "foo/image:v1" };

describe("computeContainerHash", () => {
  it("is kubelet 1.31's: upstream's test records this value", () => {
    const args = ["/bin/sh", "-c", "echo abc"];
    expect(computeContainerHash({ ...CONTAINER, args, ports: [{ containerPort: 8001 }] })).toBe("8e45cbd0");
  });

  it.each([
    { why: "another image", other: { image: "foo/image:v2" } },
    { why: "another name", other: { name: "other" } },
  ])("changes with $why", ({ other }) => {
    expect(computeContainerHash({ ...CONTAINER, ...other })).not.toBe(computeContainerHash(CONTAINER));
  });
});

describe("isSameContainer", () => {
  // Recorded from a kubelet 1.28.7.
  const adopted: Container = {
    name: "main",
    image: "registry.k8s.io/e2e-test-images/busybox:1.29-4",
    command: ["sh", "-c", "exit 1"],
    imagePullPolicy: "IfNotPresent",
    resources: {},
    terminationMessagePath: "/dev/termination-log",
    terminationMessagePolicy: "File",
  };

  it("accepts our own hash and that of older kubelets", () => {
    expect(isSameContainer(adopted, computeContainerHash(adopted))).toBe(true);
    expect(isSameContainer(adopted, "634e44c")).toBe(true);
  });

  it("accepts an older hash of a container that was defaulted since", () => {
    const resizePolicy = [{ resourceName: "cpu", restartPolicy: "NotRequired" }];
    expect(isSameContainer({ ...adopted, resizePolicy }, "634e44c")).toBe(true);
  });

  it("refuses a changed container and a missing hash", () => {
    expect(isSameContainer({ ...adopted, command: ["true"] }, "634e44c")).toBe(false);
    expect(isSameContainer(adopted, "")).toBe(false);
  });
});
