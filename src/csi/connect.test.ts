import { once } from "node:events";
import { mkdtemp, rm } from "node:fs/promises";
import { createServer } from "node:http2";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "vitest";
import { connectCsi } from "./connect.ts";

const GRPC_UNIMPLEMENTED = "12";
const UNITS_MS: Readonly<Record<string, number>> = { M: 60_000, S: 1_000, m: 1, u: 0.001, n: 0.000001 };

const timeouts: string[] = [];
const server = createServer();
let directory = "";
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), "nodelet-csi-"));
  server.on("stream", (stream, headers) => {
    timeouts.push(String(headers["grpc-timeout"]));
    const answer = { "content-type": "application/grpc", "grpc-status": GRPC_UNIMPLEMENTED };
    stream.respond({ ":status": 200, ...answer }, { endStream: true });
  });
  server.listen(join(directory, "csi.sock"));
  await once(server, "listening");
});
afterAll(async () => {
  server.close();
  await rm(directory, { recursive: true });
});

/** How long the driver is told that the call may take, in milliseconds. */
const readTimeout = async (options: { requestTimeoutMs?: number }): Promise<number> => {
  const node = connectCsi({ endpoint: join(directory, "csi.sock"), driverName: "any", ...options });
  await expect(node.info()).rejects.toMatchObject({ code: "unimplemented" });
  node.close();
  const told = timeouts.at(-1) ?? "";
  return Number(told.slice(0, -1)) * (UNITS_MS[told.slice(-1)] ?? Number.NaN);
};

it.each([
  ["two minutes, as upstream's", {}, 120_000],
  ["as long as the composition says", { requestTimeoutMs: 7_000 }, 7_000],
])("a driver's call may take %s", async (_, options, expected) => {
  const timeoutMs = await readTimeout(options);
  expect(timeoutMs).toBeLessThanOrEqual(expected);
  expect(timeoutMs).toBeGreaterThan(expected - 5_000);
});
