/**
 * `node suite-registry.mjs <directory> <port>`: a registry of the images that `writeRegistry` put into the directory, for
 * pods that pull an image each time. It is read-only, without TLS, and for this machine alone.
 */
import { createReadStream } from "node:fs";
import { readFile, stat } from "node:fs/promises";
import { createServer } from "node:http";
import { join } from "node:path";

const [directory = "", port = ""] = process.argv.slice(2);
const tags = JSON.parse(await readFile(join(directory, "tags.json"), "utf8"));

const server = createServer((request, response) => {
  answer(request, response).catch(() => response.writeHead(404).end());
});
server.listen(Number(port), "127.0.0.1");

/** @param {import("node:http").IncomingMessage} request @param {import("node:http").ServerResponse} response */
async function answer({ url = "", method }, response) {
  const { pathname } = new URL(url, "http://registry");
  if (pathname === "/v2/") {
    response.end("{}");
    return;
  }
  const [, repository = "", kind = "", name = ""] = /^\/v2\/(.+)\/(manifests|blobs)\/([\w.:-]+)$/.exec(pathname) ?? [];
  const digest = name.startsWith("sha256:") ? name : (tags[`${repository}:${name}`] ?? "");
  const path = join(directory, digest.slice("sha256:".length));
  if (!/^sha256:[0-9a-f]{64}$/.test(digest)) throw new Error(`no ${name} of ${repository}`);
  const { size } = await stat(path);
  const type = kind === "manifests" ? JSON.parse(await readFile(path, "utf8")).mediaType : "application/octet-stream";
  response.writeHead(200, { "content-type": type, "content-length": size, "docker-content-digest": digest });
  if (method === "HEAD") response.end();
  else createReadStream(path).pipe(response);
}
