import { expect, it } from "vitest";
import { computeRequestAttributes } from "./request-attributes.ts";

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
  ["GET", "/exec/a/b/c", "get", ["proxy"]],
  ["PUT", "/debug/flags/v", "update", ["proxy"]],
  ["PATCH", "/", "patch", ["proxy"]],
  ["DELETE", "/pods", "delete", ["pods", "proxy"]],
  ["HEAD", "/pods", "", ["pods", "proxy"]],
  ["OPTIONS", "/metrics", "", ["metrics"]],
  ["constructor", "/metrics", "", ["metrics"]],
])("%s %s is %s of %j", (method, path, verb, subresources) => {
  expect(computeRequestAttributes(method, path)).toEqual({ verb, subresources });
});
