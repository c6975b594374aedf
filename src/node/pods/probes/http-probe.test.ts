import { describe, expect, it } from "vitest";
import type { HTTPGetAction } from "../../../api/gen/types.ts";
import type { ConnectionFailure } from "../../../host/probe-port.ts";
import { judgeHttp, makeHttpProbe, requestPath } from "./http-probe.ts";

const context = {
  container: { name: "main", ports: [{ name: "web", containerPort: 8080 }] },
  podIp: "10.0.0.7",
  timeoutMs: 1_000,
  userAgent: "kube-probe/1.36",
};

describe("the request", () => {
  it("goes to the pod, by a named port, as whom servers know", () => {
    expect(makeHttpProbe({ port: "web", path: "/healthz", scheme: "HTTP" }, context)).toEqual({
      scheme: "http",
      host: "10.0.0.7",
      port: 8080,
      path: "/healthz",
      headers: [
        ["User-Agent", "kube-probe/1.36"],
        ["Accept", "*/*"],
      ],
      timeoutMs: 1_000,
      maxBodyBytes: 10_240,
    });
  });

  it("goes to another host where one is named, by TLS where that is asked for", () => {
    const probe = makeHttpProbe({ port: 443, host: "127.0.0.1", scheme: "HTTPS" }, context);
    expect(probe).toMatchObject({ scheme: "https", host: "127.0.0.1", port: 443, path: "/" });
  });

  it("is not made to a port that nobody names", () => {
    expect(makeHttpProbe({ port: "other" }, context)).toEqual({
      error: 'strconv.Atoi: parsing "other": invalid syntax',
    });
  });

  const agent = ["User-Agent", "kube-probe/1.36"];
  const accept = ["Accept", "*/*"];
  it.each<[string, NonNullable<HTTPGetAction["httpHeaders"]>, string[][]]>([
    ["as they are, twice too", [header("X-A", "1"), header("X-A", "2")], [["X-A", "1"], ["X-A", "2"], agent, accept]],
    ["a name to ask for", [header("host", "example.com")], [["host", "example.com"], agent, accept]],
    [
      "instead of our own",
      [header("user-agent", "me"), header("accept", "a/b")],
      [
        ["user-agent", "me"],
        ["accept", "a/b"],
      ],
    ],
    ["nothing, which leaves our own out", [header("User-Agent", ""), header("Accept", "")], []],
    ["what is not theirs to say", [header("Content-Length", "7"), header("Connection", "keep-alive")], [agent, accept]],
  ])("carries the probe's headers: %s", (_what, httpHeaders, expected) => {
    expect(makeHttpProbe({ port: 80, httpHeaders }, context)).toMatchObject({ headers: expected });
  });

  it.each([
    ["", "/"],
    ["/", "/"],
    ["healthz", "/healthz"],
    ["/a?b=c&d=%20#e", "/a?b=c&d=%20"],
    ["http://elsewhere:1/a", "/a"],
    ["//elsewhere/a", "/a"],
    ["/a b", "/a%20b"],
    ["/ä", "/%C3%A4"],
    ["/100%", "/100%25"],
    ["/a\r\nX: y", "/a%0D%0AX:%20y"],
    ["/\ud800", "/%EF%BF%BD"],
  ])("asks for %j as %s", (path, expected) => {
    expect(requestPath(path)).toBe(expected);
  });
});

function header(name: string, value: string) {
  return { name, value };
}

describe("the verdict", () => {
  const target = { host: "10.0.0.7", port: 80 };
  const answer = (status: number) => judgeHttp({ kind: "answered", status, body: Buffer.from("body") }, target);
  it.each([
    [200, { result: "success", output: "body" }],
    [299, { result: "success", output: "body" }],
    [302, { result: "warning", output: "Probe terminated redirects, Response body: body" }],
    [399, { result: "warning", output: "Probe terminated redirects, Response body: body" }],
    [400, { result: "failure", output: "HTTP probe failed with statuscode: 400" }],
    [503, { result: "failure", output: "HTTP probe failed with statuscode: 503" }],
    [101, { result: "failure", output: "HTTP probe failed with statuscode: 101" }],
  ])("on status %s is %j", (status, expected) => {
    expect(answer(status)).toEqual(expected);
  });

  const url = "http://10.0.0.7:80/x";
  it.each<[ConnectionFailure["reason"], string]>([
    ["timeout", "context deadline exceeded (Client.Timeout exceeded while awaiting headers)"],
    ["refused", "dial tcp 10.0.0.7:80: connect: connection refused"],
    ["host-unreachable", "dial tcp 10.0.0.7:80: connect: no route to host"],
    ["network-unreachable", "dial tcp 10.0.0.7:80: connect: network is unreachable"],
    ["unknown-name", "dial tcp: lookup 10.0.0.7: no such host"],
    ["closed", "EOF"],
    ["reset", "read tcp 10.0.0.7:80: read: connection reset by peer"],
    ["no-tls", "http: server gave HTTP response to HTTPS client"],
    ["too-many-redirects", "own words"],
    ["other", "own words"],
  ])("on a connection that is %s has Go's words", (reason, words) => {
    const outcome = { kind: "no-answer", url, failure: { reason, message: "own words" } } as const;
    expect(judgeHttp(outcome, target)).toEqual({ result: "failure", output: `Get "${url}": ${words}` });
  });

  it("on a body that does not end says nothing about the container", () => {
    const failure = { reason: "timeout", message: "" } as const;
    expect(judgeHttp({ kind: "broken-body", url, failure }, target)).toEqual({
      result: "error",
      state: "failure",
      message: "context deadline exceeded (Client.Timeout or context cancellation while reading body)",
    });
  });
});
