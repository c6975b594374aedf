import { onTestFinished } from "vitest";
import type { KubeObject } from "../../../api/object.ts";
import { silentLog } from "../../../base/log.ts";
import { createFakeClock, type FakeClock } from "../../../host/fake/fake-clock.ts";
import type { Controller, ControllerDeps } from "../controller.ts";
import { createFakeResources, type FakeResources } from "./fake-resources.ts";

export interface ControllerBench extends FakeResources {
  clock: FakeClock;
  deps: ControllerDeps;
  /** Runs until the test ends, or `stop` is called; fails the test when the controller crashes. */
  start(controller: Controller): () => Promise<void>;
}

/** A cluster in memory and a clock that stands still, for one test. */
export function createControllerBench(): ControllerBench {
  const clock = createFakeClock();
  const resources = createFakeResources(() => clock.now());
  const { reader, writer, feed } = resources;
  return Object.assign(resources, {
    clock,
    deps: { reader, writer, feed, clock, log: silentLog },
    start(controller: Controller) {
      const abort = new AbortController();
      const run = controller.run(abort.signal);
      const stop = async () => {
        abort.abort();
        await run;
      };
      onTestFinished(stop);
      return stop;
    },
  });
}

/** A namespace as it is stored. */
export function namespace(name: string, finalizers: readonly string[] = ["kubernetes"]): KubeObject {
  return {
    apiVersion: "v1",
    kind: "Namespace",
    metadata: { name },
    spec: { finalizers: [...finalizers] },
    status: { phase: "Active" },
  };
}

/** Any object of a namespace, for tests to which its kind does not matter. */
export function configMap(name: string, metadata: Partial<KubeObject["metadata"]> = {}): KubeObject {
  return { apiVersion: "v1", kind: "ConfigMap", metadata: { name, namespace: "a", ...metadata } };
}
