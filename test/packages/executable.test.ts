import { spawn, spawnSync } from "node:child_process";
import {
  chmodSync,
  copyFileSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { runTool } from "../../scripts/packages/run-tool.ts";
import { createApiClient } from "../contract/api/client.ts";
import { credentialsOf } from "../contract/api/credentials-of.ts";
import { buildPackages, OUTPUT } from "./build-packages.ts";

let directory: string;
let program: string;
let programs: string;
beforeAll(() => {
  // The system's temporary directory is one that others may write to.
  directory = mkdtempSync(join(homedir(), "nodelet-executable-"));
  program = join(directory, "nodelet");
  programs = join(directory, "programs");
  copyFileSync(
    join(OUTPUT, readdirSync(OUTPUT).find((name) => /^nodelet-[^-]+-linux-[a-z0-9]+$/.test(name)) ?? ""),
    program,
  );
});
afterAll(() => rmSync(directory, { recursive: true, force: true }));

const run = (path: string, ...args: string[]) => {
  const env = { PATH: "/nonexistent", HOME: directory, NODELET_PROGRAM_DIRECTORY: programs };
  const { status, stdout, stderr } = spawnSync(path, args, { encoding: "utf8", env, cwd: "/" });
  return { status, stdout, stderr };
};

it("runs without a Node.js on the machine, by each of its names", () => {
  expect(run(program, "version")).toEqual({
    status: 0,
    stdout: expect.stringMatching(/^nodelet \S+ \(Node\.js 24\./),
    stderr: "",
  });
  symlinkSync("nodelet", join(directory, "kubelet"));
  const asKubelet = run(join(directory, "kubelet"), "--version");
  expect(asKubelet).toEqual({ status: 0, stdout: expect.stringMatching(/^Kubernetes v1\./), stderr: "" });
  expect(run(program, "no-such-command").status).toBe(1);
});

it("writes its files anew where somebody has changed them, and not where others may write", () => {
  const [tree = ""] = readdirSync(programs);
  const entry = join(programs, tree, "dist/nodelet.js");
  const text = readFileSync(entry, "utf8");
  writeFileSync(entry, "process.exit(7)");
  expect(run(program, "version").status).toBe(0);
  expect(readFileSync(entry, "utf8")).toBe(text);
  chmodSync(programs, 0o777);
  const refused = run(program, "version");
  chmodSync(programs, 0o755);
  expect(refused).toMatchObject({ status: 1, stderr: expect.stringContaining("other users may write to it") });
});

it("serves a cluster's API, whose store is a native module", async () => {
  const state = join(directory, "state");
  const args = ["control-plane", "--state-dir", state, "--api-port", "0"];
  const env = { HOME: directory, NODELET_PROGRAM_DIRECTORY: programs };
  const child = spawn(program, args, { env, stdio: "ignore" });
  try {
    const read = async () => {
      const api = createApiClient(credentialsOf(readFileSync(join(state, "kubeconfig"), "utf8")));
      try {
        return (await api.object("GET", "/api/v1/namespaces/default")).metadata?.name;
      } finally {
        api.close();
      }
    };
    await expect.poll(read).toBe("default");
    const inherited = readFileSync(`/proc/${child.pid}/environ`, "utf8");
    expect(inherited).toContain("UV_THREADPOOL_SIZE=16");
  } finally {
    child.kill("SIGTERM");
  }
  await new Promise((resolve) => child.once("exit", resolve));
});

it("is made again byte by byte, with all other packages, by another user's habits at another time", () => {
  const again = join(directory, "again");
  mkdirSync(again);
  buildPackages(again, { TZ: "Asia/Tokyo", LC_ALL: "C", TMPDIR: directory });
  expect(readFileSync(join(again, "SHA256SUMS"), "utf8")).toBe(readFileSync(join(OUTPUT, "SHA256SUMS"), "utf8"));
  expect(runTool("sha256sum", ["--check", "--quiet", "SHA256SUMS"], { cwd: again })).toBe("");
});

it("names each package in it, with its licence, in the bill of materials", () => {
  const bill = readdirSync(OUTPUT).find((name) => name.endsWith(".cdx.json")) ?? "";
  const { components }: { components: Array<{ name: string; version: string; licenses?: unknown }> } = JSON.parse(
    readFileSync(join(OUTPUT, bill), "utf8"),
  );
  const names = components.map(({ name }) => name);
  const { dependencies }: { dependencies: Record<string, string> } = JSON.parse(readFileSync("package.json", "utf8"));
  expect(names).toEqual(expect.arrayContaining([...Object.keys(dependencies), "yaml", "preact", "node.js"]));
  expect(names).not.toContain("vitest");
  const withoutLicence = components.filter(({ licenses }) => licenses === undefined).map(({ name }) => name);
  expect(withoutLicence).toEqual(["libc6", "libgcc-s1", "libstdc++6"]);
  const notices = readFileSync(join(OUTPUT, bill.replace(".cdx.json", ".licences.txt")), "utf8");
  for (const { name, version } of components.filter(({ licenses }) => licenses !== undefined)) {
    expect(notices).toContain(name === "node.js" ? `Node.js ${version}` : `${name} ${version}: `);
  }
});
