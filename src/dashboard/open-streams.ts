import type { Duplex } from "node:stream";
import { readStart } from "../control-plane/node-proxy/read-start.ts";
import { formatHttpHead } from "../host/http-head.ts";
import type { ServedAnswer, ServedRequest } from "../host/http-server.ts";
import { joinStreams } from "../host/upgrade-call.ts";
import type { DoorAnswer, KubeDoor } from "../kube/http/create-kube-door.ts";
import type { ExecPermit } from "./exec-permits.ts";
import { refuse } from "./guard-requests.ts";

/** The lines of a log that a page gets before those that come. */
const TAIL_LINES = 1_000;
const MAX_REFUSAL_BYTES = 4_096;

interface AskedPod {
  readonly namespace: string;
  readonly name: string;
}

/** Answers with what a container wrote and, where it is followed, goes on writing. */
export async function openLog(
  door: KubeDoor,
  asked: AskedPod,
  { query, signal }: Pick<ServedRequest, "query" | "signal">,
): Promise<ServedAnswer> {
  const isPrevious = query.get("previous") === "true";
  const options = new URLSearchParams({
    container: query.get("container") ?? "",
    tailLines: String(TAIL_LINES),
    ...(isPrevious ? { previous: "true" } : { follow: "true" }),
  });
  const answer = await door.open({ path: `${pathOf(asked)}/log?${options}` }, signal);
  if (answer.kind === "answered" && answer.status === 200) {
    return { status: 200, headers: { "content-type": "text/plain; charset=utf-8" }, body: { source: answer.body } };
  }
  return await passRefusal(answer);
}

/** Joins a page's WebSocket with that of the API server: exec with a terminal, as the permit says. */
export async function openTerminal(
  door: KubeDoor,
  permit: ExecPermit,
  request: Pick<ServedRequest, "header" | "isUpgrade" | "signal">,
): Promise<ServedAnswer> {
  const key = request.header("sec-websocket-key")[0];
  if (!request.isUpgrade || key === undefined) return refuse(400, "A terminal is a WebSocket.");
  const streams = new URLSearchParams({ container: permit.container, stdin: "true", stdout: "true", tty: "true" });
  for (const word of permit.command) streams.append("command", word);
  const answer = await door.open(
    {
      path: `${pathOf(permit)}/exec?${streams}`,
      headers: {
        connection: "Upgrade",
        upgrade: "websocket",
        "sec-websocket-version": "13",
        "sec-websocket-key": key,
        "sec-websocket-protocol": "v5.channel.k8s.io, v4.channel.k8s.io",
      },
    },
    request.signal,
  );
  if (answer.kind === "answered") return await passRefusal(answer);
  const { socket: backend, headers } = answer;
  const takeOver = async (socket: Duplex) => {
    socket.write(formatHttpHead(101, headers));
    await joinStreams(socket, backend, {}, request.signal);
  };
  return { status: 101, body: { takeOver } };
}

function pathOf({ namespace, name }: AskedPod): string {
  return `/api/v1/namespaces/${encodeURIComponent(namespace)}/pods/${encodeURIComponent(name)}`;
}

/** What the API server says instead of a stream. Its 401 is no word about the page's own token. */
async function passRefusal(answer: DoorAnswer): Promise<ServedAnswer> {
  if (answer.kind === "upgraded") {
    answer.socket.destroy();
    return refuse(502, "The API server left HTTP, which nobody asked for.");
  }
  // What came before it broke is not worth more than the status.
  const text = await readStart(answer.body, MAX_REFUSAL_BYTES).catch(() => "");
  return refuse(answer.status === 401 || answer.status < 400 ? 502 : answer.status, text);
}
