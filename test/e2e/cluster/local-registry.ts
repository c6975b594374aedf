import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extract } from "tar-stream";
import { computePauseImage } from "../../../src/cluster/images/build-images.ts";
import { buildImageArchive } from "../../../src/cluster/images/image-archive.ts";

/** A registry of one image, which waits until it is stopped; only who knows the password may pull it. */
export interface LocalRegistry {
  /** `localhost:40123/private/app:1`; runtimes reach registries on localhost without TLS. */
  readonly image: string;
  /** What a secret of type kubernetes.io/dockerconfigjson says to get in. */
  readonly dockerConfig: string;
  close(): Promise<void>;
}

interface Reply {
  readonly status: number;
  readonly body: Buffer;
  readonly headers: Readonly<Record<string, string>>;
}

const REPOSITORY = "private/app";
const CREDENTIALS = { username: "robot", password: "p4ssw0rd" };
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";

export async function startLocalRegistry(): Promise<LocalRegistry> {
  const { blobs, manifest } = await readImage();
  const auth = Buffer.from(`${CREDENTIALS.username}:${CREDENTIALS.password}`).toString("base64");

  const find = ({ url = "", headers }: IncomingMessage): Reply => {
    if (headers.authorization !== `Basic ${auth}`) {
      return { status: 401, body: errorOf("UNAUTHORIZED"), headers: { "www-authenticate": 'Basic realm="local"' } };
    }
    if (url === "/v2/") return { status: 200, body: Buffer.from("{}"), headers: {} };
    const [, kind, name] = new RegExp(`^/v2/${REPOSITORY}/(manifests|blobs)/([\\w.:]+)`).exec(url) ?? [];
    const digest = (kind === "manifests" && name === "1" ? manifest : name) ?? "";
    const body = blobs.get(digest);
    if (body === undefined) return { status: 404, body: errorOf("NOT_FOUND"), headers: {} };
    const type = digest === manifest ? MANIFEST_TYPE : "application/octet-stream";
    return { status: 200, body, headers: { "content-type": type, "docker-content-digest": digest } };
  };
  const answer = (request: IncomingMessage, response: ServerResponse): void => {
    const { status, body, headers } = find(request);
    response.writeHead(status, { "content-type": "application/json", "content-length": body.length, ...headers });
    response.end(request.method === "HEAD" ? undefined : body);
  };

  const server = createServer(answer);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const host = `localhost:${portOf(server.address())}`;
  return {
    image: `${host}/${REPOSITORY}:1`,
    dockerConfig: JSON.stringify({ auths: { [host]: { ...CREDENTIALS, auth } } }),
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => server.close(() => resolve()));
    },
  };
}

const errorOf = (code: string): Buffer => Buffer.from(JSON.stringify({ errors: [{ code }] }));

/** The image's blobs by their digests, and the digest of its manifest. */
async function readImage(): Promise<{ blobs: Map<string, Buffer>; manifest: string }> {
  const blobs = new Map<string, Buffer>();
  let manifest = "";
  const reader = extract();
  reader.end(await buildImageArchive(computePauseImage(process.arch === "arm64" ? "arm64" : "amd64")));
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    const data = Buffer.concat(chunks);
    const { name } = entry.header;
    if (name.startsWith("blobs/sha256/")) blobs.set(`sha256:${name.slice("blobs/sha256/".length)}`, data);
    if (name === "index.json") manifest = /"digest":"(sha256:\w+)"/.exec(data.toString("utf8"))?.[1] ?? "";
  }
  return { blobs, manifest };
}

function portOf(address: AddressInfo | string | null): number {
  if (address === null || typeof address === "string") throw new Error("the registry has no port");
  return address.port;
}
