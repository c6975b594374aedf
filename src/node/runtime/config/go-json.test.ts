import { describe, expect, it } from "vitest";
import type { Container } from "../../../api/gen/types.ts";
import { encodeGoJson, encodeGoString } from "./go-json.ts";

describe("encodeGoJson", () => {
  it.each<{ why: string; container: Container; expected: string }>([
    { why: "resources are always there", container: { name: "a" }, expected: '{"name":"a","resources":{}}' },
    {
      why: "fields follow the struct, not the object",
      container: { tty: true, image: "i", name: "a", args: ["x"] },
      expected: '{"name":"a","image":"i","args":["x"],"resources":{},"tty":true}',
    },
    {
      why: "empty plain fields go, pointers stay",
      container: {
        name: "a",
        tty: false,
        command: [],
        workingDir: "",
        securityContext: { privileged: false, runAsUser: 0 },
        livenessProbe: { initialDelaySeconds: 0, terminationGracePeriodSeconds: 0, tcpSocket: { port: "http" } },
      },
      expected:
        '{"name":"a","resources":{},"livenessProbe":{"tcpSocket":{"port":"http"},"terminationGracePeriodSeconds":0},' +
        '"securityContext":{"privileged":false,"runAsUser":0}}',
    },
    {
      why: "quantities are canonical and sorted, a divisor is always there",
      container: {
        name: "a",
        resources: { requests: { memory: "1024Mi", cpu: "0.5" } },
        env: [{ name: "E", value: "", valueFrom: { resourceFieldRef: { resource: "limits.cpu" } } }],
      },
      expected:
        '{"name":"a","env":[{"name":"E","valueFrom":{"resourceFieldRef":{"resource":"limits.cpu","divisor":"0"}}}],' +
        '"resources":{"requests":{"cpu":"500m","memory":"1Gi"}}}',
    },
  ])("$why", ({ container, expected }) => {
    expect(encodeGoJson("Container", container)).toBe(expected);
  });
});

it.each([
  ["a<b>&c", '"a\\u003cb\\u003e\\u0026c"'],
  ['tab\tnew\nquote"back\\slash', '"tab\\tnew\\nquote\\"back\\\\slash"'],
  ["\b\f\\b", '"\\u0008\\u000c\\\\b"'],
  ["\u2028é", '"\\u2028é"'],
])("escapes %j as Go does", (text, expected) => {
  expect(encodeGoString(text)).toBe(expected);
});
