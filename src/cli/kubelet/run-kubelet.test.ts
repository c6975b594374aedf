import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import type { NodeAgentConfig } from "../../config/node-agent-config.ts";
import { runKubelet } from "./run-kubelet.ts";

const HEAD = "apiVersion: kubelet.config.k8s.io/v1beta1\nkind: KubeletConfiguration\n";

let directory = "";
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "run-kubelet-"));
});
afterEach(async () => rm(directory, { recursive: true, force: true }));

async function run(...argv: string[]) {
  let stdout = "";
  let stderr = "";
  const started: NodeAgentConfig[] = [];
  const io = {
    stdout: { write: (text: string) => (stdout += text) },
    stderr: { write: (text: string) => (stderr += text) },
  };
  const code = await runKubelet(argv, io, {
    hostname: () => "node-1",
    workingDirectory: () => directory,
    start: async (config) => {
      started.push(config);
      return 0;
    },
  });
  return { code, stdout, stderr, config: started[0] };
}

describe("runKubelet", () => {
  it("starts the node agent with flags over drop-ins over the file", async () => {
    await writeFile(
      join(directory, "k.yaml"),
      `${HEAD}staticPodPath: manifests\nsyncFrequency: 1s\nfileCheckFrequency: 1s`,
    );
    await mkdir(join(directory, "conf.d/sub"), { recursive: true });
    await writeFile(join(directory, "conf.d/20.conf"), `${HEAD}syncFrequency: 3s`);
    await writeFile(join(directory, "conf.d/10.conf"), `${HEAD}syncFrequency: 2s\nhttpCheckFrequency: 2s`);
    await writeFile(join(directory, "conf.d/sub/x.conf"), `${HEAD}healthzPort: 0`);
    await writeFile(join(directory, "conf.d/README.md"), "not a drop-in");
    const { code, stderr, config } = await run(
      "--config=k.yaml",
      "--config-dir",
      "conf.d",
      "--file-check-frequency=4s",
    );
    expect(code).toBe(0);
    expect(config?.kubelet).toMatchObject({
      staticPodPath: join(directory, "manifests"),
      syncFrequency: 3_000,
      httpCheckFrequency: 2_000,
      fileCheckFrequency: 4_000,
      healthzPort: 0,
    });
    expect(stderr.trim().split("\n")).toEqual([
      expect.stringMatching(
        /^W.* "Flag --file-check-frequency has been deprecated, set fileCheckFrequency in the --config file instead"$/,
      ),
    ]);
  });

  it("prints help and version without starting anything", async () => {
    expect(await run("--help", "--version")).toMatchObject({ code: 0, stderr: "", config: undefined });
    expect((await run("-h")).stdout).toMatch(/Usage:\n {2}nodelet kubelet \[flags\]\n\nFlags:\n/);
    expect((await run("--version")).stdout).toMatch(/^Kubernetes v1\.\d+\.\d+\+nodelet\.(\d+\.\d+\.\d+|dev)\n$/);
    expect((await run("--version=v1.30.1")).stdout).toBe("Kubernetes v1.30.1\n");
    expect((await run("--version=false")).config).toBeDefined();
  });

  it.each([
    [["--bogus"], "Error: failed to parse kubelet flag: unknown flag: --bogus\nsee nodelet kubelet --help\n"],
    [["run"], "Error: unknown command run\nsee nodelet kubelet --help\n"],
    [["--max-pods=-1"], "Error: invalid configuration: maxPods (--max-pods) -1 must not be a negative number\n"],
    [["--feature-gates=No=true"], "Error: featureGates (--feature-gates): unrecognized feature gate: No\n"],
    [
      ["--bootstrap-kubeconfig=/b"],
      "Error: --bootstrap-kubeconfig needs --kubeconfig, the file that the bootstrap writes\n",
    ],
    [
      ["--config=/dev/null/x"],
      "Error: failed to load kubelet config file, path: /dev/null/x (--config): not a directory\n",
    ],
    [
      ["--config=/nope.yaml"],
      "Error: failed to load kubelet config file, path: /nope.yaml (--config): no such file or directory\n",
    ],
    [
      ["--config=/dev"],
      "Error: failed to load kubelet config file, path: /dev (--config): dev is not a regular file\n",
    ],
    [
      ["--config-dir=/nope"],
      "Error: failed to read the kubelet config directory /nope (--config-dir): no such file or directory\n",
    ],
  ])("says what is wrong with %j", async (argv, stderr) => {
    expect(await run(...argv)).toMatchObject({ code: 1, stdout: "", stderr, config: undefined });
  });

  it("names the file and the field of a wrong value, and of unknown ones besides", async () => {
    const path = join(directory, "k.yaml");
    await writeFile(path, `${HEAD}maxPods: many\nbogus: 1`);
    const { code, stderr } = await run(`--config=${path}`);
    expect(code).toBe(1);
    expect(stderr).toContain(`Error: maxPods: must be of type int32, not the string "many" (in ${path})\n`);
    expect(stderr).toContain('strict decoding error: unknown field "bogus"\n');
  });

  it("refuses an empty file and one that is too long", async () => {
    await writeFile(join(directory, "empty"), "\n");
    await writeFile(join(directory, "long"), "#".repeat(1024 * 1024 + 1));
    expect((await run("--config=empty")).stderr).toMatch(/the file is empty\n$/);
    expect((await run("--config=long")).stderr).toMatch(/longer than 1048576 bytes\n$/);
  });
});
