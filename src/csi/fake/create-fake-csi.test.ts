import { describe, expect, it } from "vitest";
import { CodedError } from "../../base/errors.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import type { CsiPublishRequest, CsiVolumeUse } from "../port.ts";
import { createFakeCsi } from "./create-fake-csi.ts";

const use: CsiVolumeUse = {
  accessMode: "SINGLE_NODE_WRITER",
  access: { kind: "mount", fsType: "", mountFlags: [] },
};
const request: CsiPublishRequest = {
  volumeId: "v",
  publishContext: {},
  stagingPath: "/staging",
  targetPath: "/pods/target",
  use,
  readOnly: false,
  secrets: { password: "sesame" },
  volumeContext: {},
};
const staging = { ...request, stagingPath: "/staging" };

async function createRig() {
  const host = createFakeHost();
  const mounts = { files: host.files, mounts: host.mounts, dataDirectory: "/var/lib/csi" };
  const csi = createFakeCsi({ clock: host.clock, volumes: { v: {} }, mounts });
  for (const path of ["/staging", "/pods"]) await host.files.makeDirectory(path, 0o755);
  return { host, csi, node: csi.connect() };
}

describe("a fake driver on a fake machine", () => {
  it("mounts what it stages and publishes", async () => {
    const { host, csi, node } = await createRig();
    await node.stage(staging);
    await node.publish(request);
    await host.files.replace("/pods/target/file", "content", 0o644);
    expect(String(await host.files.read("/var/lib/csi/v/file", 100))).toBe("content");
    expect([...csi.staged.keys(), ...csi.published.keys()]).toEqual(["/staging", "/pods/target"]);
    await node.unpublish(request);
    await node.unstage(staging);
    expect(await host.files.stat("/pods/target")).toBeUndefined();
    expect(await host.mounts.isMountPoint("/staging")).toBe(false);
    expect([csi.staged.size, csi.published.size]).toEqual([0, 0]);
  });

  it("shows a block device as a file of its own", async () => {
    const { host, node } = await createRig();
    const block = { ...request, use: { ...use, access: { kind: "block" } } } as const;
    await node.stage({ ...block, stagingPath: "/staging" });
    expect(await host.mounts.isMountPoint("/staging")).toBe(false);
    await node.publish(block);
    expect(await host.mounts.isMountPoint("/pods/target")).toBe(true);
    await node.unpublish(block);
    expect(await host.files.stat("/pods/target")).toBeUndefined();
  });

  it("that dies after the mount mounts once when it is asked again", async () => {
    const { host, csi, node } = await createRig();
    await node.stage(staging);
    csi.faults.after = () => csi.stop();
    await expect(node.publish(request)).rejects.toMatchObject({ code: "unavailable" });
    expect(await host.mounts.isMountPoint("/pods/target")).toBe(true);
    delete csi.faults.after;
    csi.start();
    await node.publish(request);
    const at = (await host.mounts.list()).filter(({ path }) => path === "/pods/target");
    expect(at).toHaveLength(1);
  });
});

it("a driver that forgot everything in a reboot is asked for everything again", async () => {
  const { csi, node } = await createRig();
  await node.stage(staging);
  csi.reboot();
  await expect(node.publish(request)).rejects.toMatchObject({ code: "failed-precondition" });
});

it("calls are kept with how they ended", async () => {
  const { csi, node } = await createRig();
  await node.stage(staging);
  csi.faults.before = () => {
    throw new CodedError("aborted", "busy");
  };
  await expect(node.publish(request)).rejects.toMatchObject({ code: "aborted", detail: "busy" });
  expect(csi.calls).toMatchObject([
    { rpc: "NodeStageVolume", outcome: "ok", request: { volumeId: "v", secrets: { password: "sesame" } } },
    { rpc: "NodePublishVolume", outcome: "aborted" },
  ]);
});

it("a volume grows as far as it can", async () => {
  const { csi, node } = await createRig();
  csi.volumes.set("v", { capacityBytes: 5n, condition: undefined, maxCapacityBytes: 10n });
  await node.stage(staging);
  const grow = async (requiredBytes: bigint) =>
    await node.expand({ ...staging, volumePath: "/staging", requiredBytes });
  expect(await grow(3n)).toBe(5n);
  expect(await grow(10n)).toBe(10n);
  await expect(grow(11n)).rejects.toMatchObject({ code: "out-of-range" });
});
