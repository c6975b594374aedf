import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, it } from "vitest";
import { readChangedReport, readNodeReport } from "./node-report.ts";

let directory = "";
const closers: Array<() => void> = [];
beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-report-"));
});
afterEach(async () => {
  for (const close of closers.splice(0)) close();
  await rm(directory, { recursive: true, force: true });
});

async function serve(status: number, body: string): Promise<string> {
  const server = createServer((request, response) => {
    const isAsked = request.url === "/status" || request.url === "/status?unless=a%26b";
    response.writeHead(isAsked ? status : 404).end(body);
  });
  const path = join(directory, "node.sock");
  await new Promise<void>((resolve) => server.listen(path, resolve));
  closers.push(() => server.close());
  return path;
}

it("reads what the node agent tells on its socket", async () => {
  const report = {
    revision: "1",
    node: { name: "n", conditions: [], runtime: { name: "r", version: "1" } },
    pods: [],
    events: [],
  };
  expect(await readNodeReport(await serve(200, JSON.stringify(report)))).toEqual(report);
});

it("reads nothing while the pods are as it knows them", async () => {
  expect(await readChangedReport(await serve(304, ""), "a&b")).toBeUndefined();
});

it("reads what changed", async () => {
  const report = { revision: "2", node: { name: "n", conditions: [], runtime: {} }, pods: [], events: [] };
  expect(await readChangedReport(await serve(200, JSON.stringify(report)), "a&b")).toEqual(report);
});

it.each([
  ["another status", 500, "", "not-running", /status 500/],
  ["something else", 200, "[]", "bad-report", /something else/],
  ["no JSON", 200, "<", "bad-report", /no JSON/],
])("refuses %s", async (_what, status, body, code, message) => {
  const socket = await serve(status, body);
  await expect(readNodeReport(socket)).rejects.toMatchObject({ code, message: expect.stringMatching(message) });
});

it("says that no node agent runs where nothing listens", async () => {
  const message = expect.stringMatching(/no node agent answers on .*ENOENT/);
  await expect(readNodeReport(join(directory, "none"))).rejects.toMatchObject({ code: "not-running", message });
});
