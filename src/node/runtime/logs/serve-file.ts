import { posix } from "node:path";
import { codeOf } from "../../../base/errors.ts";
import type { Page, ServedAnswer, ServedRequest } from "../../../host/http-server.ts";
import type { DirectoryEntry, Files } from "../../../host/port.ts";
import { copyFile } from "./copy-file.ts";

interface ServedFile {
  readonly sizeBytes: number;
  readonly modifiedAt: number;
  readonly contentType: string;
}

const SNIFFED_BYTES = 512;

/**
 * Serves a file or a listing below a directory, as Go's http.FileServer does. Links are followed where they stay below
 * it, as those in `/var/log/containers` do. Upstream follows all links, and so gives every file of the node to a pod
 * that may write to its logs. The content type follows from name and content, and is never one that a browser would
 * run.
 */
export async function serveFile(
  files: Pick<Files, "openBeneath" | "listBeneath">,
  { directory, path }: { readonly directory: string; readonly path: string },
  request: Pick<ServedRequest, "query" | "header">,
): Promise<ServedAnswer> {
  const clean = posix.normalize(`/${path}`);
  const name = clean.replace(/^\/|\/$/g, "");
  const base = posix.basename(name);
  if (clean.endsWith("/index.html")) return redirect("./", request);
  try {
    const file = await inspect(files, directory, name);
    if (path.endsWith("/")) return redirect(`../${escapeReference(base)}`, request);
    return answerFile(file, request, async () => await files.openBeneath(directory, name));
  } catch (error) {
    if (codeOf(error) !== "EISDIR") return refusal(error);
    if (path !== "" && !path.endsWith("/")) return redirect(asReference(`${base}/`), request);
  }
  try {
    return listing(await files.listBeneath(directory, name));
  } catch (error) {
    return refusal(error);
  }
}

async function inspect(files: Pick<Files, "openBeneath">, directory: string, name: string): Promise<ServedFile> {
  const file = await files.openBeneath(directory, name);
  try {
    return { ...(await file.status()), contentType: contentTypeOf(name, await file.read(0, SNIFFED_BYTES)) };
  } finally {
    await file.close();
  }
}

function contentTypeOf(name: string, head: Buffer): string {
  if (head.length > 1 && head[0] === 0x1f && head[1] === 0x8b) return "application/gzip";
  if (name.endsWith(".json")) return "application/json";
  const isBinary = head.some((byte) => byte < 0x09 || byte === 0x0b || (byte > 0x0d && byte < 0x20 && byte !== 0x1b));
  return isBinary ? "application/octet-stream" : "text/plain; charset=utf-8";
}

function answerFile(
  { sizeBytes, modifiedAt, contentType }: ServedFile,
  request: Pick<ServedRequest, "header">,
  open: () => ReturnType<Files["openBeneath"]>,
): ServedAnswer {
  const headers = {
    "accept-ranges": "bytes",
    "last-modified": new Date(modifiedAt).toUTCString(),
    "x-content-type-options": "nosniff",
  };
  const since = Date.parse(request.header("if-modified-since")[0] ?? "");
  if (Math.floor(modifiedAt / 1_000) * 1_000 <= since) return { status: 304, headers, body: "" };
  const range = readRange(request.header("range")[0], sizeBytes);
  if (range === "unsatisfiable") {
    const contentRange = { "content-range": `bytes */${sizeBytes}` };
    return { status: 416, headers: { ...headers, ...contentRange }, body: "" };
  }
  const { from, end } = range ?? { from: 0, end: sizeBytes };
  return {
    status: range === undefined ? 200 : 206,
    headers: {
      ...headers,
      "content-type": contentType,
      "content-length": String(end - from),
      ...(range !== undefined && { "content-range": `bytes ${from}-${end - 1}/${sizeBytes}` }),
    },
    body: { produce: async (writer) => await copyFile(await open(), writer, { from, end }) },
  };
}

/** Reads one range. Several ranges, which no reader of logs asks for, are answered with the whole file, as HTTP allows. */
function readRange(
  text: string | undefined,
  sizeBytes: number,
): { from: number; end: number } | "unsatisfiable" | undefined {
  const [, first = "", last = ""] = /^bytes=(\d{0,15})-(\d{0,15})$/.exec(text ?? "") ?? [];
  if (first === "" && last === "") return undefined;
  if (first === "") {
    const from = Math.max(0, sizeBytes - Number(last));
    return from < sizeBytes ? { from, end: sizeBytes } : "unsatisfiable";
  }
  if (last !== "" && Number(last) < Number(first)) return undefined;
  const end = last === "" ? sizeBytes : Math.min(sizeBytes, Number(last) + 1);
  return Number(first) < sizeBytes ? { from: Number(first), end } : "unsatisfiable";
}

function redirect(location: string, { query }: Pick<ServedRequest, "query">): ServedAnswer {
  const search = query.size > 0 ? `?${query}` : "";
  return { status: 301, headers: { location: location + search }, body: "" };
}

/** The answer to a failed access. Links that lead out, and anything but files and directories, are forbidden. */
function refusal(error: unknown): Page {
  const code = codeOf(error) ?? "";
  if (code === "ENOENT" || code === "ENOTDIR") return { status: 404, body: "404 page not found\n" };
  if (["EACCES", "EPERM", "EXDEV", "EINVAL"].includes(code)) return { status: 403, body: "403 Forbidden\n" };
  return { status: 500, body: "500 Internal Server Error\n" };
}

/** Writes a directory's listing as Go's dirList does. */
function listing(entries: readonly DirectoryEntry[]): Page {
  const lines = entries.map(({ name, type }) => {
    const shown = type === "directory" ? `${name}/` : name;
    return `<a href="${asReference(shown)}">${escapeHtml(shown)}</a>\n`;
  });
  const head = '<!doctype html>\n<meta name="viewport" content="width=device-width">\n<pre>\n';
  const headers = { "content-type": "text/html; charset=utf-8" };
  return { status: 200, headers, body: `${head}${lines.join("")}</pre>\n` };
}

/** Writes a name as a relative reference. A colon in it would otherwise be read as the end of a scheme. */
function asReference(name: string): string {
  const escaped = escapeReference(name);
  return name.includes(":") ? `./${escaped}` : escaped;
}

function escapeReference(name: string): string {
  return encodeURI(name).replace(/[?#!'()*]/g, (c) => `%${c.charCodeAt(0).toString(16).toUpperCase()}`);
}

const HTML: Readonly<Record<string, string>> = { "&": "&amp;", "<": "&lt;", ">": "&gt;", '"': "&#34;", "'": "&#39;" };

function escapeHtml(text: string): string {
  return text.replace(/[&<>"']/g, (character) => HTML[character] ?? character);
}
