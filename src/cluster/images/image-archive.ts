import { createHash } from "node:crypto";
import { gzipSync } from "node:zlib";
import { pack } from "tar-stream";
import { assert } from "../../base/assert.ts";

/** An image of one layer, as both an OCI image layout and a docker-archive. */
export interface ImageContent {
  reference: string;
  architecture: string;
  /** The container's defaults. */
  config: ImageConfig;
  /** The entries are in this order; a parent comes before what lies in it. */
  entries: readonly ImageEntry[];
  /** Compresses the layer, for an image that is carried around. Default false. */
  isCompressed?: boolean;
}

/** The part of an OCI image configuration that containers take their defaults from. */
interface ImageConfig {
  Env?: string[];
  Entrypoint?: string[];
  Cmd?: string[];
  WorkingDir?: string;
  /** The user is a name or number, with a group or without: `app`, `1000:1000`. */
  User?: string;
}

export type ImageEntry =
  | { type: "directory"; path: string; mode: number }
  | { type: "file"; path: string; mode: number; data: Buffer }
  | { type: "symlink"; path: string; target: string };

const MANIFEST_TYPE = "application/vnd.oci.image.manifest.v1+json";
const CONFIG_TYPE = "application/vnd.oci.image.config.v1+json";
const LAYER_TYPE = "application/vnd.oci.image.layer.v1.tar";
const EPOCH = new Date(0);

/** Builds the archive. The same content gives the same bytes, and so the same digests, everywhere. */
export async function buildImageArchive(image: ImageContent): Promise<Buffer> {
  const files = describe(await tar(image.entries), LAYER_TYPE);
  const layer = image.isCompressed === true ? describe(gzipSync(files.data), `${LAYER_TYPE}+gzip`) : files;
  // The configuration names what is in the layer, however that is packed.
  const config = describe(json(imageConfig(image, files.digest)), CONFIG_TYPE);
  const manifest = describe(
    json({ schemaVersion: 2, mediaType: MANIFEST_TYPE, config: config.descriptor, layers: [layer.descriptor] }),
    MANIFEST_TYPE,
  );
  const annotations = {
    "io.containerd.image.name": image.reference,
    "org.opencontainers.image.ref.name": image.reference.slice(image.reference.lastIndexOf(":") + 1),
  };
  const blobs = [config, layer, manifest];
  const dockerManifest = [{ Config: config.path, RepoTags: [image.reference], Layers: [layer.path] }];
  return await tar([
    { type: "directory", path: "blobs", mode: 0o755 },
    { type: "directory", path: "blobs/sha256", mode: 0o755 },
    ...blobs.map((blob) => file(blob.path, blob.data)),
    file("index.json", json({ schemaVersion: 2, manifests: [{ ...manifest.descriptor, annotations }] })),
    file("manifest.json", json(dockerManifest)),
    file("oci-layout", json({ imageLayoutVersion: "1.0.0" })),
  ]);
}

function imageConfig(image: ImageContent, layerDigest: string): object {
  const created = EPOCH.toISOString();
  return {
    created,
    architecture: image.architecture,
    os: "linux",
    config: image.config,
    rootfs: { type: "layers", diff_ids: [layerDigest] },
    history: [{ created, created_by: "nodelet" }],
  };
}

function describe(data: Buffer, mediaType: string) {
  const hex = createHash("sha256").update(data).digest("hex");
  const digest = `sha256:${hex}`;
  return { data, digest, path: `blobs/sha256/${hex}`, descriptor: { mediaType, digest, size: data.length } };
}

const json = (value: unknown): Buffer => Buffer.from(JSON.stringify(value));
const file = (path: string, data: Buffer): ImageEntry => ({ type: "file", path, mode: 0o644, data });

async function tar(entries: readonly ImageEntry[]): Promise<Buffer> {
  const archive = pack();
  const common = { mtime: EPOCH, uid: 0, gid: 0, uname: "", gname: "" };
  for (const entry of entries) {
    if (entry.type === "file") archive.entry({ ...common, name: entry.path, mode: entry.mode }, entry.data);
    else if (entry.type === "directory")
      archive.entry({ ...common, name: `${entry.path}/`, mode: entry.mode, type: "directory" });
    else archive.entry({ ...common, name: entry.path, mode: 0o777, type: "symlink", linkname: entry.target });
  }
  archive.finalize();
  const chunks: Buffer[] = [];
  for await (const chunk of archive) {
    assert(Buffer.isBuffer(chunk), "a tar stream yields buffers");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
