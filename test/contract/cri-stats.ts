import { describe, expect, it } from "vitest";
import { ContainerState } from "../../src/cri/gen/cri-v1.ts";
import type { Driver } from "./cri-driver.ts";

const KIB = 1024;

/** What containers use of the disk, and of which disk. */
export function describeStats(current: () => Driver): void {
  describe("stats", () => {
    const list = async (filter: { podSandboxId?: string; id?: string; uid?: string } = {}) => {
      const { podSandboxId = "", id = "", uid } = filter;
      const labelSelector = uid === undefined ? {} : { "io.kubernetes.container.uid": uid };
      const request = { filter: { id, podSandboxId, labelSelector } };
      return (await current().runtime.cri.runtime.listContainerStats(request)).stats;
    };
    const layerOf = async (containerId: string): Promise<number> => {
      const { stats } = await current().runtime.cri.runtime.containerStats({ containerId });
      return Number(stats?.writableLayer?.usedBytes?.value ?? -1n);
    };

    it("tell how large a container's own layer is, some time after it has written to it", async () => {
      const driver = current();
      const { id } = await driver.run(`echo ${"x".repeat(64 * KIB)} > /written; sleep 1000`);
      await driver.eventually("the layer has grown", async () => (await layerOf(id)) >= 64 * KIB);
      expect(await layerOf(id)).toBeLessThan(1024 * KIB);
    });

    it("name the container as it was made, and are listed by sandbox and id", async () => {
      const driver = current();
      const first = await driver.run("sleep 1000");
      const second = await driver.run("sleep 1000");
      const ids = async (filter: Parameters<typeof list>[0]) => {
        return (await list(filter)).map(({ attributes }) => attributes?.id).sort();
      };
      expect(await ids({})).toEqual([first.id, second.id].sort());
      expect(await ids({ podSandboxId: second.sandboxId })).toEqual([second.id]);
      expect(await ids({ id: first.id })).toEqual([first.id]);
      expect(await ids({ uid: "none" })).toEqual([]);
      const [stats] = await list({ id: first.id });
      expect(stats?.attributes).toMatchObject({
        metadata: { name: "main", attempt: 0 },
        labels: { "io.kubernetes.container.name": "main" },
      });
    });

    it("are those of no container where there is none", async () => {
      const driver = current();
      const request = { containerId: "none" };
      await expect(driver.runtime.cri.runtime.containerStats(request)).rejects.toMatchObject({ code: "not-found" });
    });

    it("stay listed for a container that has exited, with its layer", async () => {
      const driver = current();
      const { id, sandboxId } = await driver.run(`echo ${"x".repeat(64 * KIB)} > /written; exit 0`);
      expect((await driver.untilExited(id)).state).toBe(ContainerState.CONTAINER_EXITED);
      await driver.eventually("the layer has grown", async () => {
        const [stats] = await list({ podSandboxId: sandboxId });
        return Number(stats?.writableLayer?.usedBytes?.value ?? 0n) >= 64 * KIB;
      });
    });

    it("name the directory that holds the images", async () => {
      const { imageFilesystems } = await current().runtime.cri.images.imageFsInfo({});
      expect(imageFilesystems[0]?.fsId?.mountpoint).toMatch(
        /^\/.*\/(io\.containerd\.snapshotter\.v1\.|overlay-images$)/,
      );
    });
  });
}
