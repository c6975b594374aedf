import { describe, expect, it } from "vitest";
import { isAbort } from "../../src/base/abort.ts";
import { createMetrics } from "../../src/base/metrics.ts";
import { CsiError, isCsiError, isFinalCsiError } from "../../src/csi/port.ts";
import { CAPABILITIES, type CsiUnderTest, PATIENCE, publishRequest, stageRequest } from "./csi-under-test.ts";

/** What is true of every call: how it fails, how it ends, what is counted. */
export function describeCalls(current: () => CsiUnderTest): void {
  describe("a call", () => {
    it("that fails says which, of which driver, and what the driver said", async () => {
      const driver = current();
      driver.breakRpc("NodeStageVolume", { when: "before", action: "fail", code: "internal", detail: "no such disk" });
      const failed = driver.connect().stage(stageRequest(await driver.makeVolume()));
      const error: unknown = await failed.catch((thrown: unknown) => thrown);
      expect(error).toBeInstanceOf(CsiError);
      expect(error).toMatchObject({
        code: "internal",
        rpc: "NodeStageVolume",
        detail: "no such disk",
        message: "rpc error: code = Internal desc = no such disk",
      });
      expect(isFinalCsiError(error)).toBe(true);
    });

    it("that fails repeats no secret of its request", async () => {
      const driver = current();
      const detail = 'bad password "sesame" of \\"two\\nlines\\" with eyJ0b2tlbg';
      driver.breakRpc("NodePublishVolume", { when: "before", action: "fail", code: "permission-denied", detail });
      const tokens = JSON.stringify({ vault: { token: "eyJ0b2tlbg", expirationTimestamp: "2026-01-01T00:00:00Z" } });
      const request = publishRequest(await driver.makeVolume(), {
        secrets: { password: "sesame", key: "two\nlines" },
        volumeContext: { "csi.storage.k8s.io/serviceAccount.tokens": tokens },
      });
      const error: unknown = await driver
        .connect()
        .publish(request)
        .catch((thrown: unknown) => thrown);
      if (!isCsiError(error)) throw error;
      const stripped = "***stripped***";
      expect(error.detail).toBe(`bad password "${stripped}" of \\"${stripped}\\" with ${stripped}`);
      expect(`${error.message} ${error.stack} ${JSON.stringify(error)}`).not.toMatch(/sesame|lines|eyJ0b2tlbg/);
      expect(error.cause).toBeUndefined();
    });

    it("that hangs ends when its time is over, and nobody knows what came of it", async () => {
      const driver = current();
      driver.breakRpc("NodeGetInfo", { when: "before", action: "hang" });
      const failed = driver.connect({ requestTimeoutMs: 300 }).info();
      const error: unknown = await driver.settled(failed.catch((thrown: unknown) => thrown));
      expect(error).toMatchObject({ code: "deadline-exceeded", rpc: "NodeGetInfo" });
      expect(isFinalCsiError(error)).toBe(false);
      const own = driver.connect().info({ timeoutMs: 200 });
      await expect(driver.settled(own)).rejects.toMatchObject({ code: "deadline-exceeded" });
    });

    it("ends when its signal fires, before and after it began", async () => {
      const driver = current();
      driver.breakRpc("NodeGetInfo", { when: "before", action: "hang" });
      const controller = new AbortController();
      const { signal } = controller;
      const node = driver.connect();
      const outcome = node.info({ signal }).then(
        () => "returned",
        (error: unknown) => (isAbort(error) ? "aborted" : error),
      );
      controller.abort();
      expect(await outcome).toBe("aborted");
      await expect(node.capabilities({ signal })).rejects.toMatchObject({ name: "AbortError" });
    });

    it("ends when its connection is closed, which takes no more", async () => {
      const driver = current();
      driver.breakRpc("NodeGetInfo", { when: "before", action: "hang" });
      const node = driver.connect();
      const waiting = node.info();
      node.close();
      await expect(waiting).rejects.toMatchObject({ code: "cancelled" });
      await expect(node.capabilities()).rejects.toMatchObject({ code: "cancelled" });
      await expect(driver.connect().capabilities()).resolves.toEqual(new Set(CAPABILITIES));
    });

    it("finds a driver again that was started anew, over the same connection", async () => {
      const driver = current();
      const node = driver.connect();
      await node.info();
      driver.breakRpc("NodeGetCapabilities", { when: "before", action: "crash" });
      const error: unknown = await node.capabilities().catch((thrown: unknown) => thrown);
      expect(error).toMatchObject({ code: "unavailable" });
      expect(isFinalCsiError(error)).toBe(false);
      driver.mend();
      await driver.restart();
      await expect.poll(async () => await node.capabilities().catch(String), PATIENCE).toEqual(new Set(CAPABILITIES));
    });

    it("is timed under upstream's name, by driver, method and outcome", async () => {
      const driver = current();
      const metrics = createMetrics();
      const node = driver.connect({ metrics });
      await node.info();
      const request = stageRequest({ ...(await driver.makeVolume()), volumeId: "nowhere" });
      await expect(node.stage({ ...request, secrets: { password: "sesame" } })).rejects.toThrow();
      // A second driver's connection counts in the same registry.
      await driver.connect({ metrics }).info();
      const text = await metrics.render();
      const line = (method: string, status: string) =>
        `csi_operations_seconds_count{driver_name="${driver.name}",method_name="/csi.v1.Node/${method}",grpc_status_code="${status}",migrated="false"}`;
      expect(text).toContain(`${line("NodeGetInfo", "OK")} 2`);
      expect(text).toContain(`${line("NodeStageVolume", "NotFound")} 1`);
      expect(text).not.toContain("sesame");
    });
  });
}
