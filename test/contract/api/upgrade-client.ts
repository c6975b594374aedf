import { once } from "node:events";
import type { IncomingMessage } from "node:http";
import { request as httpsRequest } from "node:https";
import type { Socket } from "node:net";
import type { Credentials } from "./client.ts";

/** What a server made of a request for another protocol. */
interface Upgraded {
  readonly response: IncomingMessage;
  /** Undefined where it refused. */
  readonly socket: Socket | undefined;
}

export interface UpgradeOptions {
  /** Default POST. */
  readonly method?: string;
  /** In addition to those that ask for SPDY, or in their place. */
  readonly headers?: Readonly<Record<string, string>>;
}

/** Asks for SPDY as an older kubectl does, on a connection of its own. */
export async function askUpgrade(
  { url, caPem, certificatePem = "", keyPem = "" }: Credentials,
  path: string,
  { method = "POST", headers = {} }: UpgradeOptions = {},
): Promise<Upgraded> {
  const spdy = { connection: "Upgrade", upgrade: "SPDY/3.1", "x-stream-protocol-version": "v4.channel.k8s.io" };
  const sent = { ...spdy, ...headers };
  const options = { method, ca: caPem, cert: certificatePem, key: keyPem, agent: false, headers: sent };
  return await new Promise((resolve, reject) => {
    const request = httpsRequest(new URL(path, url), options);
    request.once("error", reject);
    request.once("response", (response) => resolve({ response, socket: undefined }));
    request.once("upgrade", (response, socket: Socket, head) => {
      if (head.length > 0) socket.unshift(head);
      resolve({ response, socket });
    });
    request.end();
  });
}

/** Without its end. */
export async function readLine(socket: Socket): Promise<string> {
  let text = "";
  while (!text.endsWith("\n")) {
    const chunk: unknown = socket.read(1);
    if (chunk === null) await once(socket, "readable");
    else text += String(chunk);
  }
  return text.trim();
}

/** All of an answer's body. */
export async function textOf(response: IncomingMessage): Promise<string> {
  let text = "";
  for await (const chunk of response) text += String(chunk);
  return text;
}
