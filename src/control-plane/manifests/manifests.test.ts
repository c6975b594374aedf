import { beforeEach, expect, test } from "vitest";
import type { KubeObject } from "../../api/object.ts";
import { SECOND } from "../../base/clock.ts";
import { createFakeHost } from "../../host/fake/create-fake-host.ts";
import { type ControllerBench, createControllerBench } from "../control-loop/__fixtures__/run-controllers.ts";
import type { ResourceApplier } from "../ports/resources.ts";
import { createManifests } from "./manifests.ts";

const PATH = "/manifests";
const map = (name: string) => `{apiVersion: v1, kind: ConfigMap, metadata: {name: ${name}, namespace: default}}`;

let bench: ControllerBench;
let files: ReturnType<typeof createFakeHost>["files"];
let applier: ResourceApplier;
beforeEach(() => {
  bench = createControllerBench();
  ({ files } = createFakeHost());
  files.put(`${PATH}/a.yaml`, map("a"));
  applier = {
    resolve: () => ({ resource: "configmaps", namespaced: true }),
    apply: async (object: KubeObject) => await bench.writer.create("configmaps", object),
  };
});

const create = () => createManifests({ ...bench.deps, applier, files }, { path: PATH, refusesForeign: false });
const names = () => bench.names("configmaps", "default");

test("a change is taken when it is told, and by the periodic look when nobody tells", async () => {
  bench.start(create());
  await bench.clock.advance(SECOND);
  expect(names()).toEqual(["a"]);
  files.put(`${PATH}/b.yaml`, map("b"));
  await bench.clock.advance(SECOND);
  expect(names()).toEqual(["a", "b"]);
  files.intercept(({ operation }) => {
    if (operation === "notify") throw new Error("lost");
  });
  files.delete(`${PATH}/a.yaml`);
  await bench.clock.advance(SECOND);
  expect(names()).toEqual(["a", "b"]);
  await bench.clock.advance(20 * SECOND);
  expect(names()).toEqual(["b"]);
});

test("a directory that is gone takes nothing along", async () => {
  bench.start(create());
  await bench.clock.advance(SECOND);
  files.delete(PATH);
  await bench.clock.advance(60 * SECOND);
  expect(names()).toEqual(["a"]);
});

test("a bug ends the controller, and what it watches with it", async () => {
  applier = {
    ...applier,
    async apply() {
      throw new TypeError("a bug");
    },
  };
  const run = create().run(new AbortController().signal);
  const failed = expect(run).rejects.toThrow("a bug");
  await bench.clock.advance(SECOND);
  await failed;
});
