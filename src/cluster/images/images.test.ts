import { createHash } from "node:crypto";
import { gunzipSync } from "node:zlib";
import { extract } from "tar-stream";
import { describe, expect, it } from "vitest";
import { computeDemoImage, computePauseImage } from "./build-images.ts";
import { buildImageArchive } from "./image-archive.ts";
import { computePauseProgram } from "./pause-program.ts";

const sha256 = (data: Buffer) => createHash("sha256").update(data).digest("hex");

async function readTar(archive: Buffer): Promise<Map<string, Buffer>> {
  const files = new Map<string, Buffer>();
  const reader = extract();
  reader.end(archive);
  for await (const entry of reader) {
    const chunks: Buffer[] = [];
    for await (const chunk of entry) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
    files.set(
      entry.header.linkname ? `${entry.header.name} -> ${entry.header.linkname}` : entry.header.name,
      Buffer.concat(chunks),
    );
  }
  return files;
}

describe("the pause program", () => {
  it.each([
    ["amd64", 224, "883cd3183b1abcf5"],
    ["arm64", 240, "7dc299189e95477b"],
  ] as const)("of %s is these very bytes, which were disassembled and run", (architecture, length, digest) => {
    const program = computePauseProgram(architecture);
    expect(program.length).toBe(length);
    expect(sha256(program).slice(0, 16)).toBe(digest);
  });
});

describe("image archives", () => {
  it("have the same bytes every time", async () => {
    const [first, second] = [
      await buildImageArchive(computePauseImage("amd64")),
      await buildImageArchive(computePauseImage("amd64")),
    ];
    expect(first.equals(second)).toBe(true);
  });

  it("name every blob by its digest, from the index down to the layer", async () => {
    const files = await readTar(await buildImageArchive(computePauseImage("amd64")));
    const parse = (path: string) => JSON.parse(files.get(path)?.toString() ?? "null");
    const blob = (digest: string) => `blobs/sha256/${digest.slice("sha256:".length)}`;
    for (const [path, data] of files)
      if (path.startsWith("blobs/sha256/") && data.length > 0) expect(path).toContain(sha256(data));
    const [descriptor] = parse("index.json").manifests;
    expect(descriptor.annotations["io.containerd.image.name"]).toBe("localhost/nodelet/pause:1");
    const manifest = parse(blob(descriptor.digest));
    const config = parse(blob(manifest.config.digest));
    expect(config).toMatchObject({ architecture: "amd64", os: "linux", config: { Entrypoint: ["/pause"] } });
    expect(config.rootfs.diff_ids).toEqual([manifest.layers[0].digest]);
    expect(parse("manifest.json")).toEqual([
      {
        Config: blob(manifest.config.digest),
        RepoTags: ["localhost/nodelet/pause:1"],
        Layers: [blob(manifest.layers[0].digest)],
      },
    ]);
  });

  it("name the content of a compressed layer beside the layer itself", async () => {
    const files = await readTar(await buildImageArchive({ ...computePauseImage("amd64"), isCompressed: true }));
    const plain = await readTar(await buildImageArchive(computePauseImage("amd64")));
    const layers = (all: Awaited<ReturnType<typeof readTar>>) =>
      JSON.parse(all.get("manifest.json")?.toString() ?? "")[0];
    const packed = files.get(layers(files).Layers[0]) ?? Buffer.alloc(0);
    const content = plain.get(layers(plain).Layers[0]) ?? Buffer.alloc(0);
    expect(gunzipSync(packed).equals(content)).toBe(true);
    const config = JSON.parse(files.get(layers(files).Config)?.toString() ?? "");
    expect(config.rootfs.diff_ids).toEqual([`sha256:${sha256(content)}`]);
    expect(files.get("index.json")).not.toEqual(plain.get("index.json"));
  });
});

describe("the demo image", () => {
  const parts = {
    architecture: "arm64",
    busybox: Buffer.from("program"),
    applets: ["sh", "httpd", "[", "sh", "busybox"],
  } as const;

  it("links each applet to busybox once and has the accounts that pods run as", async () => {
    const files = await readTar(await buildImageArchive(computeDemoImage(parts)));
    const layer =
      [...files].find(([path, data]) => path.startsWith("blobs/") && data.includes("ustar"))?.[1] ?? Buffer.alloc(0);
    const content = await readTar(layer);
    const links = [...content.keys()].filter((name) => name.startsWith("bin/") && name.includes("->"));
    expect(links).toEqual(["bin/[ -> busybox", "bin/httpd -> busybox", "bin/sh -> busybox"]);
    expect(content.get("bin/busybox")?.toString()).toBe("program");
    expect(content.get("etc/passwd")?.toString()).toContain("nobody:x:65534:65534");
  });

  it("does not depend on the order in which busybox lists its applets", async () => {
    const reversed = { ...parts, applets: parts.applets.toReversed() };
    const archives = [
      await buildImageArchive(computeDemoImage(parts)),
      await buildImageArchive(computeDemoImage(reversed)),
    ];
    expect(archives[0]?.equals(archives[1] ?? Buffer.alloc(0))).toBe(true);
  });
});
