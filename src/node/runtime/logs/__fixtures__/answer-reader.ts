import { createFakeRequest } from "../../../../host/fake/fake-request.ts";
import type { ServedAnswer, ServedRequest } from "../../../../host/http-server.ts";

interface ReadAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  body: string;
}

/** Asks an endpoint as a client does, and reads the whole of its answer. */
export function createAnswerReader(endpoint: (request: ServedRequest) => Promise<ServedAnswer> | ServedAnswer) {
  return async (
    target: string,
    { method = "GET", headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ReadAnswer> => {
    const [path = "", search] = target.split("?");
    const request = createFakeRequest(`${decodeURIComponent(path)}?${search ?? ""}`, { method, headers });
    const answer = await endpoint(request);
    const { "content-type": contentType, ...others } = Object.fromEntries(
      Object.entries(answer.headers ?? {}).map(([name, value]) => [name, String(value)]),
    );
    const { status } = answer;
    if (typeof answer.body === "string") return { status, contentType, headers: others, body: answer.body };
    if (!("produce" in answer.body)) throw new Error("an answer of text, or one that is produced");
    let body = "";
    const write = async (bytes: Buffer) => {
      body += bytes.toString("utf8");
    };
    await answer.body.produce({ write, signal: request.signal });
    return { status, contentType, headers: others, body };
  };
}
