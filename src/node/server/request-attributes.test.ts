import { describe, expect, it } from "vitest";
import { computeRequestAttributes } from "./request-attributes.ts";

describe("whoever may only read a node runs nothing in its pods", () => {
  const roots = ["/exec/a/b/c", "/exec", "/attach/a/b/uid/c", "/portForward/a/b", "/run/a/b/c"];
  it.each(roots)("with a WebSocket, which begins with GET: %s", (path) => {
    expect(computeRequestAttributes("GET", path)).toEqual(computeRequestAttributes("POST", path));
    expect(computeRequestAttributes("GET", path)).toEqual({ verb: "create", subresources: ["proxy"] });
  });
});

it.each([
  ["GET", "/pods", "get", ["pods", "proxy"]],
  ["GET", "/pods/", "get", ["pods", "proxy"]],
  ["GET", "/podsx", "get", ["proxy"]],
  ["GET", "/runningpods/", "get", ["pods", "proxy"]],
  ["GET", "/healthz", "get", ["healthz", "proxy"]],
  ["GET", "/healthz/syncloop", "get", ["healthz", "proxy"]],
  ["GET", "/configz", "get", ["configz", "proxy"]],
  ["GET", "/stats/summary", "get", ["stats"]],
  ["GET", "/stats", "get", ["stats"]],
  ["GET", "/statsx", "get", ["proxy"]],
  ["GET", "/metrics/cadvisor", "get", ["metrics"]],
  ["GET", "/logs/", "get", ["log"]],
  ["GET", "/flagz", "get", ["configz"]],
  ["GET", "/statusz", "get", ["statusz"]],
  ["POST", "/checkpoint/a/b/c", "create", ["checkpoint"]],
  ["POST", "/run/a/b/c", "create", ["proxy"]],
  ["GET", "/execs", "get", ["proxy"]],
  ["GET", "/containerLogs/a/b/c", "get", ["proxy"]],
  ["PUT", "/debug/flags/v", "update", ["proxy"]],
  ["PATCH", "/", "patch", ["proxy"]],
  ["DELETE", "/pods", "delete", ["pods", "proxy"]],
  ["HEAD", "/pods", "", ["pods", "proxy"]],
  ["OPTIONS", "/metrics", "", ["metrics"]],
  ["constructor", "/metrics", "", ["metrics"]],
])("%s %s is %s of %j", (method, path, verb, subresources) => {
  expect(computeRequestAttributes(method, path)).toEqual({ verb, subresources });
});
