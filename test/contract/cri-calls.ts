import { describe, expect, it } from "vitest";
import { isAbort } from "../../src/base/abort.ts";
import { ContainerState } from "../../src/cri/gen/cri-v1.ts";
import { CriError } from "../../src/cri/port.ts";
import type { Driver } from "./cri-driver.ts";

/** What is true of every RPC: who answers, how it fails, how it ends. */
export function describeCalls(current: () => Driver): void {
  describe("calls", () => {
    it("say who answers, and in which state it is", async () => {
      const { runtime } = current().runtime.cri;
      const version = await runtime.version({ version: "" });
      expect(version.runtimeApiVersion).toBe("v1");
      expect(version.runtimeName).not.toBe("");
      const { status } = await runtime.status({ verbose: false });
      expect(status?.conditions.map(({ type, status }) => [type, status]).slice(0, 2)).toEqual([
        ["RuntimeReady", true],
        ["NetworkReady", true],
      ]);
    });

    it("that fail name the RPC", async () => {
      const failed = current().status("none");
      await expect(failed).rejects.toBeInstanceOf(CriError);
      await expect(failed).rejects.toThrow("ContainerStatus at unix:///");
    });

    it("end when their signal fires, before and after they began", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const controller = new AbortController();
      const { runtime } = driver.runtime.cri;
      const stop = runtime.stopContainer({ containerId: id, timeout: 30n }, { signal: controller.signal });
      const outcome = stop.then(
        () => "returned",
        (error: unknown) => (isAbort(error) ? "aborted" : error),
      );
      await driver.runtime.wait(200);
      controller.abort();
      expect(await outcome).toBe("aborted");
      const late = runtime.version({ version: "" }, { signal: controller.signal });
      await expect(late).rejects.toMatchObject({ name: "AbortError" });
    });

    it("work again after the runtime restarted, and containers have not noticed", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const before = await driver.status(id);
      await driver.runtime.restart();
      await driver.eventually("the runtime answers", async () => {
        return await driver.status(id).then(
          () => true,
          () => false,
        );
      });
      const after = await driver.status(id);
      expect([after.state, after.startedAt]).toEqual([ContainerState.CONTAINER_RUNNING, before.startedAt]);
      await driver.stop(id, 0);
    });
  });
}
