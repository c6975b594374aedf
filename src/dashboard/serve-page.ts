import type { ServedAnswer } from "../host/http-server.ts";

/** The files of the page by their names, `index.html` among them. */
export type PageFiles = ReadonlyMap<string, Buffer>;

const TYPES: Readonly<Record<string, string>> = {
  css: "text/css; charset=utf-8",
  html: "text/html; charset=utf-8",
  svg: "image/svg+xml",
  js: "text/javascript; charset=utf-8",
};

/** Answers with a file of the page. They hold nothing that is secret, so that everybody who comes to this server gets them. */
export function servePage(files: PageFiles, path: string): ServedAnswer | undefined {
  const name = path === "/" ? "index.html" : path.slice(1);
  const content = files.get(name);
  const type = TYPES[name.slice(name.lastIndexOf(".") + 1)];
  if (content === undefined || type === undefined) return undefined;
  return { status: 200, headers: { "content-type": type }, body: content };
}
