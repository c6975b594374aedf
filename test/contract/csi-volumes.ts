import { describe, expect, it } from "vitest";
import type { CsiVolumeUse } from "../../src/csi/port.ts";
import { CAPABILITIES, type CsiUnderTest, mountUse, PATIENCE, publishRequest, stageRequest } from "./csi-under-test.ts";

/** What drivers do with volumes: the parts of the specification that a node agent builds on. */
export function describeVolumes(current: () => CsiUnderTest): void {
  describe("a driver", () => {
    it("says who it is, where, and what it can", async () => {
      const driver = current();
      const node = driver.connect();
      expect((await node.pluginInfo()).name).toBe(driver.name);
      expect(await node.info()).toMatchObject({ maxVolumes: undefined, topology: {} });
      expect(await node.capabilities()).toEqual(new Set(CAPABILITIES));
      driver.configure({ maxVolumes: 7, topology: { "example.com/zone": "a" }, capabilities: ["VOLUME_MOUNT_GROUP"] });
      expect(await node.info()).toMatchObject({ maxVolumes: 7n, topology: { "example.com/zone": "a" } });
      expect(await node.capabilities()).toEqual(new Set(["VOLUME_MOUNT_GROUP"]));
    });

    it("stages, publishes, and takes both back, each as often as it is asked", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      for (let time = 0; time < 2; time += 1) await node.stage(stageRequest(volume));
      for (let time = 0; time < 2; time += 1) await node.publish(publishRequest(volume));
      for (let time = 0; time < 2; time += 1) await node.unpublish(volume);
      for (let time = 0; time < 2; time += 1) await node.unstage(volume);
    });

    it("publishes nothing that is not staged", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      const unstaged = node.publish(publishRequest(volume));
      await expect(unstaged).rejects.toMatchObject({ code: "failed-precondition" });
      await node.stage(stageRequest(volume));
      const withoutPath = node.publish(publishRequest(volume, { stagingPath: undefined }));
      await expect(withoutPath).rejects.toMatchObject({ code: "failed-precondition" });
    });

    it("does not know volumes that do not exist, but lets go of them", async () => {
      const driver = current();
      const volume = { ...(await driver.makeVolume()), volumeId: "nowhere" };
      const node = driver.connect();
      await expect(node.stage(stageRequest(volume))).rejects.toMatchObject({ code: "not-found" });
      await expect(node.unpublish(volume)).resolves.toBeUndefined();
      await expect(node.unstage(volume)).resolves.toBeUndefined();
    });

    it("refuses to do the same in another way", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume));
      const use: CsiVolumeUse = { ...mountUse, accessMode: "MULTI_NODE_READER_ONLY" };
      await expect(node.stage(stageRequest(volume, { use }))).rejects.toMatchObject({ code: "already-exists" });
      const readOnly = node.publish(publishRequest(volume, { readOnly: true }));
      await expect(readOnly).rejects.toMatchObject({ code: "already-exists" });
    });

    it("does not unstage what is published", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume));
      await expect(node.unstage(volume)).rejects.toMatchObject({ code: "failed-precondition" });
      await node.unpublish(volume);
      await node.unstage(volume);
    });

    it("publishes one volume for several pods, unless it is for a single writer", async () => {
      const driver = current();
      driver.configure({ capabilities: [...CAPABILITIES, "SINGLE_NODE_MULTI_WRITER"] });
      const node = driver.connect();
      for (const accessMode of ["SINGLE_NODE_MULTI_WRITER", "SINGLE_NODE_SINGLE_WRITER"] as const) {
        const use: CsiVolumeUse = { ...mountUse, accessMode };
        const volume = await driver.makeVolume();
        await node.stage(stageRequest(volume, { use }));
        await node.publish(publishRequest(volume, { use }));
        const targetPath = `${volume.targetPath}-too`;
        const second = node.publish(publishRequest(volume, { use, targetPath }));
        if (accessMode === "SINGLE_NODE_MULTI_WRITER") await second;
        else await expect(second).rejects.toMatchObject({ code: "failed-precondition" });
      }
    });

    it("that does not stage publishes at once", async () => {
      const driver = current();
      driver.configure({ capabilities: [] });
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await expect(node.stage(stageRequest(volume))).rejects.toMatchObject({ code: "unimplemented" });
      await node.publish(publishRequest(volume, { stagingPath: undefined }));
      await node.unpublish(volume);
    });

    it("makes inline volumes when they are published", async () => {
      const driver = current();
      const volume = { ...(await driver.makeVolume()), volumeId: "csi-0123456789abcdef" };
      const volumeContext = { "csi.storage.k8s.io/ephemeral": "true" };
      const node = driver.connect();
      await node.publish(publishRequest(volume, { stagingPath: undefined, volumeContext }));
      await node.unpublish(volume);
      await expect(node.stage(stageRequest(volume))).rejects.toMatchObject({ code: "not-found" });
    });

    it("refuses what it did not say that it can", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      const grouped: CsiVolumeUse = {
        ...mountUse,
        access: { kind: "mount", fsType: "", mountFlags: [], mountGroup: "2000" },
      };
      for (const use of [grouped, { ...mountUse, accessMode: "SINGLE_NODE_SINGLE_WRITER" } as const]) {
        await expect(node.stage(stageRequest(volume, { use }))).rejects.toMatchObject({ code: "invalid-argument" });
      }
      driver.configure({ capabilities: ["STAGE_UNSTAGE_VOLUME"] });
      await node.stage(stageRequest(volume));
      const { volumeId, stagingPath: volumePath, stagingPath } = volume;
      await expect(node.stats({ volumeId, volumePath })).rejects.toMatchObject({ code: "unimplemented" });
      const expansion = { volumeId, volumePath, stagingPath, requiredBytes: 1n, use: mountUse, secrets: {} };
      await expect(node.expand(expansion)).rejects.toMatchObject({ code: "unimplemented" });
    });

    it("measures and expands where a volume is, and nowhere else", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume));
      const { volumeId, targetPath, stagingPath } = volume;
      const { usage, condition } = await node.stats({ volumeId, volumePath: targetPath, stagingPath });
      expect(usage.map(({ unit }) => unit)).toEqual(["BYTES", "INODES"]);
      for (const { total, available } of usage) expect(total).toBeGreaterThanOrEqual(available);
      expect(condition).toBeUndefined();
      const expansion = { volumeId, stagingPath, requiredBytes: 2n ** 40n, use: mountUse, secrets: {} };
      expect(await node.expand({ ...expansion, volumePath: targetPath })).toBe(2n ** 40n);
      const elsewhere = { volumePath: `${targetPath}-elsewhere` };
      await expect(node.expand({ ...expansion, ...elsewhere })).rejects.toMatchObject({ code: "not-found" });
      await expect(node.stats({ volumeId, ...elsewhere })).rejects.toMatchObject({ code: "not-found" });
    });

    it("says how a volume is, where it can", async () => {
      const driver = current();
      driver.configure({ capabilities: [...CAPABILITIES, "VOLUME_CONDITION"] });
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      const { condition } = await node.stats({ volumeId: volume.volumeId, volumePath: volume.stagingPath });
      expect(condition).toEqual({ abnormal: false, message: "" });
    });

    it("does one thing at a time with a volume", async () => {
      const driver = current();
      const [volume, other] = [await driver.makeVolume(), await driver.makeVolume()];
      const node = driver.connect();
      driver.breakRpc("NodeStageVolume", { when: "before", action: "hang" });
      const controller = new AbortController();
      const hanging = node.stage(stageRequest(volume), { signal: controller.signal }).catch(() => undefined);
      await expect
        .poll(async () => await node.unstage(volume).catch((error: unknown) => error), PATIENCE)
        .toMatchObject({ code: "aborted" });
      await node.unstage(other);
      driver.mend();
      controller.abort();
      await hanging;
      await expect.poll(async () => await node.unstage(volume).catch(() => "busy"), PATIENCE).toBeUndefined();
    });

    it("that died after the effect finds it again", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      driver.breakRpc("NodePublishVolume", { when: "after", action: "crash" });
      await expect(node.publish(publishRequest(volume))).rejects.toMatchObject({ code: "unavailable" });
      driver.mend();
      await driver.restart();
      await expect.poll(async () => await node.publish(publishRequest(volume)).catch(String), PATIENCE).toBeUndefined();
      await node.unpublish(volume);
      await node.unstage(volume);
    });
  });
}
