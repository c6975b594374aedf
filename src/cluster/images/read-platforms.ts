import { pipeline } from "node:stream/promises";
import { extract } from "tar-stream";
import { isRecord } from "../../api/object.ts";
import { openArchive, unpackArchive } from "./read-archive.ts";

/** The configuration of an image is a few kilobytes, and its layers are none. */
const MAX_CONFIG_BYTES = 1024 * 1024;
const MAX_PLATFORMS = 100;

/** The platforms, as `linux/arm64`, for which an archive has images. Rejects where it cannot be read to its end. */
export async function readPlatforms(path: string): Promise<readonly string[]> {
  const archive = await openArchive(path);
  if ("problem" in archive) return [];
  const platforms = new Set<string>();
  const reader = extract();
  const collect = async () => {
    for await (const entry of reader) {
      const chunks: Buffer[] = [];
      const isSmall = (entry.header.size ?? 0) <= MAX_CONFIG_BYTES;
      for await (const chunk of entry) if (isSmall && Buffer.isBuffer(chunk)) chunks.push(chunk);
      const platform = platformOf(Buffer.concat(chunks));
      if (platform !== undefined && platforms.size < MAX_PLATFORMS) platforms.add(platform);
    }
  };
  await Promise.all([pipeline([...unpackArchive(archive, () => undefined), reader]), collect()]);
  return [...platforms].sort();
}

/** Archives of docker and of OCI name the configuration differently; it tells itself from other files by its fields. */
function platformOf(file: Buffer): string | undefined {
  if (file[0] !== "{".charCodeAt(0)) return undefined;
  try {
    const value: unknown = JSON.parse(file.toString());
    if (!isRecord(value) || !isRecord(value["rootfs"])) return undefined;
    const { os, architecture } = value;
    return typeof os === "string" && typeof architecture === "string" ? `${os}/${architecture}` : undefined;
  } catch {
    return undefined;
  }
}
