import { expect, test } from "vitest";
import { buildRevision } from "./revision-data.ts";

test("a revision keeps the template in Go's order of fields, whatever order a client sent", () => {
  const revision = buildRevision({
    owner: { apiVersion: "apps/v1", kind: "DaemonSet", metadata: { name: "d", namespace: "a", uid: "u" } },
    template: { spec: { containers: [{ name: "c", image: "i" }] }, metadata: { labels: { b: "1", a: "2" } } },
    hashLabel: "controller-revision-hash",
    number: 1,
    collisionCount: 0,
  });
  expect(JSON.stringify(revision["data"])).toBe(
    '{"spec":{"template":{"$patch":"replace","metadata":{"labels":{"a":"2","b":"1"}},' +
      '"spec":{"containers":[{"image":"i","name":"c"}]}}}}',
  );
});
