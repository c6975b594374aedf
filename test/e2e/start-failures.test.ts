import { spawnSync } from "node:child_process";
import { closeSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { mayMount } from "../contract/host-mount-rights.ts";
import { claimPort } from "../machine/claims.ts";
import { occupyPort, runProgram, startProgram } from "./program.ts";

/** The place of SQLite's `user_version` in a database's first page, which is the journal's format. */
const FORMAT_OFFSET = 60;

describe("a start that fails", () => {
  let directory: string;
  let apiPort: number;
  const mounted: string[] = [];

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), "nodelet-start-"));
    apiPort = await claimPort();
  });
  afterEach(() => {
    for (const path of mounted.splice(0)) spawnSync("umount", ["--lazy", path]);
    rmSync(directory, { recursive: true, force: true });
  });

  function mountDisk(options: string): string {
    const path = join(directory, "disk");
    mkdirSync(path);
    const { status, stderr } = spawnSync("mount", ["-t", "tmpfs", "-o", options, "nodelet-start", path]);
    if (status !== 0) throw new Error(String(stderr));
    mounted.push(path);
    return path;
  }

  /** False when something still has a file open there. */
  function unmountDisk(): boolean {
    const path = mounted.pop() ?? "";
    const isUnmounted = spawnSync("umount", [path]).status === 0;
    if (!isUnmounted) mounted.push(path);
    return isUnmounted;
  }

  const controlPlane = (stateDirectory: string) => [
    "control-plane",
    `--state-dir=${stateDirectory}`,
    `--api-port=${apiPort}`,
  ];
  const kubelet = async (...flags: string[]) => [
    "kubelet",
    `--port=${await claimPort()}`,
    `--root-dir=${directory}`,
    `--cert-dir=${directory}/pki`,
    "--healthz-port=0",
    "--fail-swap-on=false",
    "--make-iptables-util-chains=false",
    `--container-runtime-endpoint=unix://${directory}/none.sock`,
    ...flags,
  ];

  /** It ends by itself with code 1, and says why once and without a stack. */
  async function expectFailure(args: readonly string[], words: RegExp): Promise<void> {
    const { code, stderr } = await runProgram(...args);
    expect(stderr).toMatch(words);
    expect(stderr).not.toMatch(/\n\s+at /);
    expect(stderr).not.toContain("Exiting while calls");
    expect(stderr.match(/^nodelet: |failed to run Kubelet|^Error: /gm), stderr).toHaveLength(1);
    expect(code).toBe(1);
  }

  /** Lets a control plane make its files, and ends it. */
  async function makeCluster(): Promise<string> {
    const first = startProgram(...controlPlane(directory));
    await expect.poll(first.output).toContain("is served at");
    first.child.kill("SIGTERM");
    expect((await first.result).code).toBe(0);
    return join(directory, "control-plane");
  }

  it.skipIf(process.getuid?.() !== 0)("of up says why in its log, too", async () => {
    const range = ["--service-cidr=10.96.0.0/30", `--state-dir=${directory}`, `--api-port=${apiPort}`];
    await expectFailure(["up", ...range], /has no tenth address for the cluster's DNS/);
    const log = readFileSync(join(directory, "nodelet.log"), "utf8");
    expect(log).toMatch(/cannot go on.*has no tenth address for the cluster's DNS/);
  });

  describe("of the control plane ends by itself", () => {
    it("when a file is in the place of its directory", async () => {
      writeFileSync(join(directory, "control-plane"), "");
      await expectFailure(
        controlPlane(directory),
        /control-plane\/pki cannot be used for certificates: .*(ENOTDIR|EEXIST)/,
      );
    });

    it.each([
      [
        "a key that is a directory",
        (pki: string) => [rmSync(`${pki}/ca.key`), mkdirSync(`${pki}/ca.key`)],
        /pki cannot be used for certificates: EISDIR/,
      ],
      [
        "a lost authority",
        (pki: string) => rmSync(`${pki}/ca.key`),
        /certificate authority of .* is damaged or incomplete/,
      ],
    ])("when its certificates have %s", async (_what, damage, words) => {
      damage(join(await makeCluster(), "pki"));
      await expectFailure(controlPlane(directory), words);
    });

    it("when its journal is of a newer version", async () => {
      const file = openSync(join(await makeCluster(), "store", "journal.db"), "r+");
      writeSync(file, Buffer.from([0, 0, 0, 200]), 0, 4, FORMAT_OFFSET);
      closeSync(file);
      await expectFailure(controlPlane(directory), /has format 200, of a newer version/);
    });

    it("when another one has the journal", async () => {
      const first = startProgram(...controlPlane(directory));
      await expect.poll(first.output).toContain("is served at");
      await expectFailure(
        [...controlPlane(directory), `--api-port=${await claimPort()}`],
        /store is in use by process \d+/,
      );
      first.child.kill("SIGTERM");
      expect((await first.result).code).toBe(0);
    });

    it("when its port is taken, and gives the journal back", async () => {
      const { server, port } = await occupyPort();
      await expectFailure([...controlPlane(directory), `--api-port=${port}`], new RegExp(`${port}.*\\(--api-port\\)`));
      server.close();
      await makeCluster();
    });

    it("when its kubeconfig cannot be written", async () => {
      mkdirSync(join(directory, "kubeconfig"));
      await expectFailure(controlPlane(directory), /cannot write .*kubeconfig: /);
    });
  });

  describe.skipIf(!mayMount())("on a disk of its own (needs root with CAP_SYS_ADMIN)", () => {
    it.each(["4k", "60k", "100k", "250k", "2m"])(
      "of %s ends the control plane, which names the directory and the mend",
      async (size) => {
        const disk = mountDisk(`size=${size}`);
        await expectFailure(controlPlane(disk), new RegExp(`${disk}/[^]*[Mm]ake room`));
        expect(unmountDisk()).toBe(true);
      },
    );

    it("that is read-only ends the control plane", async () => {
      const disk = mountDisk("ro");
      await expectFailure(controlPlane(disk), /pki cannot be used for certificates: EROFS/);
      expect(unmountDisk()).toBe(true);
    });
  });

  it("of the node agent ends by itself when its kubeconfig makes no sense", async () => {
    writeFileSync(join(directory, "kubeconfig"), "kind: [");
    const flags = [`--root-dir=${directory}/kubelet`, `--kubeconfig=${directory}/kubeconfig`];
    await expectFailure(await kubelet(...flags), /kubeconfig/);
  });
});
