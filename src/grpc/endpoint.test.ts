import { describe, expect, it } from "vitest";
import { parseEndpoint } from "./endpoint.ts";

describe("parseEndpoint", () => {
  it.each([
    ["unix:///run/containerd/containerd.sock", "/run/containerd/containerd.sock"],
    ["unix:/run/crio/crio.sock", "/run/crio/crio.sock"],
    ["UNIX:///run/x.sock", "/run/x.sock"],
    ["  unix:///run/x.sock\n", "/run/x.sock"],
    ["unix:///run/with space.sock", "/run/with space.sock"],
  ])("reads %j", (text, path) => {
    expect(parseEndpoint(text)).toEqual({ url: `unix://${path}`, path, warning: undefined });
  });

  it("takes a bare path and says that it is deprecated", () => {
    const endpoint = parseEndpoint("/run/x.sock");
    expect(endpoint.url).toBe("unix:///run/x.sock");
    expect(endpoint.warning).toContain('write "unix:///run/x.sock"');
  });

  it.each([
    ["", "it is empty"],
    ["unix://run/x.sock", 'write "unix:///run/x.sock"'],
    ["unix:run/x.sock", "must be absolute"],
    ["x.sock", "must be absolute"],
    ["tcp://127.0.0.1:2375", 'the scheme "tcp" is not supported'],
    ["npipe:////./pipe/containerd", 'the scheme "npipe" is not supported'],
    [`unix:///${"d".repeat(107)}`, "longer than the 107 bytes"],
  ])("refuses %j", (text, why) => {
    expect(() => parseEndpoint(text)).toThrow(why);
  });
});
