/**
 * Measures the page of `nodelet dashboard` in Debian's chromium and prints what docs/performance.md tells: how soon 250 pods and
 * a pod with a week of records are shown, how even the page runs while 50 pods start, and what it holds after a day by its own
 * clock. It asserts nothing about time.
 * Needs root, containerd, chromium and a build: npx tsx test/e2e/dashboard/figures.ts
 */
import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { hostname, tmpdir } from "node:os";
import { join } from "node:path";
import { type Browser, chromium, type Page } from "playwright-core";
import { summarize } from "../../../bench/stats.ts";
import { sleepingPod } from "../../../bench/workload.ts";
import { removeRuntime } from "../../../src/cluster/containerd/remove-runtime.ts";
import { claimNetwork, claimPort } from "../../machine/claims.ts";
import { createKubectl, type Kubectl } from "../kubectl/kubectl.ts";
import { newestKubectl } from "../kubectl/kubectl-binaries.ts";
import { runProgram, startProgram } from "../program.ts";
import { createPageMeasure, PAGE_VIEWS, showEachView } from "./measure-page.ts";

const BROWSER = "/usr/bin/chromium";
const PODS = 250;
const STARTED = 50;
const ROUNDS = 5;
/** One record in half a minute, for a week, of as many pods as there are. */
const RECORDS = 7 * 24 * 60 * 2;
const RECORD_PERIOD_MS = 30_000;
const WAIT_MS = 90_000;
/** Runs in the page as it stands: what translates this file adds calls to functions that the page does not have. */
const NOTE_FRAMES = `
  window.frameTimes = [];
  let last = performance.now();
  requestAnimationFrame(function note(now) {
    window.frameTimes.push(now - last);
    last = now;
    requestAnimationFrame(note);
  });
`;

const directory = await mkdtemp(join(tmpdir(), "nodelet-figures-"));
const state = join(directory, "state");
try {
  await measureAll();
} finally {
  await runProgram("down", "--pods", "--now", "--state-dir", state);
  await removeRuntime(join(state, "containerd"));
  await rm(directory, { recursive: true, force: true });
}

async function measureAll(): Promise<void> {
  await writeHistory(join(state, "kubelet", "nodelet", "history"));
  await startNode();
  const kubeconfig = join(state, "kubeconfig");
  const kubectl = createKubectl({ binary: newestKubectl(), home: directory, kubeconfig });
  const node = hostname().toLowerCase();
  await create(kubectl, [podOn(node, "week-0")]);
  await kubectl.ok("wait --for=condition=Ready pod/week-0 --timeout=60s");
  await create(kubectl, [
    elsewhere(),
    ...Array.from({ length: PODS }, (_, index) => podOn("elsewhere", `pod-${index}`)),
  ]);
  const browser = await chromium.launch({ executablePath: BROWSER, args: ["--no-sandbox"] });
  const dashboard = startProgram("dashboard", "--kubeconfig", kubeconfig);
  try {
    const link = await readLink(dashboard.output);
    await measurePaints(browser, link);
    await measureFrames(browser, link, async () => {
      await create(
        kubectl,
        Array.from({ length: STARTED }, (_, index) => podOn(node, `started-${index}`)),
      );
    });
    await measureDay(browser, link);
  } finally {
    dashboard.child.kill("SIGTERM");
    await dashboard.result;
    await browser.close();
  }
}

async function measurePaints(browser: Browser, link: string): Promise<void> {
  const [first, all, week]: [number[], number[], number[]] = [[], [], []];
  for (let round = 0; round < ROUNDS; round += 1) {
    const page = await openPage(browser);
    await page.goto(link);
    await page.waitForFunction((count) => document.querySelectorAll("tbody tr").length >= count, PODS, {
      timeout: WAIT_MS,
      polling: "raf",
    });
    all.push(await page.evaluate(() => performance.now()));
    first.push(
      await page.evaluate(() => performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? Number.NaN),
    );
    const begun = await page.evaluate(() => {
      location.hash = "#/pods/default/week-0";
      return performance.now();
    });
    await page.waitForFunction(() => document.body.textContent.includes("decisions"), undefined, {
      timeout: WAIT_MS,
      polling: "raf",
    });
    week.push((await page.evaluate(() => performance.now())) - begun);
    await page.context().close();
  }
  report("first contentful paint", first);
  report(`${PODS + 1} pods in the table`, all);
  report(`a pod's life, with ${RECORDS} records on the node`, week);
}

async function measureFrames(browser: Browser, link: string, startPods: () => Promise<void>): Promise<void> {
  const page = await openPage(browser);
  await page.goto(link);
  await page.getByText("All pods").waitFor();
  await page.evaluate(NOTE_FRAMES);
  await startPods();
  await page.waitForFunction(
    (count) =>
      [...document.querySelectorAll("tbody tr")].filter(
        ({ textContent }) => textContent?.includes("started-") === true && textContent.includes("Running"),
      ).length >= count,
    STARTED,
    { timeout: WAIT_MS, polling: 500 },
  );
  const frames: number[] = await page.evaluate("window.frameTimes");
  report(`between two frames, while ${STARTED} pods start`, frames);
  const late = frames.filter((ms) => ms > 50).length;
  console.log(`frames later than 50 ms: ${late} of ${frames.length}, the latest ${Math.max(...frames).toFixed(0)} ms`);
}

/** All views in turn, five an hour; the server's own clock goes on as it does. */
async function measureDay(browser: Browser, link: string): Promise<void> {
  const page = await openPage(browser);
  await page.clock.install();
  await page.goto(link);
  const measure = await createPageMeasure(page);
  const views = [...PAGE_VIEWS, "#/pods/default/week-0"];
  for (let hour = 1; hour <= 24; hour += 1) {
    await showEachView(page, views, 60 / views.length);
    if (hour % 12 > 1) continue;
    const { nodes, listeners, heapBytes } = await measure();
    console.log(`after ${hour} hours: ${nodes} nodes, ${listeners} listeners, ${(heapBytes / 2 ** 20).toFixed(1)} MiB`);
  }
}

function report(what: string, values: readonly number[]): void {
  const { samples, median, p99 } = summarize(values);
  console.log(`${what}: median ${median.toFixed(0)} ms, p99 ${p99.toFixed(0)} ms (${samples})`);
}

async function openPage(browser: Browser): Promise<Page> {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 } });
  return await context.newPage();
}

async function readLink(output: () => string): Promise<string> {
  const deadline = Date.now() + WAIT_MS;
  for (;;) {
    const found = /http:\S+#token=\S+/.exec(output())?.[0];
    if (found !== undefined) return found;
    if (Date.now() > deadline) throw new Error(`the dashboard does not start: ${output()}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}

async function startNode(): Promise<void> {
  const { bridge, podCidr, serviceCidr } = await claimNetwork();
  await mkdir(join(directory, "manifests"));
  const configuration = {
    apiVersion: "nodelet.dev/v1alpha1",
    kind: "UpConfiguration",
    ...{ detach: true, manifests: "manifests", stateDir: "state", healthzPort: 0, apiPort: await claimPort() },
    ...{ bridge, podCidr, serviceCidr },
  };
  await writeFile(join(directory, "up.yaml"), JSON.stringify(configuration));
  const { code, stderr } = await runProgram("up", "--config", join(directory, "up.yaml"));
  if (code !== 0) throw new Error(`nodelet up failed: ${stderr}`);
}

/** A week of records, as the node agent writes them. The pod that is looked at has had a life under its name before. */
async function writeHistory(path: string): Promise<void> {
  await mkdir(path, { recursive: true, mode: 0o700 });
  const end = Date.now();
  const lines = Array.from({ length: RECORDS }, (_, index) => {
    const at = end - (RECORDS - index) * RECORD_PERIOD_MS;
    const name = `week-${index % PODS}`;
    const pod = { namespace: "default", name, uid: `${name}-before` };
    const record = { at, firstAt: at, count: 1, type: "Normal", reason: index % 2 === 0 ? "Started" : "BackOff" };
    return JSON.stringify({ pod, ...record, message: `Record ${index} of a week`, container: "main" });
  });
  await writeFile(join(path, "00000001.jsonl"), `{"nodeletHistory":1}\n${lines.join("\n")}\n`, { mode: 0o600 });
}

function podOn(nodeName: string, name: string): object {
  const { spec, ...rest } = sleepingPod(name);
  return { ...rest, spec: { ...spec, nodeName } };
}

function elsewhere(): object {
  return { apiVersion: "v1", kind: "Node", metadata: { name: "elsewhere" } };
}

async function create(kubectl: Kubectl, items: readonly object[]): Promise<void> {
  const input = { apiVersion: "v1", kind: "List", items };
  await kubectl.ok("create --validate=false -f -", { input });
}
