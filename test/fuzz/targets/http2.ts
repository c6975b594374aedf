import {
  END_HEADERS,
  END_STREAM,
  FRAME,
  type Frame,
  frameBytes,
  literal,
  PREFACE,
  remembered,
  requestOf,
} from "../../contract/api/http2-frames.ts";
import type { Target } from "../target.ts";
import { sendAndLeave, startApiServer } from "./api-server.ts";

const OTHERS_EVERY = 8;
const frames = (...all: readonly Frame[]) => Buffer.concat([PREFACE, ...all.map(frameBytes)]);
const settings: Frame = { type: FRAME.settings };
const get = (path: string, stream: number): Frame => {
  return { type: FRAME.headers, flags: END_HEADERS | END_STREAM, stream, payload: requestOf(path) };
};
const LIST = "/api/v1/namespaces?limit=2";
const bytes = (...values: readonly number[]) => Buffer.from(values);
const bomb = Buffer.concat([requestOf("/version"), remembered("x-bomb", "y".repeat(200)), Buffer.alloc(50, 0xbe)]);

/** The bytes of connections of HTTP/2 to the API server: frames, header blocks, settings, windows. */
const post: Frame = {
  type: FRAME.headers,
  flags: END_HEADERS,
  stream: 1,
  payload: requestOf("/api/v1/namespaces/default/configmaps?dryRun=All", "POST"),
};
/** What costs a server more to read than a client to send. */
const byteOfBody: Frame = { type: FRAME.data, stream: 1, payload: bytes(97) };

export const http2Target: Target = {
  name: "http2",
  runs: 16,
  seeds: [
    frames(settings, get(LIST, 1), get("/version", 3), get("/apis", 5)),
    frames(
      settings,
      get("/api/v1/namespaces?watch=1", 1),
      { type: FRAME.reset, stream: 1, payload: bytes(0, 0, 0, 8) },
      get(LIST, 3),
    ),
    frames(
      settings,
      { type: FRAME.headers, stream: 1, payload: requestOf(LIST) },
      { type: FRAME.continuation, flags: END_HEADERS, stream: 1, payload: literal("x-a", "b") },
      { type: FRAME.data, flags: END_STREAM, stream: 1, payload: bytes(123, 125) },
    ),
    frames(
      { type: FRAME.settings, payload: bytes(0, 4, 0, 0, 0, 1, 0, 3, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0) },
      get(LIST, 1),
      { type: FRAME.window, stream: 1, payload: bytes(0, 0, 1, 0) },
      { type: FRAME.ping, payload: Buffer.alloc(8) },
      { type: FRAME.priority, stream: 1, payload: bytes(0, 0, 0, 3, 16) },
    ),
    frames(settings, { type: FRAME.headers, flags: END_HEADERS | END_STREAM, stream: 1, payload: bomb }),
    frames(settings, post, ...Array.from({ length: 20_000 }, () => byteOfBody)),
    frames(settings, get("/version", 1), { type: FRAME.goAway, payload: Buffer.alloc(8) }, get("/version", 3)),
  ],
  words: [
    ...[settings, get("/version", 1), get(LIST, 7), { type: FRAME.ping, payload: Buffer.alloc(8) }].map(frameBytes),
    ...[literal("connection", "upgrade"), literal("transfer-encoding", "chunked"), literal("expect", "100-continue")],
    ...[
      literal("host", ""),
      literal("cookie", "a"),
      literal(":path", "/x"),
      literal("te", "x"),
      bytes(0x3f, 0xe1, 0x1f),
    ],
    ...[bytes(0x83), bytes(0x82, 0x87), bytes(0, 0, 0, 1, 5, 0, 0, 0, 9), bytes(0, 0, 8, 6, 1, 0, 0, 0, 0)],
  ],
  batch: 16,
  setUp: async () => {
    const server = await startApiServer();
    let runs = 0;
    return {
      async run(input) {
        await sendAndLeave(await server.dial("h2"), input);
        server.requireNoBug();
        if (runs++ % OTHERS_EVERY === 0) await server.requireOthersServed();
      },
      settle: async () => await server.requireOthersServed(),
      close: server.close,
    };
  },
};
