import { existsSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { type Browser, type BrowserContext, chromium, type Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, vi } from "vitest";
import { isRecord } from "../../../src/api/object.ts";
import { type ClusterUnderTest, startClusterUnderTest } from "../kubectl/cluster-under-test.ts";
import { type RunningProgram, startProgram } from "../program.ts";
import { createPageMeasure, PAGE_VIEWS, showEachView } from "./measure-page.ts";

const BROWSER = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"].find(existsSync);
const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core"), "utf8");

/** What a browser, a terminal or a reader could take for something else than text. */
const HOSTILE = `<img src=x onerror="window.hacked=1"><script>window.hacked=1</script>\u001b]0;title\u0007\u202ecod.exe`;
const PODS = 250;
const CHANGES = 100;
const START_MS = 60_000;

const pod = (name: string, image = "demo:1") => ({
  apiVersion: "v1",
  kind: "Pod",
  metadata: { name, namespace: "default", annotations: { note: HOSTILE } },
  spec: { nodeName: "fake", containers: [{ name: "main", image }] },
});
const event = (name: string, message: string) => ({
  apiVersion: "v1",
  kind: "Event",
  metadata: { name, namespace: "default" },
  involvedObject: { kind: "Pod", namespace: "default", name: HOSTILE },
  ...{ type: "Warning", reason: HOSTILE, message, count: 1, lastTimestamp: new Date().toISOString() },
});
const node = {
  apiVersion: "v1",
  kind: "Node",
  metadata: { name: "fake" },
  status: {
    conditions: [{ type: "Ready", status: "False", reason: HOSTILE, message: HOSTILE }],
    nodeInfo: { kubeletVersion: HOSTILE, containerRuntimeVersion: HOSTILE },
  },
};

describe.skipIf(BROWSER === undefined)("the page of nodelet dashboard in a browser (Debian's package chromium)", () => {
  let cluster: ClusterUnderTest;
  let dashboard: RunningProgram;
  let browser: Browser;
  let link = "";
  let context: BrowserContext;
  let page: Page;
  const complaints: string[] = [];
  const foreign: string[] = [];

  beforeAll(async () => {
    cluster = await startClusterUnderTest();
    const items = [
      node,
      pod("hostile", `demo"><script>window.hacked=1</script>`),
      ...Array.from({ length: PODS - 1 }, (_, index) => pod(`pod-${index}`)),
      event("hostile", HOSTILE),
    ];
    const input = { apiVersion: "v1", kind: "List", items };
    await cluster.kubectl.ok("create --validate=false -f -", { input });
    const made: unknown = JSON.parse(await cluster.kubectl.ok("get pod hostile -o json"));
    const status = { phase: "Failed", reason: HOSTILE, message: HOSTILE };
    const failed = { ...(isRecord(made) && made), status };
    await cluster.kubectl.ok("replace --raw /api/v1/namespaces/default/pods/hostile/status -f -", { input: failed });
    dashboard = startProgram("dashboard", "--kubeconfig", cluster.kubeconfig);
    await vi.waitFor(() => expect(dashboard.output()).toContain("#token="), { timeout: START_MS });
    link = /http:\S+/.exec(dashboard.output())?.[0] ?? "";
    browser = await chromium.launch({ executablePath: BROWSER ?? "", args: ["--no-sandbox"] });
    context = await browser.newContext({ viewport: { width: 1200, height: 800 } });
    page = await context.newPage();
    page.on("console", (message) => {
      if (message.type() === "error") complaints.push(message.text());
    });
    page.on("pageerror", ({ message }) => complaints.push(message));
    page.on("dialog", ({ message }) => complaints.push(message()));
    page.on("request", (request) => {
      if (new URL(request.url()).origin !== new URL(link).origin) foreign.push(request.url());
    });
  });
  afterAll(async () => {
    await browser?.close();
    dashboard?.child.kill("SIGTERM");
    await dashboard?.result;
    await cluster?.stop();
  });

  const open = async (hash: string) => {
    await page.goto(new URL(hash, link).href);
    await page.locator("h1").waitFor();
  };

  it("takes the token out of the address and shows all pods", async () => {
    await page.goto(link);
    await page.locator("tbody tr", { hasText: "default/pod-0" }).waitFor();
    expect(page.url()).not.toContain("token");
    await expect
      .poll(async () => await page.locator("table", { hasText: "All pods" }).locator("tbody tr").count())
      .toBe(PODS);
  });

  it("shows events as they come", async () => {
    await open("#/events");
    await cluster.kubectl.ok("create -f -", { input: event("late", "comes late") });
    await page.getByText("comes late").waitFor();
  });

  it("executes nothing that names, reasons and messages hold, and shows it as text", async () => {
    for (const hash of ["#/", "#/pods/default/hostile", "#/node", "#/services", "#/events"]) await open(hash);
    await page.getByText("\\u001b]0;title\\u0007\\u202ecod.exe").first().waitFor();
    await open("#/pods/default/hostile");
    await page.getByText(`<script>window.hacked=1</script>`).first().waitFor();
    expect(await page.evaluate("window.hacked")).toBeUndefined();
    expect(await page.locator("main img, main script").count()).toBe(0);
    // Nodes and pods that do not exist cannot be asked, and the browser tells of each answer that is a refusal.
    expect(complaints.filter((text) => !text.startsWith("Failed to load resource"))).toEqual([]);
    expect(foreign).toEqual([]);
  });

  it.each(["light", "dark"] as const)(
    "has no violation of axe's rules in %s colours, also on a narrow screen",
    async (colorScheme) => {
      await page.emulateMedia({ colorScheme, reducedMotion: "reduce" });
      for (const hash of ["#/", "#/pods/default/hostile", "#/node", "#/services", "#/events"]) {
        await open(hash);
        await page.setViewportSize({ width: 360, height: 740 });
        await page.evaluate(AXE);
        const found: unknown = await page.evaluate(
          "axe.run().then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes[0].html))",
        );
        expect(found, hash).toEqual([]);
        expect(await page.evaluate("document.documentElement.scrollWidth"), hash).toBeLessThanOrEqual(360);
        await page.setViewportSize({ width: 1200, height: 800 });
      }
    },
  );

  it("is used by the keyboard alone", async () => {
    await open("#/");
    await page.reload();
    await page.locator("h1").waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.press("Enter");
    expect(await page.evaluate("document.activeElement.id")).toBe("main");
    await page.getByRole("link", { name: "Events" }).press("Enter");
    await expect.poll(async () => await page.evaluate("document.activeElement.textContent")).toBe("Events");
  });

  it("holds no more after rounds of changes than after the first", async () => {
    const other = await (await browser.newContext()).newPage();
    await other.clock.install();
    await other.goto(link);
    const measure = await createPageMeasure(other);
    const liveARound = async (round: number) => {
      const items = Array.from({ length: CHANGES }, (_, index) =>
        event(`round-${round}-${index}`, `of round ${round}`),
      );
      const pods = Array.from({ length: CHANGES / 10 }, (_, index) => pod(`round-${round}-${index}`));
      const input = { apiVersion: "v1", kind: "List", items: [...items, ...pods] };
      await cluster.kubectl.ok("create --validate=false -f -", { input });
      const names = pods.map(({ metadata }) => metadata.name).join(" ");
      await cluster.kubectl.ok(`delete --force --grace-period=0 pod ${names}`);
      await showEachView(other, [...PAGE_VIEWS, "#/pods/default/hostile"], 4);
      return await measure();
    };
    await liveARound(0);
    const first = await liveARound(1);
    const last = await liveARound(2);
    // A round's own events are held as well; the nodes of all its drawings would be far above this.
    expect(last.listeners).toBeLessThanOrEqual(first.listeners + 8);
    expect(last.nodes).toBeLessThan(first.nodes * 1.25);
    expect(last.heapBytes).toBeLessThan(first.heapBytes * 1.25);
    await other.context().close();
  });

  it("says that a link has ended, and goes on with a new one", async () => {
    const other = await (await browser.newContext()).newPage();
    await other.goto(link.replace(/token=.*/, "token=wrong"));
    await other.getByRole("status").getByText("not valid any more").waitFor();
    // Only the fragment differs, so that the browser does not load the page anew.
    await other.goto(link);
    await other.getByRole("status").getByText("live", { exact: true }).waitFor();
    expect(other.url()).not.toContain("token");
  });

  it("says that the API server is away, and that the dashboard is", async () => {
    await open("#/");
    await context.setOffline(true);
    await page.reload().catch(() => undefined);
    await context.setOffline(false);
    await open("#/");
    await page.getByRole("status").getByText("live").waitFor();
    await cluster.stop();
    await page.getByRole("alert").first().getByText("tried again").waitFor();
    dashboard.child.kill("SIGTERM");
    await page.getByRole("status").getByText("tried again").waitFor();
    expect((await dashboard.result).code).toBe(0);
  });
});
