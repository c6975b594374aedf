import { beforeAll, describe, expect, it } from "vitest";
import type { PodSpec } from "../../../src/api/gen/types.ts";
import { causesOf } from "./causes.ts";
import { apiServersUnderTest, useApiServer } from "./harness.ts";
import { newNamespace, pathsIn } from "./objects.ts";

const sized = (cpu: string) => ({ requests: { cpu, memory: "64Mi" } });
const main = { name: "main", image: "i", resources: sized("1") };
const init = { name: "init", image: "i", resources: sized("1") };
const restarts = [{ resourceName: "cpu", restartPolicy: "RestartContainer" }];
const whole = { requests: { cpu: "4", memory: "1Gi" }, limits: { cpu: "4" } };

describe.each(apiServersUnderTest())("resizes of pods, on $name", (candidate) => {
  const server = useApiServer(candidate);
  let namespace: string;

  beforeAll(async () => {
    namespace = await newNamespace(server.admin);
  });

  it.for<[string, PodSpec, object, Array<[field: string, message: string]>]>([
    [
      "init",
      { initContainers: [init], containers: [main] },
      { initContainers: [{ ...init, resources: sized("2") }] },
      [],
    ],
    [
      "whole",
      { resources: whole, containers: [main] },
      { resources: { requests: { cpu: "5" }, limits: { cpu: "5" } } },
      [],
    ],
    [
      "removed",
      { resources: whole, containers: [main] },
      { resources: null },
      [["spec.resources", "Forbidden: pod-level resources cannot be removed"]],
    ],
    [
      "less",
      { resources: whole, containers: [main] },
      { resources: { limits: null } },
      [["spec.resources.limits", "Forbidden: pod-level resource limits cannot be removed"]],
    ],
    [
      "renamed",
      { containers: [main] },
      { containers: [{ ...main, name: "other" }] },
      [["spec.containers[0].name", "Forbidden: containers may not be renamed or reordered on resize"]],
    ],
    [
      "more",
      { containers: [main] },
      { containers: [main, { ...main, name: "other" }] },
      [["spec.containers", "Forbidden: containers may not be added or removed on resize"]],
    ],
  ])("%s", async ([name, spec, change, causes], { skip }) => {
    skip(server.minor < 36, "older servers resize less");
    const { pods } = pathsIn(namespace);
    expect(await server.admin.json("POST", pods, { metadata: { name }, spec })).toMatchObject({ status: 201 });
    const answer = await server.admin.patch("merge", `${pods}/${name}/resize`, { spec: change });
    expect(causesOf(answer)).toEqual(
      causes.map(([field, message]) => ({ field, message, reason: "FieldValueForbidden" })),
    );
    expect(answer.status).toBe(causes.length > 0 ? 422 : 200);
  });

  it("keep init containers that would be started anew as they are", async ({ skip }) => {
    skip(server.minor < 36, "older servers resize less");
    const { pods } = pathsIn(namespace);
    const spec = { initContainers: [{ ...init, resizePolicy: restarts }], containers: [main] };
    const made = await server.admin.json("POST", pods, { metadata: { name: "anew" }, spec });
    // From 1.36 on such a pod is not even made.
    const answer =
      made.status === 201
        ? await server.admin.patch("merge", `${pods}/anew/resize`, {
            spec: { initContainers: [{ ...init, resizePolicy: restarts, resources: sized("2") }] },
          })
        : made;
    expect(answer.status).toBe(422);
  });
});
