import { describe, expect, it } from "vitest";
import { chooseProxy } from "./choose-proxy.ts";

const HTTPS_PROXY = "http://proxy:3128";

describe("the environment's proxy", () => {
  it.each([
    ["of the scheme", "https://api:6443", { HTTPS_PROXY, HTTP_PROXY: "http://other" }, HTTPS_PROXY],
    ["of the other scheme", "http://api:8080", { HTTPS_PROXY, HTTP_PROXY: "http://other" }, "http://other"],
    ["in lower case", "https://api", { https_proxy: HTTPS_PROXY }, HTTPS_PROXY],
    ["in upper case first", "https://api", { https_proxy: "http://other", HTTPS_PROXY }, HTTPS_PROXY],
    ["without a scheme", "https://api", { HTTPS_PROXY: "proxy:3128" }, HTTPS_PROXY],
    ["of SOCKS as well", "https://api", { HTTPS_PROXY: "socks5://proxy:1080" }, "socks5://proxy:1080"],
    ["but not ALL_PROXY, as Go", "https://api", { ALL_PROXY: HTTPS_PROXY, all_proxy: HTTPS_PROXY }, undefined],
    ["if there is none", "https://api", {}, undefined],
    ["not for localhost", "https://localhost:6443", { HTTPS_PROXY }, undefined],
    ["not for loopback", "https://127.0.0.2:6443", { HTTPS_PROXY }, undefined],
    ["not for loopback of IPv6", "https://[::1]:6443", { HTTPS_PROXY }, undefined],
  ])("is taken %s", (_, server, environment, expected) => {
    expect(chooseProxy(new URL(server), environment)).toBe(expected);
  });

  it.each([
    ["*", "https://api.example.com"],
    ["example.com", "https://example.com"],
    ["example.com", "https://api.example.com"],
    ["other.com, Example.COM ", "https://api.example.com"],
    [".example.com", "https://api.example.com"],
    ["*.example.com", "https://api.example.com"],
    ["example.com:6443", "https://example.com:6443"],
    ["example.com:443", "https://example.com"],
    ["10.0.0.1", "https://10.0.0.1:6443"],
    ["10.0.0.0/8", "https://10.1.2.3:6443"],
    ["fd00::/8", "https://[fd00::1]:6443"],
    ["fd00::1", "https://[fd00::1]:6443"],
    ["[fd00::1]:6443", "https://[fd00::1]:6443"],
  ])("NO_PROXY=%s excepts %s", (rules, server) => {
    expect(chooseProxy(new URL(server), { HTTPS_PROXY, NO_PROXY: rules })).toBeUndefined();
  });

  it.each([
    ["", "https://example.com"],
    [",", "https://example.com"],
    [".example.com", "https://example.com"],
    ["ample.com", "https://example.com"],
    ["example.com:6443", "https://example.com"],
    ["10.0.0.0/8", "https://11.1.2.3:6443"],
    ["10.0.0.0/99", "https://10.1.2.3:6443"],
    ["10.0.0.0/8", "https://[fd00::1]:6443"],
    ["10.0.0.1", "https://10.0.0.10:6443"],
  ])("NO_PROXY=%s does not except %s", (rules, server) => {
    expect(chooseProxy(new URL(server), { HTTPS_PROXY, no_proxy: rules })).toBe(HTTPS_PROXY);
  });
});
