import { once } from "node:events";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Socket } from "node:net";
import { afterEach, expect, it } from "vitest";
import { silentLog } from "../../src/base/log.ts";
import { systemClock } from "../../src/host/linux/system/system-clock.ts";
import { createKubeDoor, type KubeDoor } from "../../src/kube/http/create-kube-door.ts";

let server: Server;
const sockets = new Set<Socket>();
afterEach(async () => {
  for (const socket of sockets) socket.destroy();
  sockets.clear();
  server.close();
  await once(server, "close");
});

/** A door to a server whose connections are ended with the test, and as which user it is asked. */
async function openDoor(handle: (server: Server) => void): Promise<KubeDoor> {
  server = createServer();
  server.on("connection", (socket) => sockets.add(socket));
  handle(server);
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the server has no port");
  const { port } = address;
  const connection = { source: "test", server: `http://127.0.0.1:${port}/base`, namespace: "", user: { token: "t" } };
  const programs = { run: async () => await Promise.reject(new Error("there is no plugin")) };
  const signal = new AbortController().signal;
  return createKubeDoor({ connection, clock: systemClock, log: silentLog, programs, signal }, "test/1");
}

it("asks with the credentials, beneath the server's path, and hands the body on as it comes", async () => {
  let seen: IncomingMessage | undefined;
  const door = await openDoor((own) =>
    own.on("request", (request, response) => {
      seen = request;
      response.writeHead(403).end("no");
    }),
  );
  const answer = await door.open({ path: "/logs?a=b" }, new AbortController().signal);
  expect([seen?.url, seen?.headers.authorization, seen?.headers["user-agent"]]).toEqual([
    "/base/logs?a=b",
    "Bearer t",
    "test/1",
  ]);
  if (answer.kind !== "answered") throw new Error("the server did not leave HTTP");
  expect([answer.status, String((await answer.body.toArray()).join(""))]).toEqual([403, "no"]);
});

it("hands over a connection that leaves HTTP, with what came after its head, and closes it by the signal", async () => {
  const door = await openDoor((own) =>
    own.on("upgrade", (_request, socket) => {
      socket.write("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: test\r\n\r\nearly");
      socket.on("data", (bytes) => socket.write(`again ${bytes}`));
    }),
  );
  const controller = new AbortController();
  const headers = { connection: "Upgrade", upgrade: "test" };
  const answer = await door.open({ path: "/exec", headers }, controller.signal);
  if (answer.kind !== "upgraded") throw new Error("the server did not leave HTTP");
  expect(String((await once(answer.socket, "data"))[0])).toBe("early");
  answer.socket.write("me");
  expect(String((await once(answer.socket, "data"))[0])).toBe("again me");
  controller.abort();
  await once(answer.socket, "close");
});

it("rejects when the server breaks off, and when nobody waits any more", async () => {
  const door = await openDoor((own) =>
    own.on("request", (request) => request.url === "/base/broken" && request.destroy()),
  );
  await expect(door.open({ path: "/broken" }, new AbortController().signal)).rejects.toMatchObject({
    code: "unreachable",
  });
  const controller = new AbortController();
  const opened = door.open({ path: "/silent" }, controller.signal);
  setImmediate(() => controller.abort());
  await expect(opened).rejects.toMatchObject({ name: "AbortError" });
});
