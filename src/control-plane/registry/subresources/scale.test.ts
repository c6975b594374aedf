import { expect, it } from "vitest";
import { scaleOf } from "./scale.ts";

const paths = {
  specReplicas: ["spec", "replicas"],
  statusReplicas: ["status", "replicas"],
  selector: ["spec", "selector"],
};

it.each<[string, unknown, string | undefined]>([
  ["text", "app=web", "app=web"],
  ["labels", { b: "2", a: "1" }, "a=1,b=2"],
  ["labels to match", { matchLabels: { b: "2", a: "1" } }, "a=1,b=2"],
  [
    "expressions beside labels",
    {
      matchLabels: { m: "1" },
      matchExpressions: [
        { key: "z", operator: "In", values: ["y", "x"] },
        { key: "n", operator: "NotIn", values: ["o"] },
        { key: "e", operator: "Exists" },
        { key: "a", operator: "DoesNotExist" },
      ],
    },
    "!a,e,m=1,n notin (o),z in (x,y)",
  ],
  ["expressions alone", { matchExpressions: [{ key: "e", operator: "Exists" }] }, "e"],
  ["nothing", {}, undefined],
])("a scale tells a selector of %s as text", (_what, selector, expected) => {
  const object = {
    apiVersion: "apps/v1",
    kind: "Deployment",
    metadata: { name: "d" },
    spec: { replicas: 2, selector },
  };
  const scale = scaleOf(object, paths);
  expect(scale).toMatchObject({ kind: "Scale", spec: { replicas: 2 } });
  expect(scale["status"]).toEqual({ replicas: 0, ...(expected !== undefined && { selector: expected }) });
});
