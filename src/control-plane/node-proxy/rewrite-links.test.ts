import { Readable } from "node:stream";
import { buffer } from "node:stream/consumers";
import { describe, expect, it } from "vitest";
import { rewriteLinks } from "./rewrite-links.ts";

const rewrite = (address: string) => (address.startsWith("/") ? `/proxy${address}` : address);

async function rewriteBytes(bytes: Buffer, chunkBytes = bytes.length): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes));
  return await buffer(rewriteLinks(Readable.from(chunks), rewrite));
}

const rewritePage = async (page: string, chunkBytes?: number) =>
  String(await rewriteBytes(Buffer.from(page), chunkBytes));

const PAGES: ReadonlyArray<[what: string, page: string, rewritten: string]> = [
  ["a link", '<a href="/x">ü</a>', '<a href="/proxy/x">ü</a>'],
  ["a link in single quotes", "<A class=b HREF = '/x' id=c>", "<A class=b HREF = '/proxy/x' id=c>"],
  ["a link without quotes", "<img src=/x alt=y>", "<img src=/proxy/x alt=y>"],
  ["several addresses of one element", '<img src="/a" longdesc="/b"/>', '<img src="/proxy/a" longdesc="/proxy/b"/>'],
  ["a relative link, which stays", '<a href="x">', '<a href="x">'],
  ["an attribute of another element, which stays", '<p href="/x" data-a="/x">', '<p href="/x" data-a="/x">'],
  ["a quoted end of a tag", '<a title=">" href="/x">', '<a title=">" href="/proxy/x">'],
  ["a comment, which stays", '<!-- <a href="/x"> --><a href="/x">', '<!-- <a href="/x"> --><a href="/proxy/x">'],
  [
    "a script, of which the source alone changes",
    '<script src="/x">"<a href=\'/x\'>"</SCRIPT><a href="/x">',
    '<script src="/proxy/x">"<a href=\'/x\'>"</SCRIPT><a href="/proxy/x">',
  ],
  ["what is no tag", "1 < 2 <3 </a href=/x> <", "1 < 2 <3 </a href=/x> <"],
  ["a tag that never ends", 'x<a href="/x', 'x<a href="/x'],
];

describe("a page behind a proxy", () => {
  it.each(PAGES)("has %s", async (_, page, rewritten) => {
    expect(await rewritePage(page)).toBe(rewritten);
    expect(await rewritePage(page, 1), "byte for byte").toBe(rewritten);
    expect(await rewritePage(page, 7), "in pieces").toBe(rewritten);
  });

  it("keeps a tag as it is that is longer than anybody writes", async () => {
    const page = `<a title="${"x".repeat(100_000)}" href="/x">`;
    expect((await rewritePage(page, 8_000)) === page).toBe(true);
  });

  it.each([
    ["comments", "<!---->"],
    ["titles", "<title></title>"],
    ["attributes of a tag that never ends", "<a href=/x "],
  ])("takes no longer for many %s", async (_, piece) => {
    const page = piece.repeat(300_000 / piece.length);
    const before = process.cpuUsage();
    expect((await rewritePage(page)) === page).toBe(true);
    if (piece.startsWith("<a")) await rewritePage(page.slice(0, 65_000), 100);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1_000, "milliseconds; it took 20 s").toBeLessThan(3_000);
  });

  it("keeps every other byte", async () => {
    const bytes = Buffer.from(Array.from({ length: 256 }, (_, index) => index).filter((byte) => byte !== 0x3c));
    expect(await rewriteBytes(bytes)).toEqual(bytes);
  });
});
