import { spawnSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { readCommandOptions } from "../command-options.ts";

const USAGE = `npm run nodes                  the core of the unit tests, the native parts, one test of a node, and the documented way to
                               the client of Kubernetes, on each version of Node.js that nodelet is for
npm run nodes -- --only 22     on one of them; repeatable

The versions are those of \`test/nodes/package.json\`, and are installed apart. What needs root and containerd is skipped,
and says so, without them. Exit code 1 where something fails.`;

const ROOT = join(import.meta.dirname, "../..");
const MAJORS = ["20", "22", "24", "26"];
const TIMEOUT_MS = 1_800_000;
/** What all else rests on, and what differs between versions: files, processes, sockets, TLS, HTTP, streams. */
const UNIT = ["src/base", "src/host", "src/journal", "src/kube", "src/pki", "src/cli", "src/cluster"];
/** What calls native modules: the store, and mounts. */
const NATIVE = ["test/contract/journal.test.ts", "test/contract/host-mounts.test.ts"];
const NODE = ["test/e2e/run-pods.test.ts"];
/** The client's versions that docs/testing-operators.md names, and the oldest Node.js of each. */
const CLIENTS = [
  { client: "@kubernetes/client-node@1", oldest: 20 },
  { client: "@kubernetes/client-node@2", oldest: 22 },
];
/** The example of docs/testing-operators.md without a test runner. */
const EXAMPLE = `
import { CoreV1Api, KubeConfig } from "@kubernetes/client-node";
import { startCluster } from "nodelet/testing";
const cluster = await startCluster();
const config = new KubeConfig();
config.loadFromString(cluster.kubeconfig);
const core = config.makeApiClient(CoreV1Api);
await core.createNamespacedConfigMap({ namespace: "default", body: { metadata: { name: "a" }, data: { x: "1" } } });
const { data } = await core.readNamespacedConfigMap({ namespace: "default", name: "a" });
if (data?.x !== "1") throw new Error("the config map is not what was written");
await cluster.stop();
`;

const values = readCommandOptions(USAGE, { only: { type: "string", multiple: true, default: MAJORS } });
process.exitCode = main(values.only);

function main(majors: readonly string[]): number {
  const unknown = majors.find((major) => !MAJORS.includes(major));
  if (unknown !== undefined) {
    console.error(`--only is ${MAJORS.join(", ")}, not ${unknown}`);
    return 2;
  }
  const work = mkdtempSync(join(tmpdir(), "nodelet-nodes-"));
  try {
    installNodes();
    must("npm pack", run("npm", ["pack", "--silent", "--pack-destination", work], { cwd: ROOT }));
    const archive = join(work, readdirSync(work).find((name) => name.endsWith(".tgz")) ?? "");
    const failed = majors.flatMap((major) =>
      tryNode(major, { work, archive }).map((what) => `Node.js ${major}: ${what}`),
    );
    console.log(failed.length === 0 ? `passed on Node.js ${majors.join(", ")}` : `FAILED\n  ${failed.join("\n  ")}`);
    return failed.length === 0 ? 0 : 1;
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

interface Place {
  readonly work: string;
  /** The packed package. */
  readonly archive: string;
}

/** Tries everything on one version, and returns what has failed. */
function tryNode(major: string, { work, archive }: Place): string[] {
  const node = join(import.meta.dirname, `node_modules/node-${major}-${process.arch}/bin/node`);
  if (!existsSync(node)) return [`npm ci has not brought ${node}`];
  const bin = join(work, `bin-${major}`);
  mkdirSync(bin);
  symlinkSync(node, join(bin, "node"));
  const options = { cwd: ROOT, path: `${bin}:${process.env["PATH"] ?? ""}` };
  const vitest = (project: string, files: readonly string[]): boolean => {
    return run(node, ["node_modules/vitest/vitest.mjs", "run", "--project", project, ...files], options);
  };
  const clients = CLIENTS.filter(({ oldest }) => Number(major) >= oldest);
  const tried: Array<[what: string, isPassed: boolean]> = [
    ["the core of the unit tests", vitest("unit", UNIT)],
    ["the native parts", vitest("contract", NATIVE)],
    ["a node with pods", vitest("e2e", NODE)],
    ...clients.map(({ client }): [string, boolean] => [client, tryClient(client, { work, archive }, options.path)]),
  ];
  for (const [what, isPassed] of tried) console.log(`Node.js ${major}: ${isPassed ? "passed" : "FAILED"}: ${what}`);
  return tried.flatMap(([what, isPassed]) => (isPassed ? [] : [what]));
}

/** Installs the package with the client as the documents say, and runs their example. */
function tryClient(client: string, { work, archive }: Place, path: string): boolean {
  const directory = mkdtempSync(join(work, "client-"));
  writeFileSync(join(directory, "package.json"), '{ "private": true, "type": "module" }\n');
  writeFileSync(join(directory, "example.js"), EXAMPLE);
  const install = ["install", "--save-dev", "--engine-strict", "--no-audit", "--no-fund", archive, client];
  const options = { cwd: directory, path };
  return run("npm", install, options) && run("node", ["example.js"], options);
}

function installNodes(): void {
  const lock = join(import.meta.dirname, "node_modules/.package-lock.json");
  if (existsSync(lock)) return;
  must("npm ci", run("npm", ["ci", "--ignore-scripts", "--no-audit", "--no-fund"], { cwd: import.meta.dirname }));
}

function must(what: string, isDone: boolean): void {
  if (!isDone) throw new Error(`${what} failed: see above`);
}

function run(program: string, args: readonly string[], { cwd, path }: { cwd: string; path?: string }): boolean {
  const env = path === undefined ? process.env : { ...process.env, PATH: path };
  const { status, error } = spawnSync(program, args, { cwd, env, stdio: "inherit", timeout: TIMEOUT_MS });
  if (error !== undefined) console.error(`${program}: ${error.message}`);
  return status === 0;
}
