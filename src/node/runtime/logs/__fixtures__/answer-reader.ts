import type { SecureAnswer, SecureRequest } from "../../../../host/secure-server.ts";

interface ReadAnswer {
  status: number;
  headers: Readonly<Record<string, string>>;
  contentType: string | undefined;
  body: string;
}

/** Asks an endpoint as a client does, and reads the whole of its answer. */
export function createAnswerReader(endpoint: (request: SecureRequest) => Promise<SecureAnswer> | SecureAnswer) {
  return async (
    target: string,
    { method = "GET", headers = {} }: { method?: string; headers?: Readonly<Record<string, string>> } = {},
  ): Promise<ReadAnswer> => {
    const [path = "", search] = target.split("?");
    const { signal } = new AbortController();
    const answer = await endpoint({
      method,
      path: decodeURIComponent(path),
      query: new URLSearchParams(search),
      authorization: undefined,
      peer: undefined,
      remoteAddress: "192.0.2.1",
      header: (name) => headers[name],
      headers: () => ({}),
      isUpgrade: false,
      signal,
    });
    if ("takeOver" in answer) throw new Error("no other protocol was asked for");
    const { status, contentType } = answer;
    if ("body" in answer) return { status, contentType, headers: {}, body: answer.body };
    let body = "";
    const write = async (bytes: Buffer) => {
      body += bytes.toString("utf8");
    };
    await answer.stream({ write, signal });
    return { status, contentType, headers: answer.headers ?? {}, body };
  };
}
