import { describe, expect, it } from "vitest";
import { ContainerState, NamespaceMode, PodSandboxState } from "../../src/cri/gen/cri-v1.ts";
import type { Driver } from "./cri-driver.ts";

/** The life of a pod sandbox. */
export function describeSandboxes(current: () => Driver): void {
  describe("sandboxes", () => {
    it("are ready when RunPodSandbox returns, with all that was said of them", async () => {
      const driver = current();
      const before = driver.runtime.clock.now();
      const config = driver.pod();
      const status = await driver.sandboxStatus(await driver.runSandbox(config));
      expect(status.state).toBe(PodSandboxState.SANDBOX_READY);
      expect(status.metadata).toEqual(config.metadata);
      expect(status.labels).toMatchObject(config.labels);
      expect(status.annotations).toEqual(config.annotations);
      expect(status.network?.ip).toMatch(/^10\.\d+\.\d+\.\d+$/);
      expect(Number(status.createdAt / 1_000_000n)).toBeGreaterThanOrEqual(before - 1_000);
    });

    it("have no address of their own on the host network", async () => {
      const driver = current();
      const linux = { securityContext: { namespaceOptions: { network: NamespaceMode.NODE } } };
      const config = driver.pod({ hostname: "", linux });
      const status = await driver.sandboxStatus(await driver.runSandbox(config));
      expect(status.network?.ip ?? "").toBe("");
      expect(status.linux?.namespaces?.options?.network).toBe(NamespaceMode.NODE);
    });

    it("hold their metadata until they are removed, and another attempt is another sandbox", async () => {
      const driver = current();
      const { runtime } = driver.runtime.cri;
      const config = driver.pod();
      const first = await driver.runSandbox(config);
      await driver.runtime.settled(runtime.stopPodSandbox({ podSandboxId: first }));
      await expect(driver.runSandbox(config)).rejects.toThrow("reserved");
      const metadata = { name: "", namespace: "", uid: "", ...config.metadata, attempt: 1 };
      const second = await driver.runSandbox({ ...config, metadata });
      expect(second).not.toBe(first);
      await driver.runtime.settled(runtime.removePodSandbox({ podSandboxId: first }));
      expect(await driver.runSandbox(config)).not.toBe(first);
    });

    it("are not ready and have no address once stopped, and may be stopped twice", async () => {
      const driver = current();
      const { runtime } = driver.runtime.cri;
      const id = await driver.runSandbox(driver.pod());
      for (let time = 0; time < 2; time++) {
        await driver.runtime.settled(runtime.stopPodSandbox({ podSandboxId: id }));
        const status = await driver.sandboxStatus(id);
        expect(status.state).toBe(PodSandboxState.SANDBOX_NOTREADY);
        expect(status.network?.ip ?? "").toBe("");
      }
    });

    it("take their containers along when they stop, and when they are removed", async () => {
      const driver = current();
      const { runtime } = driver.runtime.cri;
      const { id, sandboxId } = await driver.run("sleep 1000");
      await driver.runtime.settled(runtime.stopPodSandbox({ podSandboxId: sandboxId }));
      const status = await driver.status(id);
      expect([status.state, status.exitCode]).toEqual([ContainerState.CONTAINER_EXITED, 137]);
      await driver.runtime.settled(runtime.removePodSandbox({ podSandboxId: sandboxId }));
      await expect(driver.status(id)).rejects.toMatchObject({ code: "not-found" });
    });

    it("are gone once removed, ready or not, and may be removed twice", async () => {
      const driver = current();
      const { runtime } = driver.runtime.cri;
      const id = await driver.runSandbox(driver.pod());
      for (let time = 0; time < 2; time++) await driver.runtime.settled(runtime.removePodSandbox({ podSandboxId: id }));
      await expect(driver.sandboxStatus(id)).rejects.toMatchObject({ code: "not-found" });
      const { items } = await runtime.listPodSandbox({ filter: undefined });
      expect(items).toEqual([]);
    });

    it("are listed by id, state and label", async () => {
      const driver = current();
      const { runtime } = driver.runtime.cri;
      const ready = await driver.runSandbox(driver.pod({ labels: { app: "a", tier: "x" } }));
      const stopped = await driver.runSandbox(driver.pod({ labels: { app: "a" } }));
      await driver.runtime.settled(runtime.stopPodSandbox({ podSandboxId: stopped }));
      const list = async (filter: { id?: string; state?: PodSandboxState; labelSelector?: Record<string, string> }) => {
        const { id = "", labelSelector = {} } = filter;
        const state = filter.state === undefined ? undefined : { state: filter.state };
        const { items } = await runtime.listPodSandbox({ filter: { id, state, labelSelector } });
        return items.map((item) => item.id).sort();
      };
      expect(await list({})).toEqual([ready, stopped].sort());
      expect(await list({ id: stopped })).toEqual([stopped]);
      expect(await list({ state: PodSandboxState.SANDBOX_READY })).toEqual([ready]);
      expect(await list({ state: PodSandboxState.SANDBOX_NOTREADY })).toEqual([stopped]);
      expect(await list({ labelSelector: { app: "a", tier: "x" } })).toEqual([ready]);
      expect(await list({ labelSelector: { app: "b" } })).toEqual([]);
    });
  });
}
