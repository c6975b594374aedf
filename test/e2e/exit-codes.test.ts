import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { EXIT_CODES } from "../../src/cli/manual/exit-codes.ts";
import { claimPort } from "../machine/claims.ts";
import { runProgram, startProgram } from "./program.ts";

/** A directory without a node, and files that are none. */
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-e2e-"));
  await writeFile(join(directory, "up.yaml"), "apiVersion: nodelet.dev/v1alpha1\nkind: UpConfiguration\napiport: 1\n");
});
afterAll(async () => await rm(directory, { recursive: true, force: true }));

/** What each command is told and how it ends, where nothing runs. `DIR` stands for the directory. */
const ENDS: ReadonlyArray<readonly [command: string, args: string, code: number, words: RegExp]> = [
  ["up", "--config DIR/up.yaml", 1, /up\.yaml: unknown field "apiport": do you mean "apiPort"\?/],
  ["up", "--config DIR/none.yaml", 1, /--config: .*none\.yaml cannot be read/],
  ["up", "--no-config --print-config", 0, /^kind: UpConfiguration$/m],
  ["down", "--state-dir DIR/none", 0, /Nothing to stop/],
  ["control-plane", "--api-port none", 1, /whole number/],
  ["proxy", "", 1, /--kubeconfig names no file/],
  ["dns", "--kubeconfig DIR/none", 1, /none/],
  ["kubelet", "--config=DIR/none", 1, /none/],
  ["status", "--state-dir DIR", 1, /does not run/],
  ["explain", "pod none --state-dir DIR --kubeconfig DIR/none", 1, /none/],
  ["dashboard", "--kubeconfig DIR/none", 1, /none/],
  ["images", "ls --state-dir DIR", 1, /no containerd of nodelet runs/],
  ["install", "something", 1, /a service runs "up" or "kubelet"/],
  ["uninstall", "--something", 1, /unknown option/],
  ["completion", "bash", 0, /_nodelet/],
  ["version", "", 0, /^nodelet /],
  ["help", "", 0, /^Usage: nodelet/],
];

describe("the exit code of a command", () => {
  it.each(ENDS)("%s %s", async (command, args, code, words) => {
    const rest = args.replaceAll("DIR", directory).split(" ").filter(Boolean);
    const result = await runProgram(command, ...rest);
    expect({ code: result.code, text: result.stdout + result.stderr }).toEqual({
      code,
      text: expect.stringMatching(words),
    });
    // A pipe gets no colours, whatever the command.
    expect(result.stdout + result.stderr).not.toContain("\u001b");
  });

  it("doctor agrees with what it says", async () => {
    const { code, stdout } = await runProgram("doctor", "-o", "json", "--state-dir", directory);
    expect(code).toBe(JSON.parse(stdout).ok ? 0 : 1);
  });

  it("control-plane is 0 after a signal, and its log is records where that is asked for", async () => {
    const port = await claimPort();
    const words = ["--api-port", `${port}`, "--state-dir", join(directory, "api"), "--log-format=json"];
    const { child, result, output } = startProgram("control-plane", ...words);
    await vi.waitFor(() => expect(output()).toContain("is served at"), { timeout: 60_000 });
    child.kill("SIGTERM");
    const { code, stderr } = await result;
    expect({ code, stderr }).toEqual({ code: 0, stderr: expect.stringContaining('"msg":"Stopping') });
    for (const line of stderr.trimEnd().split("\n")) expect(JSON.parse(line)).toMatchObject({ ts: expect.any(Number) });
  });

  it("is tried of every command that documents one", () => {
    const tried = new Set([...ENDS.map(([command]) => command), "doctor"]);
    expect(EXIT_CODES.flatMap(({ commands }) => commands).filter((command) => !tried.has(command))).toEqual([]);
  });
});
