import { createServer, type Socket } from "node:net";
import { expect, it } from "vitest";
import { checkHealth } from "./health-check.ts";

it("waits for a server that does not answer, also with a timeout of more than 24.8 days", async () => {
  const controller = new AbortController();
  const warnings: string[] = [];
  const onWarning = ({ name }: Error) => warnings.push(name);
  process.on("warning", onWarning);
  const sockets: Socket[] = [];
  const server = createServer((socket) => {
    socket.on("error", () => undefined);
    sockets.push(socket);
    controller.abort();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const bound = server.address();
  const port = typeof bound === "object" ? (bound?.port ?? 0) : 0;
  const check = { host: "127.0.0.1", port, service: "", timeoutMs: 2 ** 31 * 1_000, userAgent: "test" };
  await expect(checkHealth(check, controller.signal)).rejects.toMatchObject({ name: "AbortError" });
  process.off("warning", onWarning);
  expect(warnings).not.toContain("TimeoutOverflowWarning");
  for (const socket of sockets) socket.destroy();
  server.close();
});
