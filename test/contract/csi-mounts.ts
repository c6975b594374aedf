import { spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { existsSync, readFileSync } from "node:fs";
import { mkdir, mkdtemp, open, readFile, rm, stat, statfs, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, it } from "vitest";
import { connectCsi } from "../../src/csi/connect.ts";
import type { CsiVolumeUse } from "../../src/csi/port.ts";
import { isMounted, loopDevicesOf } from "../e2e/csi-driver/programs.ts";
import { startCsiDriver } from "../e2e/csi-driver/start-csi-driver.ts";
import {
  CAPABILITIES,
  mountUse,
  PATIENCE,
  publishRequest,
  stageRequest,
  type startDriverProcess,
} from "./csi-under-test.ts";

type DriverUnderTest = Awaited<ReturnType<typeof startDriverProcess>>;

/** What only a driver that mounts can show. */
export function describeMounts(current: () => DriverUnderTest): void {
  describe("a volume on the machine", () => {
    /** As `makeVolume`, but with a size of its own. */
    const makeSized = async (kind: "image" | "memory") => {
      const driver = current();
      const volume = await driver.makeVolume();
      driver.process.control({ volumes: { [volume.volumeId]: { kind, sizeBytes: 16 * MIB } } });
      const image = join(driver.process.volumesDirectory, `${volume.volumeId}.img`);
      return { driver, volume, image, node: driver.connect() };
    };

    it("is what is seen at the target path, which is made and removed", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume));
      await writeFile(join(volume.targetPath, "file"), "content");
      await node.unpublish(volume);
      expect(existsSync(volume.targetPath)).toBe(false);
      await node.unstage(volume);
      expect(await isMounted(volume.stagingPath)).toBe(false);
      expect(existsSync(volume.stagingPath)).toBe(true);
      const backing = join(driver.process.volumesDirectory, volume.volumeId, "file");
      expect(await readFile(backing, "utf8")).toBe("content");
    });

    it("is read-only where it was published so, and nowhere else", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume, { readOnly: true }));
      await expect(writeFile(join(volume.targetPath, "file"), "")).rejects.toMatchObject({ code: "EROFS" });
      await writeFile(join(volume.stagingPath, "file"), "");
      await node.unpublish(volume);
    });

    it("belongs to the group that was asked for", async () => {
      const driver = current();
      driver.configure({ capabilities: [...CAPABILITIES, "VOLUME_MOUNT_GROUP"] });
      const volume = await driver.makeVolume();
      const node = driver.connect();
      const use: CsiVolumeUse = {
        ...mountUse,
        access: { kind: "mount", fsType: "", mountFlags: [], mountGroup: "2000" },
      };
      await node.stage(stageRequest(volume, { use }));
      const { gid, mode } = await stat(volume.stagingPath);
      expect([gid, mode & 0o2070]).toEqual([2000, 0o2070]);
      await node.unstage(volume);
    });

    const whyNot = (kind: "image" | "memory") =>
      kind === "image" && !canResize ? "growing a mounted ext4 needs CAP_SYS_RESOURCE" : undefined;
    const kinds = ["memory", "image"] as const;
    const cannot = kinds.filter(whyNot);
    if (cannot.length > 0) console.warn(`SKIPPED: ${cannot.length} case of a growing volume: ${cannot.map(whyNot)}`);
    describe.each(kinds)("of the kind %s", (kind) => {
      it.skipIf(whyNot(kind))("grows while it is in use", async () => {
        const { volume, image, node } = await makeSized(kind);
        await node.stage(stageRequest(volume));
        await node.publish(publishRequest(volume));
        const { volumeId, targetPath, stagingPath } = volume;
        const before = await statfs(targetPath);
        expect(before.blocks * before.bsize).toBeLessThanOrEqual(16 * MIB);
        const request = { volumeId, stagingPath, requiredBytes: BigInt(64 * MIB), use: mountUse, secrets: {} };
        expect(await node.expand({ ...request, volumePath: targetPath })).toBe(BigInt(64 * MIB));
        const { usage } = await node.stats({ volumeId, volumePath: targetPath, stagingPath });
        expect(Number(usage[0]?.total)).toBeGreaterThan(32 * MIB);
        await node.unpublish(volume);
        await node.unstage(volume);
        if (kind === "image") expect(await loopDevicesOf(image)).toEqual([]);
      });
    });

    it("is a device where it is asked for as a block device, read-only where so asked", async () => {
      const { volume, image, node } = await makeSized("image");
      const use: CsiVolumeUse = { ...mountUse, access: { kind: "block" } };
      await node.stage(stageRequest(volume, { use }));
      await node.publish(publishRequest(volume, { use }));
      const reader = { ...volume, targetPath: `${volume.targetPath}-reader` };
      await node.publish(publishRequest(reader, { use, readOnly: true }));
      expect((await stat(volume.targetPath)).isBlockDevice()).toBe(true);
      await write(volume.targetPath, "written raw");
      expect((await readFile(image)).subarray(0, 11).toString()).toBe("written raw");
      await expect(write(reader.targetPath, "no")).rejects.toMatchObject({
        code: expect.stringMatching(/EPERM|EROFS|EACCES/),
      });
      for (const { targetPath } of [volume, reader]) {
        await node.unpublish({ volumeId: volume.volumeId, targetPath });
        expect(existsSync(targetPath)).toBe(false);
      }
      await node.unstage(volume);
      expect(await loopDevicesOf(image)).toEqual([]);
    });

    it("stays mounted, once, when the driver is killed after the mount and asked again", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const node = driver.connect();
      await node.stage(stageRequest(volume));
      driver.breakRpc("NodePublishVolume", { when: "after", action: "crash" });
      await expect(node.publish(publishRequest(volume))).rejects.toMatchObject({ code: "unavailable" });
      await driver.process.ended();
      expect(await isMounted(volume.targetPath)).toBe(true);
      driver.mend();
      await driver.restart();
      await expect.poll(async () => await node.publish(publishRequest(volume)).catch(String), PATIENCE).toBeUndefined();
      const table = await readFile("/proc/self/mountinfo", "utf8");
      expect(table.split("\n").filter((line) => line.split(" ")[4] === volume.targetPath)).toHaveLength(1);
      await node.unpublish(volume);
      await node.unstage(volume);
    });
  });

  describe("the journal", () => {
    it("has every call with its outcome, and secrets by their names only", async () => {
      const driver = current();
      const volume = await driver.makeVolume();
      const tokens = JSON.stringify({ vault: { token: "eyJ0b2tlbg", expirationTimestamp: "2026-01-01T00:00:00Z" } });
      const volumeContext = { "csi.storage.k8s.io/serviceAccount.tokens": tokens, share: "a" };
      const secrets = { password: "sesame", user: "ali baba" };
      const publish = publishRequest(volume, { secrets, volumeContext });
      await expect(driver.connect().publish(publish)).rejects.toMatchObject({ code: "failed-precondition" });
      const call = (await driver.process.calls()).at(-1);
      expect(call).toMatchObject({ rpc: "NodePublishVolume", outcome: "failed-precondition", pid: driver.process.pid });
      const digest = createHash("sha256").update("eyJ0b2tlbg").digest("hex").slice(0, 12);
      expect(call?.request).toMatchObject({
        volumeId: volume.volumeId,
        secretNames: ["password", "user"],
        volumeContext: { share: "a" },
        tokens: { vault: { digest, expirationTimestamp: "2026-01-01T00:00:00Z" } },
      });
      expect(JSON.stringify(call)).not.toMatch(/sesame|baba|eyJ0b2tlbg/);
    });

    it("tells a call that the driver died in from one that ended", async () => {
      const driver = current();
      driver.breakRpc("NodeGetInfo", { when: "before", action: "crash" });
      await expect(driver.connect().info()).rejects.toMatchObject({ code: "unavailable" });
      driver.mend();
      await driver.restart();
      await driver.connect().info();
      await driver.process.untilCalled("NodeGetInfo", { where: ({ pid }) => pid === driver.process.pid });
      const outcomes = (await driver.process.calls()).filter(({ rpc }) => rpc === "NodeGetInfo").slice(-2);
      expect(outcomes.map(({ outcome }) => outcome)).toEqual([undefined, "ok"]);
    });
  });

  it("a fault strikes as many times as it was told, also over restarts", async () => {
    const driver = current();
    const node = driver.connect();
    driver.process.control({ faults: { NodeGetInfo: { action: "fail", code: "aborted", times: 2 } } });
    await expect(node.info()).rejects.toMatchObject({ code: "aborted" });
    await driver.restart();
    await expect.poll(async () => await driver.connect().info().catch(String), PATIENCE).toMatch("code = Aborted");
    await expect(driver.connect().info()).resolves.toMatchObject({ nodeId: "test-node" });
  });

  describe("a driver that is asked to end", () => {
    const startOther = async () => {
      const directory = await mkdtemp(join(tmpdir(), "nodelet-csi-"));
      const name = "other.csi.example.com";
      const driver = await startCsiDriver({ name, rootDirectory: directory, directory: join(directory, "driver") });
      const volume = {
        volumeId: "a/b",
        stagingPath: join(directory, "staging"),
        targetPath: join(directory, "target"),
      };
      await mkdir(volume.stagingPath);
      const node = connectCsi({ endpoint: driver.socket, driverName: name });
      await node.stage(stageRequest(volume));
      await node.publish(publishRequest(volume));
      return { directory, driver, volume, node };
    };

    it("leaves its mounts, and finds them when it is started again", async () => {
      const { directory, driver, volume, node } = await startOther();
      await driver.stop();
      expect([existsSync(driver.socket), existsSync(driver.registrationSocket)]).toEqual([false, false]);
      expect(await isMounted(volume.targetPath)).toBe(true);
      await driver.restart();
      await expect.poll(async () => await node.unstage(volume).catch(String), PATIENCE).toContain("still published");
      await node.unpublish(volume);
      await node.unstage(volume);
      await driver.stop();
      await rm(directory, { recursive: true });
    });

    it("cleans up if it is told so", async () => {
      const { directory, driver, volume, node } = await startOther();
      node.close();
      await driver.stop({ cleanUp: true });
      expect([await isMounted(volume.targetPath), await isMounted(volume.stagingPath)]).toEqual([false, false]);
      expect(existsSync(volume.targetPath)).toBe(false);
      await rm(directory, { recursive: true });
    });
  });

  it("an idle connection does not keep a process alive", async () => {
    const { socket } = current().process;
    const connect = fileURLToPath(new URL("../../src/csi/connect.ts", import.meta.url));
    const script = `
      import { connectCsi } from ${JSON.stringify(connect)};
      const node = connectCsi({ endpoint: ${JSON.stringify(socket)}, driverName: "x" });
      console.log((await node.info()).nodeId);
    `;
    const child = spawn(process.execPath, ["--import", "tsx", "--input-type=module", "--eval", script], {
      stdio: ["ignore", "pipe", "inherit"],
      timeout: 30_000,
    });
    let output = "";
    child.stdout.on("data", (chunk: Buffer) => {
      output += chunk.toString();
    });
    const code = await new Promise((resolve) => child.once("close", resolve));
    expect([code, output]).toEqual([0, "test-node\n"]);
  });
}

const MIB = 1024 * 1024;

/** The bit of this capability in `CapEff`, which lists those of a process as the bits of one number. */
const CAP_SYS_RESOURCE = 24n;
const effective = /^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync("/proc/self/status", "utf8"))?.[1] ?? "0";
const canResize = ((BigInt(`0x${effective}`) >> CAP_SYS_RESOURCE) & 1n) === 1n;

async function write(path: string, text: string): Promise<void> {
  const file = await open(path, "r+");
  try {
    await file.write(text);
    await file.sync();
  } finally {
    await file.close();
  }
}
