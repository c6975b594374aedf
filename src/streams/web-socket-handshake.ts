import { formatAnswer } from "./http-answer.ts";
import type { UpgradeRequest } from "./streams-call.ts";

/** Sixteen bytes in base64. */
const KEY_PATTERN = /^[+/0-9A-Za-z]{22}==$/;

/** Why the request is none for a WebSocket, as it is to be answered; undefined where it is one. */
export function refuseHandshake(request: UpgradeRequest): string | undefined {
  if (request.method !== "GET") return formatAnswer(405, { allow: "GET" }, "bad method");
  if (request.header("sec-websocket-version")[0] !== "13") {
    return formatAnswer(400, { "sec-websocket-version": "13" }, "missing or bad WebSocket Version");
  }
  if (!KEY_PATTERN.test(readHandshakeKey(request))) {
    return formatAnswer(400, {}, "mismatch challenge/response");
  }
  return undefined;
}

/** What the client's acceptance is made of. */
export function readHandshakeKey(request: Pick<UpgradeRequest, "header">): string {
  return request.header("sec-websocket-key")[0] ?? "";
}
