import { createReadStream, createWriteStream } from "node:fs";
import { copyFile, mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";

/** The host that the suite's images are of, by their names. */
export const REGISTRY_HOST = "registry.k8s.io";
const BLOBS = "blobs/sha256/";
const NAME = "io.containerd.image.name";

/** The part of an OCI image layout's `index.json` that is looked at. */
interface ImageIndex {
  readonly manifests?: readonly { readonly digest: string; readonly annotations?: Readonly<Record<string, string>> }[];
}

/**
 * Puts what OCI image archives hold into the directory, with the program that serves it: `suite-registry.mjs`. Images of
 * another host, and archives without an `index.json`, are not served.
 */
export async function writeRegistry(directory: string, archives: readonly string[]): Promise<void> {
  await mkdir(directory, { recursive: true });
  const tags: Record<string, string> = {};
  for (const archive of archives) {
    const index: ImageIndex = JSON.parse(await unpack(archive, directory));
    for (const { digest, annotations } of index.manifests ?? []) {
      const name = annotations?.[NAME] ?? "";
      if (name.startsWith(`${REGISTRY_HOST}/`)) tags[name.slice(REGISTRY_HOST.length + 1)] = digest;
    }
  }
  await writeFile(join(directory, "tags.json"), JSON.stringify(tags));
  await copyFile(new URL("suite-registry.mjs", import.meta.url).pathname, join(directory, "serve.mjs"));
}

/** Writes the archive's blobs by their digests, and returns its index. */
async function unpack(archive: string, directory: string): Promise<string> {
  const reader = extract();
  const reading = pipeline(createReadStream(archive), reader);
  let index = "{}";
  for await (const entry of reader) {
    const { name, type } = entry.header;
    if (type === "file" && name.startsWith(BLOBS))
      await pipeline(entry, createWriteStream(join(directory, name.slice(BLOBS.length))));
    else if (name === "index.json") index = await readText(entry);
    else entry.resume();
  }
  await reading;
  return index;
}

async function readText(stream: AsyncIterable<unknown>): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks).toString("utf8");
}
