import { createHash } from "node:crypto";
import { createServer, type ServerResponse } from "node:http";
import { pack } from "tar-stream";
import { assert } from "../../src/base/assert.ts";

/** A registry on loopback with one image, whose layer comes by halves. */
interface SlowRegistry {
  /** The reference to pull. */
  readonly image: string;
  readonly layer: { readonly digest: string; readonly size: number };
  /** Lets the second half of the layer come. */
  release(): void;
  close(): Promise<void>;
}

const LAYER_BYTES = 4 * 1024 * 1024;
const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar";

/** Starts the registry. It speaks plain HTTP, which runtimes take from a registry of their own machine. */
export async function startSlowRegistry(architecture: string): Promise<SlowRegistry> {
  const layer = describeBlob(await packLayer(), LAYER_TYPE);
  const image = { architecture, os: "linux", config: {}, rootfs: { type: "layers", diff_ids: [layer.digest] } };
  const config = describeBlob(Buffer.from(JSON.stringify(image)), CONFIG_TYPE);
  const content = { schemaVersion: 2, mediaType: MANIFEST_TYPE, config: config.descriptor, layers: [layer.descriptor] };
  const manifest = describeBlob(Buffer.from(JSON.stringify(content)), MANIFEST_TYPE);
  let release = () => {};
  const released = new Promise<void>((resolve) => {
    release = resolve;
  });
  const answers = new Map([config, manifest, layer].map((blob) => [blob.digest, blob]));
  const server = createServer((request, response) => {
    const [, name = ""] = /\/v2\/slow\/(?:manifests|blobs)\/(.+)$/.exec(request.url ?? "") ?? [];
    const blob = name === "1" ? manifest : answers.get(name);
    if (blob === undefined) return void response.writeHead(request.url === "/v2/" ? 200 : 404).end();
    response.writeHead(200, {
      "content-type": blob.descriptor.mediaType,
      "content-length": blob.data.length,
      "docker-content-digest": blob.digest,
    });
    if (request.method === "HEAD") return void response.end();
    if (blob === layer) return sendByHalves(response, blob.data, released);
    response.end(blob.data);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the registry has no port");
  return {
    image: `127.0.0.1:${address.port}/slow:1`,
    layer: { digest: layer.digest, size: layer.data.length },
    release,
    async close() {
      release();
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function sendByHalves(response: ServerResponse, data: Buffer, released: Promise<void>): void {
  const half = Math.floor(data.length / 2);
  response.write(data.subarray(0, half));
  void released.then(() => response.end(data.subarray(half)));
}

function describeBlob(data: Buffer, mediaType: string) {
  const digest = `sha256:${createHash("sha256").update(data).digest("hex")}`;
  return { data, digest, descriptor: { mediaType, digest, size: data.length } };
}

async function packLayer(): Promise<Buffer> {
  const archive = pack();
  archive.entry({ name: "large", mode: 0o644, mtime: new Date(0) }, Buffer.alloc(LAYER_BYTES));
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) {
    assert(Buffer.isBuffer(chunk), "a tar stream yields buffers");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
