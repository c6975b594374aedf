import { describe, expect, it } from "vitest";
import { ContainerConfig, ContainerState, NamespaceMode } from "../../src/cri/gen/cri-v1.ts";
import { CriError } from "../../src/cri/port.ts";
import type { Driver } from "./cri-driver.ts";

/** It says when the trap is set. Before, the first process of a namespace takes no notice of the signal. */
const TRAP = (code: number) => `trap 'exit ${code}' TERM; echo ready; while true; do sleep 0.1; done`;

/** The life of a container, how it is stopped, and what runs in it besides. */
export function describeContainers(current: () => Driver): void {
  describe("containers", () => {
    it("are created, run and exit with their code", async () => {
      const driver = current();
      const config = driver.pod();
      const id = await driver.create({ id: await driver.runSandbox(config), config }, "sleep 1; exit 3");
      const created = await driver.status(id);
      expect(created).toMatchObject({ state: ContainerState.CONTAINER_CREATED, startedAt: 0n, finishedAt: 0n });
      expect(created.metadata).toEqual({ name: "main", attempt: 0 });
      await driver.start(id);
      expect((await driver.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
      const exited = await driver.untilExited(id);
      expect([exited.exitCode, exited.reason]).toEqual([3, "Error"]);
      expect(exited.annotations).toEqual({ "io.kubernetes.container.restartCount": "0" });
      expect(exited.createdAt).toBeLessThanOrEqual(exited.startedAt);
      expect(exited.startedAt).toBeLessThan(exited.finishedAt);
    });

    it("that exit with 0 are completed", async () => {
      const driver = current();
      const { id } = await driver.run(["true"]);
      expect(await driver.untilExited(id)).toMatchObject({ exitCode: 0, reason: "Completed" });
    });

    it("start once", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      await expect(driver.start(id)).rejects.toThrow(/CONTAINER_RUNNING|not in created state: running/);
      await driver.stop(id, 0);
      await expect(driver.start(id)).rejects.toThrow(/CONTAINER_EXITED|not in created state: stopped/);
    });

    it("whose command does not exist fail to start and are exited then", async () => {
      const driver = current();
      const config = driver.pod();
      const id = await driver.create({ id: await driver.runSandbox(config), config }, ["/no/such/program"]);
      await expect(driver.start(id)).rejects.toThrow("/no/such/program");
      const status = await driver.status(id);
      expect(status).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 128, reason: "StartError" });
      expect(status.message).toContain("/no/such/program");
    });

    it("hold their name and attempt until they are removed", async () => {
      const driver = current();
      const { id, sandboxId, config } = await driver.run("exit 0");
      await driver.untilExited(id);
      const again = async (attempt: number) => await driver.create({ id: sandboxId, config }, "exit 0", attempt);
      await expect(again(0)).rejects.toThrow("reserved");
      expect(await again(1)).not.toBe(id);
      await driver.runtime.settled(driver.runtime.cri.runtime.removeContainer({ containerId: id }));
      expect(await again(0)).not.toBe(id);
    });

    it("need a sandbox and an image that exist", async () => {
      const driver = current();
      const config = driver.pod();
      await expect(driver.create({ id: "none", config }, "true")).rejects.toMatchObject({ code: "not-found" });
      const podSandboxId = await driver.runSandbox(config);
      const metadata = { name: "main", attempt: 0 };
      const container = ContainerConfig.fromPartial({ metadata, image: { image: "localhost/none:1" } });
      const { runtime } = driver.runtime.cri;
      const creation = runtime.createContainer({ podSandboxId, config: container, sandboxConfig: config });
      await expect(creation).rejects.toMatchObject({ code: "not-found" });
    });

    it("cannot run in a sandbox that was stopped", async () => {
      const driver = current();
      const config = driver.pod();
      const id = await driver.runSandbox(config);
      await driver.runtime.settled(driver.runtime.cri.runtime.stopPodSandbox({ podSandboxId: id }));
      // containerd 2 notices when the container is started, earlier versions when it is created.
      const start = async () => await driver.start(await driver.create({ id, config }, "true"));
      await expect(start()).rejects.toBeInstanceOf(CriError);
    });

    it("are listed by id, sandbox, state and label", async () => {
      const driver = current();
      const first = await driver.run("sleep 1000");
      const second = await driver.run("exit 0");
      await driver.untilExited(second.id);
      const list = async (filter: { id?: string; podSandboxId?: string; state?: ContainerState; name?: string }) => {
        const { id = "", podSandboxId = "" } = filter;
        const state = filter.state === undefined ? undefined : { state: filter.state };
        const labelSelector = filter.name ? { "io.kubernetes.container.name": filter.name } : {};
        const request = { filter: { id, state, podSandboxId, labelSelector } };
        const { containers } = await driver.runtime.cri.runtime.listContainers(request);
        return containers.map((container) => container.id).sort();
      };
      expect(await list({})).toEqual([first.id, second.id].sort());
      expect(await list({ id: first.id })).toEqual([first.id]);
      expect(await list({ podSandboxId: second.sandboxId })).toEqual([second.id]);
      expect(await list({ state: ContainerState.CONTAINER_RUNNING })).toEqual([first.id]);
      expect(await list({ state: ContainerState.CONTAINER_EXITED, name: "main" })).toEqual([second.id]);
      expect(await list({ name: "other" })).toEqual([]);
    });

    it("that are unknown have no status, and may be removed", async () => {
      const driver = current();
      await expect(driver.status("none")).rejects.toMatchObject({ code: "not-found" });
      await expect(driver.start("none")).rejects.toMatchObject({ code: "not-found" });
      await driver.runtime.cri.runtime.removeContainer({ containerId: "none" });
    });

    it("that run may be removed", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      await driver.runtime.settled(driver.runtime.cri.runtime.removeContainer({ containerId: id }));
      await expect(driver.status(id)).rejects.toMatchObject({ code: "not-found" });
    });
  });

  describeStop(current);
  describeExec(current);
}

function describeStop(current: () => Driver): void {
  describe("stopping a container", () => {
    it("lets it exit by itself within the grace period", async () => {
      const driver = current();
      const { id } = await driver.runUntilPrinted(TRAP(7));
      const before = driver.runtime.clock.now();
      await driver.stop(id, 10);
      expect(driver.runtime.clock.now() - before).toBeLessThan(5_000);
      expect(await driver.status(id)).toMatchObject({ state: ContainerState.CONTAINER_EXITED, exitCode: 7 });
    });

    it("kills one that ignores the signal when the grace period is over", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const before = driver.runtime.clock.now();
      await driver.stop(id, 1);
      expect(driver.runtime.clock.now() - before).toBeGreaterThanOrEqual(990);
      expect(await driver.status(id)).toMatchObject({ exitCode: 137, reason: "Error" });
    });

    it("ends one that shares a PID namespace and has no trap by the signal alone", async () => {
      const driver = current();
      const shared = driver.pod({ linux: { securityContext: { namespaceOptions: { pid: NamespaceMode.POD } } } });
      const { id } = await driver.run(["sleep", "1000"], shared);
      const before = driver.runtime.clock.now();
      await driver.stop(id, 10);
      expect(driver.runtime.clock.now() - before).toBeLessThan(5_000);
      expect((await driver.status(id)).exitCode).toBe(143);
    });

    it("kills at once without a grace period", async () => {
      const driver = current();
      const { id } = await driver.run(TRAP(0));
      await driver.stop(id, 0);
      expect((await driver.status(id)).exitCode).toBe(137);
    });

    it("does nothing to one that has exited or never started", async () => {
      const driver = current();
      const { id, sandboxId, config } = await driver.run("exit 5");
      const exited = await driver.untilExited(id);
      await driver.stop(id, 10);
      expect(await driver.status(id)).toEqual(exited);
      const created = await driver.create({ id: sandboxId, config }, "exit 0", 1);
      await driver.stop(created, 10);
      expect((await driver.status(created)).state).toBe(ContainerState.CONTAINER_CREATED);
    });

    it("goes faster when somebody asks again with a shorter grace period", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const patient = driver.stop(id, 60);
      await driver.runtime.wait(100);
      await driver.stop(id, 1);
      await patient;
      expect((await driver.status(id)).exitCode).toBe(137);
    });

    it("leaves it running when the caller gives up before the grace period is over", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const request = { containerId: id, timeout: 1n };
      const call = driver.runtime.cri.runtime.stopContainer(request, { timeoutMs: 300 });
      await expect(driver.runtime.settled(call)).rejects.toMatchObject({ code: "deadline-exceeded" });
      await driver.runtime.wait(1_500);
      expect((await driver.status(id)).state).toBe(ContainerState.CONTAINER_RUNNING);
    });
  });
}

function describeExec(current: () => Driver): void {
  describe("ExecSync", () => {
    const exec = async (driver: Driver, id: string, how: { cmd: string[]; timeout?: bigint }) =>
      await driver.runtime.settled(
        driver.runtime.cri.runtime.execSync({ containerId: id, cmd: how.cmd, timeout: how.timeout ?? 10n }),
      );

    it("returns what the command printed and its exit code", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const { stdout, exitCode } = await exec(driver, id, { cmd: ["sh", "-c", "echo hello; exit 4"] });
      expect([Buffer.from(stdout).toString(), exitCode]).toEqual(["hello\n", 4]);
    });

    it("fails with deadline-exceeded when the command takes too long", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      const call = exec(driver, id, { cmd: ["sleep", "30"], timeout: 1n });
      await expect(call).rejects.toMatchObject({ code: "deadline-exceeded" });
    });

    it("needs a running container and a command that exists", async () => {
      const driver = current();
      const { id } = await driver.run("sleep 1000");
      await expect(exec(driver, id, { cmd: ["/no/such/program"] })).rejects.toThrow("/no/such/program");
      await driver.stop(id, 0);
      await expect(exec(driver, id, { cmd: ["true"] })).rejects.toThrow(/CONTAINER_EXITED|is not created or running/);
    });
  });
}
