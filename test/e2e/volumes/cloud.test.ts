import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { settlesOn } from "../cluster/settles.ts";
import { createClaimed, ofClaim, removeClaimed } from "./claims.ts";
import { registeredDrivers, startDriver, type TestDriver } from "./csi-world.ts";
import { createVolumeNode, mountingPod, type VolumeNode } from "./volume-node.ts";

describe("volumes of a cloud", () => {
  let world: VolumeNode;
  let driver: TestDriver;
  beforeAll(async () => {
    world = await createVolumeNode();
    driver = await startDriver(world, "ebs.csi.aws.com");
    await settlesOn(1, async () => (await registeredDrivers(world)).length);
  });
  afterAll(async () => {
    await driver?.stop({ cleanUp: true });
    await world?.destroy();
  });

  it("are brought by the CSI driver that serves them, for a claim and for a pod that names one itself", async () => {
    const awsElasticBlockStore = { volumeID: "aws://eu-1a/vol-1", fsType: "ext4" };
    await createClaimed(world, { name: "disk", source: { awsElasticBlockStore } });
    await world.run(mountingPod("claiming", { volumes: { v: ofClaim("disk") } }));
    await world.shell("claiming", "echo kept > /v/data");
    const { request } = await driver.untilCalled("NodePublishVolume");
    expect(request).toMatchObject({ volumeId: "vol-1", volumeContext: { partition: "0" } });
    const naming = { awsElasticBlockStore: { ...awsElasticBlockStore, volumeID: "vol-1" } };
    await world.run(mountingPod("naming", { volumes: { v: naming } }));
    expect(await world.shell("naming", "cat /v/data")).toBe("kept\n");
    for (const name of ["claiming", "naming"]) expect(await world.end(name)).toEqual([]);
    const undone = ["NodeUnpublishVolume", "NodeUnpublishVolume", "NodeUnstageVolume"];
    const undoings = async () => (await driver.callsFor("vol-1")).filter((call) => /NodeUn/.test(call));
    await settlesOn(undone, undoings);
    expect((await driver.callsFor("vol-1")).filter((call) => call === "NodeStageVolume")).toHaveLength(1);
    await removeClaimed(world, "disk");
  });

  it("that no driver serves keep their pod waiting, and say why", async () => {
    const volumes = { v: { azureDisk: { diskName: "d", diskURI: "/d", kind: "Dedicated" } } };
    await world.create(mountingPod("unserved", { volumes }));
    const { message } = await world.event("unserved", { type: "Warning", reason: "FailedMount" });
    expect(message).toMatch(/kind\(Dedicated\) is not supported in csi migration/);
    expect(await world.end("unserved")).toEqual([]);
  });
});
