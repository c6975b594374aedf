/**
 * Brings a fresh Debian machine to where nodelet can be built and run: packages, Node.js modules, the program itself.
 * Plain JavaScript without dependencies, because it runs before there are any. Quick where all is there.
 */
import { spawn } from "node:child_process";
import {
  createWriteStream,
  existsSync,
  mkdtempSync,
  openSync,
  readdirSync,
  readFileSync,
  readSync,
  rmSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { isBuilt, ROOT } from "./built.mjs";
import { hasKubeTools } from "./kube-tools.mjs";

const OLDEST_NODE = [20, 19];
const SEARCH_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
const TICK_MS = 10_000;
const TAIL_LINES = 15;

/** What a Debian package is needed for, and how to see that it is there. */
const PACKAGES = [
  { name: "containerd", present: () => findProgram("containerd") && findProgram("ctr") },
  { name: "runc", present: () => findProgram("runc") },
  { name: "containernetworking-plugins", present: hasNetworkPlugins },
  { name: "iptables", present: () => findProgram("iptables") },
  { name: "nftables", present: () => findProgram("nft") },
  { name: "conntrack", present: () => findProgram("conntrack") },
  { name: "iproute2", present: () => findProgram("ip") },
  { name: "busybox-static", present: hasStaticBusybox },
];

/** What the tests need besides. */
const TEST_PACKAGES = [
  { name: "kubernetes-client", present: hasKubectl },
  { name: "openssl", present: () => findProgram("openssl") },
  { name: "unzip", present: () => findProgram("unzip") },
  { name: "chromium", present: () => findProgram("chromium") },
  // A logind, and a bus of its own for it.
  { name: "systemd", present: () => findProgram("busctl") && findProgram("systemd-inhibit") },
  { name: "dbus", present: () => findProgram("dbus-daemon") },
  { name: "python3-dbus", present: () => existsSync("/usr/lib/python3/dist-packages/dbus/__init__.py") },
  { name: "python3-gi", present: () => existsSync("/usr/lib/python3/dist-packages/gi/__init__.py") },
];

/** A failure that the user can mend; printed without a stack. */
class SetUpError extends Error {}

/** Throws a SetUpError where nodelet cannot run at all: an old Node.js, another system. */
export function checkMachine() {
  const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
  const [oldestMajor = 0, oldestMinor = 0] = OLDEST_NODE;
  if (major < oldestMajor || (major === oldestMajor && minor < oldestMinor)) {
    throw new SetUpError(`Node.js ${OLDEST_NODE.join(".")} or newer is needed; this is ${process.versions.node}.`);
  }
  if (process.platform !== "linux")
    throw new SetUpError(`Linux is needed: containers are its. This is ${process.platform}.`);
}

/** `again` is the command to tell the user. */
export function checkRoot(again) {
  if (process.geteuid?.() === 0) return;
  throw new SetUpError(`Root is needed, for containers, mounts and networks. Try: sudo ${again}`);
}

/** Installs the Debian packages that are missing; throws a SetUpError with the command to run where it cannot. */
export async function installPackages({ forTests = false } = {}) {
  const packages = forTests ? [...PACKAGES, ...TEST_PACKAGES] : PACKAGES;
  const missing = packages.filter(({ present }) => !present()).map(({ name }) => name);
  if (missing.length === 0) return;
  const mend = `apt-get install ${missing.join(" ")}`;
  if (!findProgram("apt-get")) {
    throw new SetUpError(`Missing: ${missing.join(", ")}. This machine has no apt-get; install them its own way.`);
  }
  if (process.geteuid?.() !== 0) throw new SetUpError(`Missing: ${missing.join(", ")}. Install them: sudo ${mend}`);
  const environment = { ...process.env, DEBIAN_FRONTEND: "noninteractive" };
  const install = ["apt-get", "install", "--yes", "--no-install-recommends", ...missing];
  try {
    await runStep("updating the package lists", ["apt-get", "update"], { environment });
    await runStep(`installing ${missing.join(", ")}`, install, { environment });
  } catch (error) {
    throw new SetUpError(`${error.message}\nMend what it says, or install them yourself: ${mend}`);
  }
  const still = packages.filter(({ present }) => !present()).map(({ name }) => name);
  if (still.length > 0) throw new SetUpError(`Still missing after their installation: ${still.join(", ")}.`);
}

/** `npm ci` where `node_modules` is not what the lock file says. */
export async function installModules() {
  if (areModulesInstalled()) return;
  await runStep("installing Node.js modules", ["npm", "ci", "--include=dev"], { cwd: ROOT });
}

/** The programs of others that tests run and Debian does not have. After the modules, beside which they lie. */
export async function installKubeTools() {
  if (hasKubeTools()) return;
  await runStep("fetching helm and kubectl", ["node", "scripts/kube-tools.mjs"], { cwd: ROOT });
}

/** By content, not by time: a checkout touches files that it does not change. */
function areModulesInstalled() {
  const installed = readPackages(join(ROOT, "node_modules/.package-lock.json"));
  const wanted = readPackages(join(ROOT, "package-lock.json"));
  return Object.entries(wanted).every(([path, { version, optional }]) => {
    if (path === "") return true; // this package itself
    return installed[path] === undefined ? optional === true : installed[path].version === version;
  });
}

function readPackages(path) {
  return existsSync(path) ? JSON.parse(readFileSync(path, "utf8")).packages : {};
}

/** Builds the program where `dist/` is not what the sources say. */
export async function build() {
  if (isBuilt()) return;
  await runStep("building", ["npm", "run", "build"], { cwd: ROOT });
}

/** Runs a command with its output in a file, and says how long it takes; on failure the end of that output. */
async function runStep(what, [command, ...args], { cwd, environment = process.env }) {
  const startedAt = Date.now();
  const seconds = () => `${((Date.now() - startedAt) / 1000).toFixed(0)} s`;
  const directory = mkdtempSync(join(tmpdir(), "nodelet-set-up-"));
  const log = join(directory, "output.log");
  process.stdout.write(`${what} …\n`);
  const ticker = setInterval(() => process.stdout.write(`  still ${what} (${seconds()})\n`), TICK_MS);
  try {
    const code = await runInto(createWriteStream(log), command, args, { cwd, env: environment });
    if (code === 0) {
      rmSync(directory, { recursive: true });
      return process.stdout.write(`  done (${seconds()})\n`);
    }
    const tail = readFileSync(log, "utf8").trim().split("\n").slice(-TAIL_LINES).join("\n  ");
    throw new SetUpError(
      `${what} failed: ${command} ${args.join(" ")} ended with ${code}\n  ${tail}\nAll of it: ${log}`,
    );
  } finally {
    clearInterval(ticker);
  }
}

function runInto(output, command, args, options) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { ...options, stdio: ["ignore", "pipe", "pipe"] });
    child.stdout.pipe(output, { end: false });
    child.stderr.pipe(output, { end: false });
    child.once("error", reject);
    child.once("close", (code, signal) => output.end(() => resolve(code ?? signal)));
  });
}

/** Runs a command on this terminal until it ends; a Ctrl-C reaches it by itself, other signals are passed on. */
export function runForeground(command, args, options = {}) {
  return new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: "inherit", cwd: ROOT, ...options });
    process.on("SIGINT", () => undefined);
    for (const signal of ["SIGTERM", "SIGHUP"]) process.on(signal, () => child.kill(signal));
    child.once("error", reject);
    child.once("close", (code, signal) => resolve(code ?? (signal === "SIGINT" ? 130 : 1)));
  });
}

/** Runs a script's main function: a SetUpError is for the user's eyes, anything else is a fault. */
export async function runScript(main) {
  try {
    process.exitCode = await main();
  } catch (error) {
    if (!(error instanceof SetUpError)) throw error;
    process.stderr.write(`\n${error.message}\n`);
    process.exitCode = 1;
  }
}

function findProgram(name) {
  return SEARCH_PATH.split(":")
    .map((directory) => join(directory, name))
    .find((path) => existsSync(path));
}

function hasNetworkPlugins() {
  const directories = ["/usr/lib/cni", "/opt/cni/bin", "/usr/libexec/cni"];
  const plugins = ["bridge", "host-local", "portmap", "loopback"];
  return directories.some((directory) => plugins.every((plugin) => existsSync(join(directory, plugin))));
}

/** Any kubectl does, also one of several beside each other; or those that the tests are told of. */
function hasKubectl() {
  if (process.env.NODELET_TEST_KUBECTLS) return true;
  const directories = `${process.env.PATH ?? ""}:${SEARCH_PATH}`.split(":").filter((path) => existsSync(path));
  return directories.some((path) => readdirSync(path).some((name) => /^kubectl(\.1\.\d+)?$/.test(name)));
}

/** A dynamic program names its loader near its beginning; in an image there is none. */
function hasStaticBusybox() {
  const path = findProgram("busybox");
  if (path === undefined) return false;
  const head = Buffer.alloc(4096);
  readSync(openSync(path, "r"), head);
  return !head.includes("/ld-linux") && !head.includes("/ld-musl");
}
