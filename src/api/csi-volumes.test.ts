import { describe, expect, test } from "vitest";
import { attachmentName, isAttachmentName, parseUniqueVolumeName, uniqueVolumeName } from "./csi-volumes.ts";

describe("the names of a CSI volume", () => {
  test("in a node's status hold the driver and the handle", () => {
    expect(uniqueVolumeName({ driver: "d", volumeHandle: "a^b" })).toBe("kubernetes.io/csi/d^a^b");
    expect(parseUniqueVolumeName("kubernetes.io/csi/d^a^b")).toEqual({ driver: "d", volumeHandle: "a^b" });
    expect(parseUniqueVolumeName("kubernetes.io/nfs/x")).toBeUndefined();
    expect(parseUniqueVolumeName("kubernetes.io/csi/d")).toBeUndefined();
  });

  test("of its attachment are the digest of handle, driver and node", () => {
    // The output of `printf handledrivernode | sha256sum`.
    const name = "csi-fdef298eb16db6fa42906ef1ff09a93a7f3028f8290cc9d71628ff91c237bfa7";
    expect(attachmentName({ driver: "driver", volumeHandle: "handle" }, "node")).toBe(name);
    expect([name, "csi-1", `x${name}`].map(isAttachmentName)).toEqual([true, false, false]);
  });
});
