import { expect, test } from "vitest";
import { createControllerBench, namespace } from "../control-loop/__fixtures__/run-controllers.ts";
import { createGarbageCollector } from "./garbage-collector.ts";
import { createNamespaceController } from "./namespaces.ts";
import { createRootCaPublisher } from "./root-ca-publisher.ts";
import { createServiceAccountController } from "./service-accounts.ts";

test("the controllers together furnish a namespace, and empty it without putting back what they take", async () => {
  const { start, deps, create, writer, clock, reader, names } = createControllerBench();
  const namespacedResources = () => ["configmaps", "pods", "serviceaccounts"];
  start(createServiceAccountController(deps));
  start(createRootCaPublisher(deps, { rootCa: "PEM" }));
  start(createNamespaceController({ ...deps, namespacedResources }));
  start(createGarbageCollector({ ...deps, resolveKind: () => undefined }));
  await create("namespaces", namespace("a"));
  await clock.settle();
  expect([...names("serviceaccounts"), ...names("configmaps")]).toEqual(["default", "kube-root-ca.crt"]);
  await writer.remove({ resource: "namespaces", namespace: "", name: "a" });
  await clock.advance(60_000);
  expect(reader.list("namespaces")).toEqual([]);
  expect([...names("serviceaccounts"), ...names("configmaps")]).toEqual([]);
  expect(clock.pendingTimers).toBe(0);
});
