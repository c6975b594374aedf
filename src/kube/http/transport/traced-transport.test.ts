import { expect, it } from "vitest";
import { recordTracing } from "../../../base/__fixtures__/record-tracing.ts";
import type { Transport } from "./create-transport.ts";
import { traceTransport } from "./traced-transport.ts";
import { TransportError, type WireAnswer, type WireRequest } from "./wire.ts";

const REQUEST: WireRequest = { method: "GET", path: "/api/v1/pods?watch=1", headers: { accept: "x" }, body: undefined };

function setUp(answer: Partial<WireAnswer> | Error) {
  const sent: WireRequest[] = [];
  const transport: Transport = {
    async send(_lane, request) {
      sent.push(request);
      if (answer instanceof Error) throw answer;
      const none = async () => await Promise.resolve();
      return await Promise.resolve({ status: 200, headers: {}, read: none, discard: () => undefined, ...answer });
    },
    rotate: async () => await Promise.resolve(false),
    renew: () => undefined,
    close: async () => await Promise.resolve(),
  };
  const { tracing, spans } = recordTracing();
  const traced = traceTransport(transport, "https://10.0.0.1:6443/base", tracing);
  const send = async () => await traced.send("calls", REQUEST, new AbortController().signal);
  return { transport, sent, spans, send };
}

it("is the transport itself without tracing", () => {
  const { transport } = setUp({});
  expect(traceTransport(transport, "https://10.0.0.1:6443", undefined)).toBe(transport);
});

it("makes a span that ends with the answer's body, and sends its context", async () => {
  const { send, sent, spans } = setUp({});
  const answer = await send();
  expect(sent).toEqual([{ ...REQUEST, headers: { accept: "x", traceparent: "span-0" } }]);
  expect(spans[0]?.end).toBe("open");
  await answer.read(() => undefined);
  expect(spans).toMatchObject([
    {
      start: { name: "HTTP GET", kind: "client" },
      attributes: {
        "http.request.method": "GET",
        "url.full": "https://10.0.0.1:6443/api/v1/pods?watch=1",
        "server.address": "10.0.0.1",
        "server.port": 6443,
        "http.response.status_code": 200,
      },
      end: "well",
    },
  ]);
});

it("ends where the body is let go, and says what the server refused", async () => {
  const { send, spans } = setUp({ status: 404 });
  (await send()).discard();
  expect(spans).toMatchObject([{ end: { failure: "answered with 404" } }]);
});

it("tells of a server that is not reached and of a body that broke off", async () => {
  const refused = setUp(new TransportError("not-connected", "connection refused"));
  await expect(refused.send()).rejects.toThrow("connection refused");
  expect(refused.spans).toMatchObject([{ end: { failure: "connection refused" } }]);
  const broken = setUp({ read: async () => await Promise.reject(new TransportError("broken", "cut off")) });
  await expect((await broken.send()).read(() => undefined)).rejects.toThrow("cut off");
  expect(broken.spans).toMatchObject([{ end: { failure: "cut off" } }]);
});
